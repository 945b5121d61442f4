// How large blocks of a transpose are: the elements whose lines of either side stay in the cache
// until they are used up.
//
//     target   rows    |----------|            source   columns   |------------------|
//                      |----------|                               |------------------|
#pragma once

#include <cstdint>

#include "schedule/draft.hpp"

namespace restride::scheduling {

/// Rows lie along the run of the target, columns along that of the source.
struct Block {
  int64_t rows, columns;
  bool walks = false;         ///< see walk_along_source
  bool target_first = false;  ///< see columns_meet
};

/// Networks that make a block. `streams`: arrays do not stay in the caches, even if they are
/// written through them. `crowds`: columns crowd sets of L1. `walked`: see walk_along_source.
Block block_of_networks(const Draft& draft, bool streams, bool crowds, int64_t walked);

/// Whether runs of the target are whole rows, of `all` bytes, in boxes with runs of the source of
/// `column` bytes.
bool takes_whole_rows(const Draft& draft, int64_t all, int64_t column);

/// Rows of a block that streams, for processors that like longer runs of the target: all rows of
/// the digit that goes on behind runs of `row` bytes, or some where runs of the source, of `column`
/// bytes so far, are long, too, or rows touch: f32[64,640,100]{1,2,0} .70 -> 1.02 of the ceiling,
/// f16[32,2048,7,7]{1,3,2,0} .56 -> .72; else f32[28,256,28,4,48]{1,2,3,0,4} .93 -> .72. `crowds`:
/// columns crowd sets of L1.
int64_t long_rows(const Draft& draft, int64_t row, int64_t column, const Block& block, bool crowds);

/// Whether columns that make no whole panel are staged as one.
bool stages_rests(const Draft& draft);

/// How many bytes a run of the source is to have, which has `column` so far, beside rows of `row`
/// bytes: as a block, or as leaves a digit whole.
int64_t columns_wanted(const Draft& draft, int64_t row, int64_t column, const Block& block);

/// How columns may be lengthened. They leave no rest where code has to be short, and rather none
/// where they leave around the caches: 37 cases in .97 of the time, f32[112,15,15,15,5,32]
/// reversed, 160 columns instead of 128 and 32, .65 -> .79 of the ceiling. Up to twice as many,
/// f32[48,28,28,4,352] reversed, 1.1; parts of lines, f16[2,224,224,267]{2,1,3,0}, 1.5.
Length column_length(const Draft& draft);

}  // namespace restride::scheduling
