// The blocks of permutations: which loops they have, so that their source and target are windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/block_sizes.hpp"
#include "schedule/draft.hpp"

namespace restride::scheduling {

/// Iterations of each loop of a draft that one block has.
using PermutedBlock = std::vector<int64_t>;

/// The vectors that hold a block as it lies in the target and in the source, and those of the
/// source that the first of the target joins.
struct Windows {
  int64_t targets, sources, joined;
};

int64_t block_bytes(const Draft& draft, const PermutedBlock& block);

/// The bytes that a block has of an operand without a gap, from its first element on.
int64_t block_run(const Draft& draft, const PermutedBlock& block, size_t operand);

Windows windows_of(const Draft& draft, const PermutedBlock& block);

/// A block whose runs of the target are multiples of `whole` bytes, and those of the source of
/// `source_whole`, as far as that goes.
PermutedBlock permuted_block(const Draft& draft, int64_t whole, int64_t source_whole);

/// The same with shorter windows, where those share blends; empty if none do.
PermutedBlock block_of_rings(const Draft& draft, const PermutedLimits& most);

/// Rows of the target that begin between lines share one with what is written after other rows,
/// so some vectors of a row are written at a time. In the second level a store takes twice as
/// long with one, a third longer with four: u8 10000 x 3 .46 -> .66 of memcpy.
void lengthen_shifted_rows(const Draft& draft, PermutedBlock& block);

/// Whether some of the loops make one run of both operands that is not too large to be permuted.
bool has_dense_block(const Draft& draft);

/// Joins the digits of short runs of the target that come from several tiles of the source, the
/// last of them cut off, so that a block can have all of a run.
void join_cut_runs(Draft& draft);

/// Whether a loop is what join_cut_runs makes: all of an axis, to which the source has a digit of
/// its own.
inline bool is_joined(const Loop& loop) {
  return loop.own.size() == 1 && loop.own.front().operand == 1;
}

/// Whether all runs of the target that blocks make begin on lines, once these are marked.
bool blocks_begin_lines(const Draft& draft);

}  // namespace restride::scheduling
