// What several movements ask of a draft.
#pragma once

#include <cstddef>
#include <cstdint>

#include "schedule/draft.hpp"

namespace restride::scheduling {

// ---- caches

/// Whether columns of a transpose, as many as are in a line of the source, lie so far apart in the
/// target that a set of L1 has to hold more lines of it than it can; or twice as many in the target
/// and rows in the source. (Of the ceiling, around the caches: f64 1024 x 1024 .46 -> .70, 512 x
/// 512 .53 -> .67, f32 512 x 512 the same; with the target alone f64[512,300] .73 -> .68; E(4) 4096
/// x 4096 .13 -> .42, 2048 x 2048 .21 -> .40.)
bool crowds_sets(const Draft& draft);

/// Whether loop `k`, which can go inside, repeats the source.
bool is_repeat(const Draft& draft, int k);

/// Whether there are such loops.
bool has_repeats(const Draft& draft);

/// Whether they repeat more of the source than L1 holds beside other things.
bool repeats_source(const Draft& draft);

/// Whether source and target of a move stay in L1 together.
bool stays_in_l1(const Draft& draft);

/// Whether what begins between lines is better written through the caches, since the third level
/// holds `times` as much as both arrays.
bool stays_beside(const Draft& draft, int64_t times = 1);

// ---- lines

/// Whether all rows of the target begin on lines.
bool begins_lines(const Draft& draft);

/// Whether all unmarked loops but these two walk whole lines of the target: else where its lines
/// begin is not known inside of them.
bool others_begin_lines(const Draft& draft, int row = -1, int column = -1);

/// Whether images in scratch leave as lines of the target wherever they begin.
bool shifts_images(const Draft& draft);

/// Whether vectors are parts of lines.
bool halves_lines(const Target& target);
bool halves_lines(const Draft& draft);

// ---- runs

/// Bytes of an operand that loops make without a gap, wherever they stand. `taken`: iterations of
/// loop k that count, of which 1 is none.
template <typename Taken>
int64_t run_bytes(const Draft& draft, size_t operand, const Taken& taken) {
  int64_t run = element_bytes(draft.space().op, static_cast<int>(operand));
  for (int k = draft.loop_count() - 1; k >= 0;) {
    const int64_t extent = taken(k);
    const bool goes_on = extent > 1 && draft.loop(k).stride[operand] == run;
    run *= goes_on ? extent : 1;
    k = goes_on ? draft.loop_count() - 1 : k - 1;
  }
  return run;
}

/// Whether a run of an operand, of `run` bytes, can be lengthened to `wanted` bytes by one loop.
bool goes_on(const Draft& draft, size_t operand, int64_t run, int64_t wanted);

/// Whether neighbours lie side by side in a source along loop `k`.
bool begins_runs(const Draft& draft, int k);

/// The loop that moves an operand least; -1 if none does.
int finest_loop(const Draft& draft, size_t operand);

/// How far rows of the source lie apart, neighbours in a run of the target, bytes; 0 where the
/// target has no runs.
int64_t row_pitch(const Draft& draft);

/// The loop along which the source lies side by side, in units of what the tile has taken of it;
/// -1 if there is none.
int widest_source_loop(const Draft& draft);

// ---- permutes

/// Whether the target permutes elements of this width.
bool permutes(const Draft& draft);

/// The widest windows of permuted blocks: vectors that are permuted.
int permuted_window_bytes(const Target& target);

/// Whether these are lines, whose elements any places are permuted to.
bool permutes_whole_lines(const Target& target);

}  // namespace restride::scheduling
