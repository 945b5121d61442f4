// Schedules of transposes: the loops that make runs of the target meet the loops that make runs of
// the source, both in blocks that keep the lines of either side in the cache until they are used
// up.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/transpose/shifted_lines.hpp"
#include "microkernel/transpose/skewed_network.hpp"
#include "program/program.hpp"
#include "schedule/box_order.hpp"
#include "schedule/claimed_lines.hpp"
#include "schedule/l1_sets.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"
#include "schedule/shared_places.hpp"
#include "schedule/transpose_blocks.hpp"
#include "schedule/transposed_runs.hpp"

namespace restride::scheduling {

using program::lane_bytes;

namespace {

// Narrower elements than these take whole rows of the target rather than pages of the source, if
// these are short: Zen 4, f64[16,1024,600]{0,2,1} by pages 1.13, [64,40,30,512]{0,2,1,3} 1.07; but
// c128 1.29.
constexpr int64_t always_paged_bytes = 16;

// Less than that is a loop with few turns where it was none: f32 16 x 16 .62 -> .55 of the ceiling.
// Of 8 bytes 32 x 32 .71 -> .77, but 24 x 24 .72 -> .67, 17 x 40 .56 -> .51.
constexpr int64_t least_narrow_bytes = 4096, widest_narrow_element = 4;

/// Whether narrow registers are as full as wide ones, where the target of what stays in L1 is
/// there, too: of a part it may be anywhere. (Rows of five f32 take .63 of one and three of them
/// .94 of the other: f32[6,5,8,8]{1,2,3,0} .49 -> .33 of the ceiling. u8[1304,11]{0,1} .33 -> .20.)
bool takes_narrow_registers(const Draft& draft) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes, all = draft.both_extent_bytes();
  if (target.l1_vector_bytes >= target.vector_bytes || bytes > widest_narrow_element ||
      draft.is_part() || !stays_in_l1(draft) || all < least_narrow_bytes)
    return false;
  Draft wide = draft, narrow = draft;
  const int64_t whole = wide.take_run(0, bytes, target.vector_bytes, Mark::target_run);
  const int64_t row = narrow.take_run(0, bytes, target.l1_vector_bytes, Mark::target_run);
  const int64_t column = narrow.take_run(1, bytes, target.l1_vector_bytes, Mark::source_run);
  const int64_t halves = target.vector_bytes / target.l1_vector_bytes;
  return halves * row >= whole && std::min(row, column) >= lane_bytes;
}

// Shorter ones only of narrow elements that do not stay in L1.
constexpr int64_t widest_lane_row_element = 4, widest_short_lane_row_element = 2;

/// Whether rows of some lanes, not of whole vectors, are written lane by lane: networks of a vector
/// would make lanes of which there is nothing. Not of rows that go on in another digit, whose runs
/// fill vectors.
bool makes_lane_rows(const Draft& draft) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes;
  const int down = draft.contiguous(0), across = draft.contiguous(1);
  if (!draft.runs_cross() || bytes > widest_lane_row_element) return false;
  const int64_t row = draft.loop(down).extent * bytes;
  const bool is_short = row < lanes_bytes;
  if (row <= lane_bytes || row == lanes_bytes || row > target.lane_rows_bytes ||
      (is_short && (bytes > widest_short_lane_row_element || stays_in_l1(draft))))
    return false;
  // Invariant 7 of programs.
  if (2 * (ceil_div(row, lane_bytes) * lane_bytes - row) > row) return false;
  const int next = draft.next_in_run(0, row);
  const bool touches = next < 0 || next == across;
  return touches && target.vector_bytes > lanes_bytes && draft.goal() == CodeGoal::fast &&
         !draft.schedule().nontemporal && !draft.is_part() && !crowds_sets(draft) &&
         draft.loop(down).own.empty() && goes_on(draft, 1, bytes, lanes_bytes);
}

/// Whether blocks are better made of pages of the source.
bool reads_pages(const Draft& draft, int64_t row, int64_t column) {
  const int64_t bytes = draft.space().op.bytes;
  const int next = draft.next_in_run(0, row);
  if (bytes < draft.target().page_element_bytes || next < 0) return false;
  // What goes around the caches for its crowded sets alone is still read from them, whose sets
  // boxes of few rows crowd as well. Zen 4, f64 of 4 to 13 MB with rows of 4 and 8 KB: 512 x 512
  // .44 -> .54 of the ceiling, 1536 x 512 .54 -> .62, [3,512,512]{1,2,0} .54 -> .67.
  const int64_t both = draft.both_extent_bytes();
  if (both <= draft.target().transposed_streaming_bytes) return false;
  if (bytes < always_paged_bytes &&
      takes_whole_rows(draft, row * draft.loop(next).extent, streamed_columns(bytes) * bytes))
    return false;
  return draft.schedule().nontemporal && draft.goal() != CodeGoal::small &&
         draft.target().vector_bytes == draft.target().line_bytes &&
         goes_on(draft, 0, row, page_rows * bytes) &&
         goes_on(draft, 1, column, draft.target().page_bytes);
}

