// See scheduling.hpp: which movement it is.
//
// The loop that is contiguous in the target decides. Where the source is contiguous along it too,
// rows are copied; where it repeats there, rows are splatted; else the loops that make runs of the
// target meet the loops that make runs of the source in a transpose, and both are walked in blocks
// that keep the lines of either side in the cache until they are used up.
#include "schedule/scheduling.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "microkernel/transpose/skewed_network.hpp"
#include "program/program.hpp"
#include "schedule/block_sizes.hpp"
#include "schedule/claimed_lines.hpp"
#include "schedule/cut_elements.hpp"
#include "schedule/draft.hpp"
#include "schedule/l1_sets.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"
#include "schedule/streaming.hpp"

namespace restride {
namespace scheduling {
namespace {

// Fills of 2 to 24 MiB take as long with half and up to eight times as many bytes.
constexpr int64_t row_claimed_ahead = 1024;

// Shorter rows are permuted into whole windows rather than copied one by one: an rgb bias of u8 .29
// -> .9 of memset. Longer ones, too, where the source repeats: u16[160] to rows of 17 .21 -> 1.3 of
// memcpy of as much, f32[512] to rows of 9 .10 -> .63; and elements that are repeated for
// still longer rows, which stream: f32 20 times .31 -> .39, 40 times .35 -> .42.
constexpr int64_t short_row_bytes = 32, short_repeated_bytes = 64;
constexpr int64_t short_streamed_splat_bytes = 256;
// Where lanes are permuted, a step shorter: u8 40 times .79 -> .65; streamed f32 20 times .87 ->
// .66, u8 34 times .41 -> .58. Rows of 18 bytes in the caches .43 -> .53, of 20 .64 -> .60, of 31
// .46 -> .40; streamed of 20 .26 -> .79, of 24 .30 -> .87.
constexpr int64_t short_row_bytes_of_lanes = 20;

/// Whether all but the first iteration of a loop is padding.
bool has_one_element(const Draft& draft, const Loop& loop) {
  return draft.space().axes[static_cast<size_t>(loop.axis)].valid == 1;
}

// Rows of one element and padding that are a line at most are permuted, longer ones are rows that
// end in padding. Emerald Rapids, 15 problems permuted .49 of the time (f32[100000,1,3,3] to
// T(16,16,1,1) .31 -> 1.0 of the ceiling, f64[100,1,5,5] to T(8,1,1) .47 -> .94), 16 with longer
// ones as rows .93 again, 16 bytes behind a line .81; all as rows there .93. AVX2, rows .2 to .8.
constexpr int64_t short_padded_bytes = program::line_bytes + 1;

/// Rows of fewer bytes are permuted, where that can be.
int64_t least_copied_row_bytes(const Draft& draft, const Loop& row) {
  const bool streams = draft.schedule().nontemporal;
  const bool splat = row.stride[1] == 0;
  const bool repeats = std::any_of(draft.space().loops.begin(), draft.space().loops.end(),
                                   [](const Loop& loop) { return loop.stride[1] == 0; });
  if (permutes_lanes(draft.target())) {
    if (splat && streams) return short_repeated_bytes;
    return repeats || streams ? short_row_bytes : short_row_bytes_of_lanes;
  }
  if (!repeats) return short_row_bytes;
  if (splat && has_one_element(draft, row)) return short_padded_bytes;
  return splat && streams ? short_streamed_splat_bytes : short_repeated_bytes;
}

/// Whether rows of loop `k` are rather permuted, where that can be.
bool is_short(const Draft& draft, int k) {
  const Loop& row = draft.loop(k);
  return permutes(draft) && draft.loop_count() > 1 &&
         row.extent * draft.space().op.bytes < least_copied_row_bytes(draft, row);
}

/// Bytes that the innermost loops make of an operand without a gap.
int64_t innermost_run_bytes(const Draft& draft, size_t operand) {
  int64_t run = element_bytes(draft.space().op, static_cast<int>(operand));
  const std::vector<Loop>& loops = draft.space().loops;
  for (auto loop = loops.rbegin(); loop != loops.rend() && loop->stride[operand] == run; ++loop) {
    if (!loop->own.empty()) break;
    run *= loop->extent;
  }
  return run;
}

/// Whether the target is large, and written in runs of pages or more, through the caches.
bool claims(const Draft& draft) {
  if (draft.schedule().nontemporal || draft.extent_bytes(0) <= draft.target().claiming_bytes)
    return false;
  return innermost_run_bytes(draft, 0) >= draft.target().page_bytes;
}

/// Whether a computation that streams is made of boxes whose rows begin between lines of the
/// target.
bool claims_computed_rows(const Draft& draft) {
  if (!draft.target().claims_streamed_lines || !draft.schedule().nontemporal || begins_lines(draft))
    return false;
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (draft.mark(k) == Mark::source_run) return true;
  }
  return false;
}

/// Whether what is computed in the order of a single source asks for the rows of the next box:
/// those that begin between lines, of arrays that L1 does not hold.
bool asks_computed_rows(const Draft& draft) {
  if (source_count(draft.space().op) > 1 || stays_in_l1(draft)) return false;
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (draft.mark(k) == Mark::target_run &&
        draft.loop(k).stride[source_stream] % draft.target().line_bytes != 0)
      return true;
  }
  return false;
}

/// Of a computation: the sources that are large, and read in runs of pages or more.
uint32_t asked_sources(const Draft& draft) {
  if (draft.schedule().computes_first) return asks_computed_rows(draft) ? 1u << source_stream : 0;
  uint32_t asked = 0;
  for (int operand = 1; operand <= source_count(draft.space().op); ++operand) {
    const bool large = draft.extent_bytes(operand) > draft.target().l2_bytes;
    if (large &&
        innermost_run_bytes(draft, static_cast<size_t>(operand)) >= draft.target().page_bytes)
      asked |= uint32_t{1} << operand;
  }
  return draft.schedule().nontemporal ? asked : 0;
}

/// Whether networks of narrow elements read less of a row at a time in arrays that L2 does not
/// hold: bytes of rows that begin between lines, pairs of bytes for columns that begin lines. Zen
/// 4, 98 transposes of 1 to 18 MB in .94 of the time: u8 1000 x 1000 .63 -> .66 of the ceiling;
/// other rows and columns .99 to 1.19, in L2 .97 to 1.14; vectors of half a line 1.02, of a
/// lane 1.08. Columns that crowd sets: f16[1,512,28,28]{1,3,2,0} .89 -> .75.
bool reads_narrowly(const Draft& draft) {
  const int row = draft.contiguous(0), column = draft.contiguous(1);
  const int64_t line = draft.target().line_bytes;
  if (!draft.runs_cross() || !is_move(draft.space().op) || streams(draft) ||
      draft.target().vector_bytes < line ||
      draft.both_extent_bytes() <= draft.target().wide_network_bytes)
    return false;
  if (draft.space().op.bytes == 1) return draft.loop(row).stride[1] % line != 0;
  const int64_t pitch = draft.loop(column).stride[0];
  return pitch % line == 0 && others_begin_lines(draft, row, column) &&
         l1_holds_lines(draft.target(), pitch, cached_columns);
}

/// Whether networks get rows that are skewed: those of narrow elements that stay in L1, if code
/// need not be short. Not of blocks that leave scratch, which write halves of lines elsewhere:
/// Emerald Rapids, 75 such .92 of the time without, u32[33,1024] .40 -> .65 of the ceiling.
bool skews_rows(const Draft& draft) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes;
  const CodeGoal goal = draft.goal();
  return target.skews_rows && target.vector_bytes == target.line_bytes &&
         target.permute_width == 1 && is_move(draft.space().op) && bytes <= widest_skewed_element &&
         goal != CodeGoal::compact && goal != CodeGoal::small && !draft.is_part() &&
         stays_in_l1(draft);
}

