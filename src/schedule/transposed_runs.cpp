// See transposed_runs.hpp.
#include "schedule/transposed_runs.hpp"

#include <algorithm>

#include "microkernel/microkernel.hpp"
#include "microkernel/transpose/skewed_network.hpp"
#include "program/program.hpp"
#include "schedule/l1_sets.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"
#include "schedule/transpose_blocks.hpp"

namespace restride::scheduling {

using program::lane_bytes;

namespace {

// Odd numbers of wider elements are joined by blends: runs of f64 x 3 .72 -> .96 of memcpy, f32 x 5
// .71 -> .94, f32 x 7 .78 -> .91, but f32 x 6 .80 -> .75.
constexpr int64_t narrow_odd_run_bytes = 32;

// Windows joined by a permuted block where all else is moving element by element: bf16 to T(2,2)
// from columns .06 -> .28 of the ceiling.
constexpr int64_t most_joined_else = 256;

// Of rows of the target that are lanes, what the windows of a ring take less than a network with a
// lane a vector. 8 layouts in L2 .79 of the time: u8[127,640] from T(16,1) to T(2,16) .55 -> .87 of
// the ceiling, bf16[128,512] from columns to T(4,8) .49 -> .79; where columns are, too, f32[65,861]
// {0,1:T(8,64)(4,1)} to columns .85 -> .55.
constexpr PermutedLimits few_steps{.joined = 0, .steps_of_rings = 5};

// The loop that short runs of both operands go on with is better the source's, where either gets
// such runs then: u8[24,65,8] reversed .04 -> .20, [24,64,3] .03 -> .18, [24,1000,8] .17 -> .44,
// f32 [8,1000,3] .44 -> .57.
constexpr int64_t least_shared_run_bytes = 12;

/// Whether lanes of registers better hold columns of the source than rows of the target, which
/// are a lane long.
bool takes_lanes(const Draft& draft, int64_t row) {
  return !draft.schedule().nontemporal && row == lane_bytes &&
         draft.target().vector_bytes >= lanes_bytes &&
         goes_on(draft, 1, draft.space().op.bytes, lanes_bytes);
}

/// `widest`: of registers.
Runs target_run_first(Draft& draft, int64_t widest) {
  Runs runs;
  const int64_t bytes = draft.space().op.bytes;
  int64_t& network = draft.schedule().network_column_bytes;
  runs.row = draft.take_run(0, bytes, widest, Mark::target_run);
  runs.lanes = takes_lanes(draft, runs.row);
  if (runs.lanes) network = std::max<int64_t>(network, lanes_bytes);
  runs.column = draft.take_run(1, bytes, network, Mark::source_run, column_length(draft));
  return runs;
}

Runs source_run_first(Draft& draft, int64_t widest) {
  Runs runs;
  const int64_t bytes = draft.space().op.bytes;
  runs.column = draft.take_run(1, bytes, draft.schedule().network_column_bytes, Mark::source_run,
                               column_length(draft));
  runs.row = draft.take_run(0, bytes, widest, Mark::target_run);
  return runs;
}

}  // namespace

bool short_rows_touch(const Draft& draft, int64_t row, int64_t column) {
  const size_t operand = row < column ? 0 : 1;
  const int64_t bytes = draft.space().op.bytes, run = std::min(row, column);
  // Into short ones, those that stream are permuted into lines; so are those that touch for less
  // than a vector: u8[257,2048] from columns to T(32,8) .25 -> .82 of the ceiling.
  if (!takes_short_rows(operand, bytes, run, draft.target()) ||
      (draft.schedule().nontemporal && operand == 0))
    return false;
  return std::any_of(draft.space().loops.begin(), draft.space().loops.end(), [&](const Loop& loop) {
    return loop.own.empty() && loop.stride[operand] == run && loop.stride[1 - operand] == bytes &&
           loop.extent * bytes >= draft.target().vector_bytes;
  });
}

namespace {

// Rows of so many bytes that touch are permuted where bytes of two registers are in one operation.
// Zen 4: u8 960 x 9 .27 -> .55 of the ceiling, 40000 x 9 .56 -> 1.0, 4000 x 10 .60 -> .77, 40000 x
// 11 .69 -> .69, 4000 x 12 .68 -> .79; 960 x 13 .34 -> .31.
constexpr int64_t least_permuted_row = 9, most_permuted_row = 12;

bool permute_touching_rows(Draft& draft, const Runs& runs) {
  const Target& target = draft.target();
  const bool bytes = draft.space().op.bytes == 1 && target.permute_width == 1 &&
                     permutes_whole_lines(target) && target.narrow_permute_steps == 1;
  const bool rows = runs.column < runs.row && runs.column >= least_permuted_row &&
                    runs.column <= most_permuted_row;
  return bytes && rows && permute(draft, {.joined = most_permuted_row});
}

// Pairs of eight bytes, and five of them in rows of the target, are permuted in the caches. Zen 4:
// f64 720 x 2 .61 -> .84 of the ceiling, 2 x 720 .49 -> .81, 5 x 70 .51 -> .59, 5 x 50000 .85 ->
// .98; 720 x 5 1.01 -> 1.00; around the caches 3000000 x 2 1.07 -> 1.03.
constexpr int64_t wide_bytes = 8, wide_pair = 2, wide_in_row = 5;

bool permute_few_wide(Draft& draft, const Runs& runs) {
  const Target& target = draft.target();
  const bool few = std::min(runs.row, runs.column) == wide_pair * wide_bytes ||
                   (runs.row == wide_in_row * wide_bytes && runs.row < runs.column);
  return few && draft.space().op.bytes == wide_bytes && !draft.schedule().nontemporal &&
         permutes_whole_lines(target) &&
         permute(draft, {.joined = wide_in_row, .steps_of_rings = 0});
}

/// Whether a loop never has all of its iterations.
bool is_cut(const Draft& draft, const Loop& loop) {
  return draft.space().axes[static_cast<size_t>(loop.axis)].valid < loop.extent * loop.step;
}

/// Whether short runs of single bytes of the source, as those of filters, make rows of half a
/// vector and more, and are transposed after all. Not if rows are `cut`.
bool makes_long_rows(const Draft& draft, const Runs& runs, bool cut) {
  const Target& target = draft.target();
  return draft.space().op.bytes == 1 && !cut && runs.column < runs.row &&
         2 * runs.row >= target.vector_bytes && runs.column >= target.transposed_column_bytes;
}

/// Whether runs of so many bytes are permuted rather than transposed.
bool is_narrow(const Draft& draft, int64_t run) {
  const int64_t bytes = draft.space().op.bytes;
  const bool odd = run / bytes % 2 == 1 && run > bytes;
  return run < narrow_run_bytes || (bytes >= 4 && odd && run < narrow_odd_run_bytes);
}

// Rows of a vector and so many bytes more leave networks for the rest that are half empty. Emerald
// Rapids, 47 transposes of f64 and f32, some of shorter rows, .81 of the time: f64[13,15,21,17]
// {1,2,0,3} .27 -> .60 of the ceiling, f64[15,52,9,13]{0,1,3,2} .51 -> .73; rests of 8 to 32 bytes
// 1.0 to 1.5, and so those in L1.
constexpr int64_t least_permuted_rest = 40, least_element_of_rest = 4;

// Less is over before windows are at hand: f64[2,3,42] reversed 1.47, f64[6,5,3]{0,2,1} 1.21 of the
// time, but u16[8,128]{0,1}, 4 KB, .75.
constexpr int64_t least_permuted_bytes = 4096;

/// What the loops have with which the runs of either operand begin.
Runs first_loops(const Draft& draft) {
  const auto bytes = [&](size_t operand) {
    const int k = draft.contiguous(operand);
    return k < 0 ? 0 : draft.loop(k).extent * draft.space().op.bytes;
  };
  return {bytes(0), bytes(1)};
}

/// Whether rows of the target are permuted rather than transposed, though no run is narrow.
/// `whole`: of these runs, which networks may have shortened; `widest`: of registers. Rows that are
/// skewed or written lane by lane are not.
bool permutes_rows(const Draft& draft, const Runs& runs, const Runs& whole, int64_t widest) {
  const Target& target = draft.target();
  const Schedule& schedule = draft.schedule();
  const bool fills_registers =
      schedule.lane_rows || (schedule.skews_rows && runs.row == skewed_row_bytes);
  if (schedule.nontemporal || fills_registers || runs.row > std::max(runs.column, whole.column) ||
      target.permuted_row_bytes == 0 || draft.both_extent_bytes() < least_permuted_bytes)
    return false;
  if (runs.row < std::min(target.permuted_row_bytes, widest)) return true;
  const int64_t rest = whole.row - target.vector_bytes;
  return runs.row == target.vector_bytes && rest >= least_permuted_rest &&
         rest < target.vector_bytes && draft.space().op.bytes >= least_element_of_rest &&
         !stays_in_l1(draft);
}

}  // namespace

std::optional<Runs> take_runs(Draft& draft, int64_t widest) {
  if (permutes(draft) && permute_dense_block(draft)) return std::nullopt;
  const Schedule unsplit = draft.schedule();
  const auto anew = [&] { draft.begin_anew(unsplit.space); };
  const int row = draft.contiguous(0);
  const Runs whole = first_loops(draft);
  const bool cut = row >= 0 && is_cut(draft, draft.loop(row));
  Runs runs = target_run_first(draft, widest);
  const int64_t shorter = std::min(runs.row, runs.column);
  const bool rows_of_lanes = shorter == lane_bytes && runs.row == shorter && !runs.lanes;
  if (rows_of_lanes && permutes(draft) &&
      draft.instead(unsplit, [&] { return permute(draft, few_steps); }))
    return std::nullopt;
  if (permutes(draft) && draft.instead(unsplit, [&] { return permute_few_wide(draft, runs); }))
    return std::nullopt;
  const bool narrow = is_narrow(draft, shorter) && !makes_long_rows(draft, runs, cut);
  if (!(narrow || permutes_rows(draft, runs, whole, widest)) || !permutes(draft)) return runs;
  if (short_rows_touch(draft, runs.row, runs.column)) {
    if (draft.instead(unsplit, [&] { return permute_touching_rows(draft, runs); }))
      return std::nullopt;
    return runs;
  }
  anew();
  runs = source_run_first(draft, widest);
  const int64_t shared = std::min(runs.row, runs.column);
  if (shared > shorter && shared >= least_shared_run_bytes) return runs;
  anew();
  if (permute(draft, {.steps_of_rings = steps_of_rings(std::max(shorter, shared))}))
    return std::nullopt;
  // Element by element: anything else is better.
  const bool scattered = std::max(shorter, shared) <= 2 * draft.space().op.bytes;
  if (scattered && permute(draft, {.all = most_joined_else})) return std::nullopt;
  return target_run_first(draft, widest);
}

}  // namespace restride::scheduling