// Rows of the target of a line each come by way of a panel, too, and the next box is asked for. Zen
// 4, 40 transposes .77 of the time, f32[4096,16,128]{1,2,0} .47 -> .80 of the ceiling,
// u8[64,1000000]{0,1} .58 -> .79; but those of few rows of the source, of more than a page each,
// are better transposed in registers: f64[8,1000000]{0,1} 1.17, by a panel .90,
// f32[16,1000000]{0,1} 1.27 and 1.09; rows of 4 KB the same. What is left of so many lines is worth
// code of its own: of 7 f32[15,15,15,112,5,32]{3,5,1,4,0,2} .56 -> .73 of the ceiling; of 2700 it
// leaves less for targets between lines.
constexpr int64_t most_staged_lines = 16;

/// Whether the processor reads ahead of all rows of the source that make rows of `row` bytes.
bool reads_ahead(const Draft& draft, int64_t row) {
  const Target& target = draft.target();
  const int64_t source_run = run_bytes(draft, 1, [&](int k) {
    return draft.mark(k) == Mark::target_run ? 1 : draft.loop(k).extent;
  });
  return row / draft.space().op.bytes <= rows_read_ahead && source_run > target.page_bytes;
}

/// Whether rows of a line each are staged: all of them, of `row` bytes, or what is left of few.
bool stages_lines(const Draft& draft, int64_t row) {
  const IterationSpace& space = draft.space();
  const int64_t line = draft.target().line_bytes;
  if (!draft.begins_line() || draft.target().vector_bytes != line || row < line) return false;
  if (row == line) return !reads_ahead(draft, row);
  std::vector<bool> makes_rows(space.axes.size());
  int64_t all = space.op.bytes;
  for (int k = 0; k < draft.loop_count(); ++k) {
    const auto axis = static_cast<size_t>(draft.loop(k).axis);
    if (draft.mark(k) != Mark::target_run || makes_rows[axis]) continue;
    makes_rows[axis] = true;
    all *= space.axes[axis].valid;
  }
  return all <= most_staged_lines * line;
}

/// Rows of the target with their padding, bytes, if a register of no more than `widest` holds both:
/// lines leave whole then. 0: longer ones. Emerald Rapids, f64 to T(8,8,1,1) with 4 of 8 channels,
/// 33 MB of target, .32 -> .52 of the ceiling, f64[4,300000] to columns of 8 .41 -> 1.1.
int64_t padded_row_bytes(const Draft& draft, int64_t widest) {
  int64_t bytes = draft.space().op.bytes;
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (draft.mark(k) == Mark::target_run) bytes *= draft.loop(k).extent;
  }
  return bytes <= widest ? bytes : 0;
}

/// Makes one loop of what is taken of the innermost digit of the source.
void join_columns(Draft& draft) {
  for (int k = widest_source_loop(draft), outer = k; k >= 0 && outer >= 0;) {
    outer = draft.continued_by(k);
    if (outer >= 0) k = draft.join(outer, k);
  }
}

}  // namespace