/// What networks take of a source row. Narrow elements make networks of many rows: they get one
/// piece at a time, which keeps the code short. With pieces of two lanes elements of 2 bytes get
/// lines, which makes twice the code: 37 transposes in the caches in .90 of the time, u16
/// 512 x 300 .31 -> .56 of the ceiling; single bytes 1.00.
int64_t network_column_bytes(const Draft& draft) {
  constexpr int64_t line = 64;
  const CodeGoal goal = draft.goal();
  const int64_t bytes = draft.space().op.bytes;
  if (goal == CodeGoal::compact || goal == CodeGoal::small) return program::lane_bytes;
  if (bytes >= 4) return line;
  if (draft.schedule().skews_rows) return 2 * program::lane_bytes;
  if (draft.is_part()) return program::lane_bytes;
  const int64_t piece = network_piece_bytes(draft.target(), bytes);
  if (reads_narrowly(draft)) return bytes == 1 ? program::lane_bytes : piece;
  return bytes == 1 || piece == program::lane_bytes ? piece : line;
}

/// Elements that only move, and share no bytes.
void move(Draft& draft) {
  const int64_t bytes = draft.space().op.bytes;
  const std::vector<Axis>& axes = draft.space().axes;
  const int innermost = draft.contiguous(0);
  const bool moves =
      std::none_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.valid == 0; });
  const bool row = innermost >= 0 && (!moves || draft.loop(innermost).stride[1] == bytes);
  const bool splat = innermost >= 0 && draft.loop(innermost).stride[1] == 0;
  const bool single = splat && moves && has_one_element(draft, draft.loop(innermost));
  if (row && moves && transpose_uneven(draft)) {
    // Short rows that lie across the target.
  } else if ((row || splat) && moves && is_short(draft, innermost) &&
             permute_short_rows(draft, innermost)) {
    // Rows of a few bytes fill whole windows together.
  } else if (row && moves && image_rows(draft)) {
    // Short rows of a large array that begin between lines.
  } else if (row) {
    rows(draft, Movement::row, innermost);
  } else if (single) {
    // With its padding it is a row, and what would follow it in the source is never read.
    draft.loop(innermost).stride[1] = bytes;
    rows(draft, Movement::row, innermost);
  } else if (splat) {
    rows(draft, Movement::splat, innermost);
  } else if (!moves || !(repeat_blocks(draft) || gather_repeats(draft) || gather_apart(draft) ||
                         gather_crowded(draft) || gather_streamed(draft))) {
    transpose(draft);
  }
}