void transpose(Draft& draft) {
  const Target& target = draft.target();
  Schedule& schedule = draft.schedule();
  schedule.movement = Movement::transpose;
  schedule.shifts_runs = shifts_boxes(draft);
  // Asked before runs are split.
  const bool apart = shifts_touching_rows(draft);
  if (!schedule.shifts_runs && (touching_rows(draft) || transpose_source_digits(draft))) return;
  const int64_t bytes = draft.space().op.bytes;
  schedule.lane_rows = makes_lane_rows(draft);
  if (schedule.lane_rows) schedule.network_column_bytes = lanes_bytes, schedule.skews_rows = false;
  const bool narrow = !schedule.lane_rows && takes_narrow_registers(draft);
  const int64_t widest = narrow ? target.l1_vector_bytes : target.vector_bytes;
  if (narrow) schedule.network_column_bytes = std::min(schedule.network_column_bytes, widest);
  const Schedule undecided = schedule;
  const SourceWalk walk = walk_along_source(draft);
  const bool crowded = crowds_sets(draft), crowds = make_room_in_l1(draft);
  const std::optional<Runs> runs = take_runs(draft, widest);
  if (!runs) {  // permuted
    schedule.lane_rows = false;
    return;
  }
  auto [row, column, lanes] = *runs;
  const bool short_rows = short_rows_touch(draft, row, column);
  const bool streams = schedule.nontemporal;
  if (streams && apart && shift(draft, undecided, row)) {
    // Unless they come to scratch first.
    if (schedule.staging == Staging::panels) schedule.staging = Staging::shifted_panels;
    return;
  }
  bool aligned = schedule.shifts_runs || begins_lines(draft);
  const int64_t digits = streams && !aligned ? digits_in_lines(draft, undecided) : 0;
  if (digits > 0) {
    row = digits;
    column = target.line_bytes;
    aligned = true;
  }
  const int64_t joined =
      streams && aligned && digits == 0 ? joined_source_digits(draft, undecided) : 0;
  if (joined > 0) row = target.line_bytes, column = joined;
  if (streams && !aligned) {
    if (touching_digits(draft, undecided, Rows::between_lines)) return;
    if (joins_rows(draft, undecided)) return;
    if (!short_rows && shift(draft, undecided, row)) return;
    if (touching_digits(draft, undecided, Rows::begin_lines)) return;
    if (makes_lines(draft, undecided)) return;
    // u8[40,64,512] reversed .22 -> .36 of the ceiling.
    Schedule through_caches = undecided;
    through_caches.nontemporal = false;
    if (draft.instead(through_caches, [&] { return gather_crowded(draft); })) return;
    schedule.nontemporal = false;
  }
  if (streams && aligned && draft.instead(undecided, [&] { return image_small_tiles(draft); }))
    return;
  const bool pages = digits == 0 && reads_pages(draft, row, column);
  const Block block = pages ? Block{page_rows, target.page_bytes / bytes}
                            : block_of_networks(draft, streams, crowds, walk.rows);
  schedule.target_first =
      crowds || block.target_first || schedule.network_column_bytes >= target.line_bytes;
  const int64_t rows =
      pages ? block.rows : std::max(block.rows, long_rows(draft, row, column, block, crowded));
  if (digits == 0) row = draft.take_run(0, row, rows * bytes, Mark::target_run);
  if (joined == 0)
    column = draft.take_run(1, column, columns_wanted(draft, row, column, block), Mark::source_run,
                            column_length(draft));
  if (stages_rests(draft)) join_columns(draft);
  if (row == bytes && column == bytes) scattered(draft);
  // Narrow unpacks run twice as often as wide ones: u8 16 x 16 .20 -> .3 of memcpy.
  const int64_t written = std::max(row, padded_row_bytes(draft, widest));
  schedule.vector_bytes =
      static_cast<int>(std::clamp(round_up_to_power_of_two(written), int64_t{16}, widest));
  if (short_rows)
    schedule.vector_bytes = target.vector_bytes;
  else if (schedule.lane_rows || (lanes && row == lane_bytes))
    schedule.vector_bytes = lanes_bytes;
  else if (schedule.skews_rows && row == skewed_row_bytes && column > lane_bytes)
    schedule.vector_bytes = target.vector_bytes;  // of two rows
  schedule.staging = pages ? Staging::registers : Staging::panels;
  schedule.stages_lines = !pages && stages_lines(draft, row);
  schedule.wide_panels = streams && wants_wide_panels(draft);
  schedule.strips_rows = wants_strips(draft);
  schedule.wants_lines = block.walks && walk.wants_lines;
  if (!schedule.nontemporal) {
    schedule.claimed_ahead =
        claimed_ahead(draft, column, aligned ? Rows::begin_lines : Rows::between_lines);
    if (!streams) return;
    draft.go_on(1);
    // Smaller arrays are moved through the caches, but not where their lines cannot be asked for in
    // time: 23 random cases of f32 of 3 to 16 MB in all .81 of the time, u8[155,10,128,40] reversed
    // .34, f32[64,1,127,1,3,63]{4,0,2,1,5,3} .43; where they can, as many take up to 1.8 times.
    const bool waits = !aligned && schedule.claimed_ahead == 0;
    if (waits) draft.instead(undecided, [&] { return image_runs(draft); });
    return;
  }
  order_boxes(draft, row, column, pages);
}

void scattered(Draft& draft) {
  constexpr int64_t elements = 8;
  for (int k = draft.loop_count() - 1; k >= 0; --k) {
    if (!draft.movable_inside(k)) continue;
    draft.mark(draft.split_off(k, elements)) = Mark::target_run;
    return;
  }
}

}  // namespace restride::scheduling