Schedule decide(Draft draft) {
  const ElementOp op = draft.space().op;
  const Target& target = draft.target();
  Schedule& schedule = draft.schedule();
  schedule.skews_rows = skews_rows(draft);
  schedule.network_column_bytes = network_column_bytes(draft);
  schedule.nontemporal = streams(draft);
  schedule.vector_bytes = target.vector_bytes;
  if (is_packed(op)) {
    if (!mixed(draft)) packed(draft);
    draft.gather_tile();
  } else if (unnested(draft)) {
    draft.gather_tile();
  } else if (!is_move(op)) {
    compute(draft);
    if (claims_computed_rows(draft)) schedule.claimed_ahead = target.line_bytes;
    draft.gather_tile();
    schedule.asked_sources = asked_sources(draft);
  } else {
    move(draft);
    if (schedule.movement == Movement::permute)
      schedule.claimed_ahead = permuted_claimed_ahead(draft);
    if (schedule.movement == Movement::gather && !schedule.nontemporal && claims_lines(draft))
      schedule.claimed_ahead = target.line_bytes;
    draft.gather_tile();
    if (schedule.movement != Movement::transpose && claims(draft))
      schedule.claimed_ahead = row_claimed_ahead;
  }
  return std::move(schedule);
}

// Elements that fill a lane are permuted as two halves each where transposes write parts of lines:
// into rows of three of them, and where vectors are parts of lines. Zen 3, 17 of c128 .68 of the
// time. Emerald Rapids, rows of three, 13 in the caches .57, 6 that stream .78: c128[3,333]
// .23 -> .57 of the ceiling, [3,10000] .70 -> .99, [3,300000] .85 -> 1.11; of five 1.2 to 1.5, of
// seven and more up to 3.6.
constexpr int64_t halved_bytes = program::lane_bytes, halved_in_row = 3;

/// Whether elements are as wide and may be halved, the padding between them, too.
bool can_halve(const IterationSpace& space) {
  const auto middle = space.op.fill.begin() + halved_bytes / 2;
  return is_move(space.op) && !is_packed(space.op) && space.op.bytes == halved_bytes &&
         space.tail_begin == space.tail_end && std::equal(space.op.fill.begin(), middle, middle);
}

/// Whether rows of the target are three elements long, which are no row of the source.
bool has_rows_of_three(const IterationSpace& space) {
  const int64_t bytes = space.op.bytes;
  return std::any_of(space.loops.begin(), space.loops.end(), [&](const Loop& loop) {
    return loop.stride[0] == bytes && loop.stride[1] != bytes && loop.extent == halved_in_row;
  });
}

/// Whether what is a transpose is rather permuted by halves, if they can be.
bool wants_halves(const IterationSpace& space, const Schedule& transposed, const Target& target) {
  if (!can_halve(space)) return false;
  if (halves_lines(target)) return transposed.nontemporal;
  return has_rows_of_three(space);
}

/// The same space of elements half as wide.
IterationSpace with_halves(IterationSpace space) {
  space.op.bytes /= 2;
  const int64_t half = space.op.bytes;
  space.loops.push_back({static_cast<int>(space.axes.size()), 1, 2, {half, half}});
  space.axes.push_back({2, 2});
  return space;
}

}  // namespace
}  // namespace scheduling

Schedule schedule(const IterationSpace& simplified, const Target& target, CodeGoal goal,
                  bool begins_line) {
  using namespace scheduling;
  Schedule one_by_one = decide({simplified, target, goal, begins_line});
  if (is_part(goal)) return one_by_one;
  if (one_by_one.movement == Movement::transpose && wants_halves(simplified, one_by_one, target)) {
    Schedule halves = decide({with_halves(simplified), target, goal, begins_line});
    const bool permuted =
        halves.movement == Movement::permute && (halves.nontemporal || !one_by_one.nontemporal);
    return permuted ? std::move(halves) : std::move(one_by_one);
  }
  const std::optional<CutElements> cut = cut_elements(simplified);
  if (!cut || makes_lines_of_cut_elements(one_by_one, simplified, *cut, target)) return one_by_one;
  Schedule whole = decide({with_whole_elements(simplified, *cut), target, goal, begins_line});
  std::optional<Schedule> joined = with_cut_elements(std::move(whole), simplified, *cut);
  return joined ? *std::move(joined) : std::move(one_by_one);
}

}  // namespace restride
