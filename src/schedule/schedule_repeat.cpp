// Schedules of moves that repeat a large source: what is read of it is written everywhere while it
// is in L1, before the next of it is read. Rows are copied to each of their places; blocks that lie
// across the target are relaid into scratch once, and what repeats there makes runs of it. So are
// elements that lie apart: they are dense there before they are transposed.
#include <algorithm>
#include <cstdlib>

#include "base/arithmetic.hpp"
#include "program/program.hpp"
#include "schedule/scheduler.hpp"

namespace restride {
namespace {

// A block of a source in scratch, or a chunk of its rows. L1 holds it, and it makes rows of the
// target that are worth starting.
constexpr int64_t repeated_bytes = 8 * 1024;
// A block in scratch of a source that fills a target beyond L2, so that runs are longer: f32
// [512,1024] transposed 16 times .66 -> .75 of memset, u8[512,543] 32 times .60 -> .89,
// f64[310,360] 20 times .67 -> .92. In L2 f32[224,110] 8 times .85 -> .69; u16[3,450,555] twice .66
// -> .51.
constexpr int64_t filling_bytes = program::max_scratch_bytes;
// Blocks whose rows are made of what repeats have so much of a row in scratch: 64, 128 and 256
// bytes take 1.02, 1 and 1 of the time.
constexpr int64_t gathered_row_bytes = 128;
// Elements of a source that lie apart come in from so much of it at a time: 15 transposes with 256
// bytes in .34 of the time of element by element, 512 .41, 1024 .38, 2048 .43.
constexpr int64_t gathered_column_bytes = 256;
// Rows that are joined in scratch pay for it when they are copied so often; a unit writes so much.
constexpr int64_t least_repeats = 4, repeating_bytes = 64 * 1024;

}  // namespace

bool Scheduler::is_repeat(int k) {
  return mark(k) == Mark::outside && loop(k).stride[1] == 0 && loop(k).stride[0] != 0 &&
         loop(k).extent > 1;
}

bool Scheduler::has_repeats() {
  for (int k = 0; k < loop_count(); ++k) {
    if (is_repeat(k) && movable_inside(k)) return true;
  }
  return false;
}

bool Scheduler::repeats_source() {
  return goal_ != CodeGoal::part && 2 * extent_bytes(1) > target_.l1_bytes && has_repeats();
}

void Scheduler::mark_repeats(Mark as) {
  for (int k = 0; k < loop_count(); ++k) {
    if (is_repeat(k) && movable_inside(k)) mark(k) = as;
  }
}

void Scheduler::repeat_rows(int64_t row_bytes) {
  int repeats = 0;
  for (int k = 0; k < loop_count(); ++k) repeats += is_repeat(k) && movable_inside(k) ? 1 : 0;
  for (; repeats > 0; --repeats) {
    int k = 0;
    while (!is_repeat(k) || !movable_inside(k)) ++k;
    move_inside(k);
  }
  const int next = next_in_run(1, row_bytes);
  if (next < 0 || !movable_inside(next) || 2 * row_bytes > repeated_bytes) return;
  move_inside(split_off(next, repeated_bytes / row_bytes));
}

bool Scheduler::repeat_joined_rows(int k, int64_t rows, int64_t row_bytes) {
  if (goal_ == CodeGoal::part || loop(k).extent < least_repeats * rows) return false;
  // In L1 stores of half a line cost less than to wait for scratch: u16[128,16] 8 times .19 -> .82
  // of memset; in L2 .61 -> .35. Others cross lines: f32[2,30] 168 times .75 -> .39.
  if (stays_in_l1() && target_.line_bytes % row_bytes == 0) return false;
  const int joined = split_off(k, rows);
  mark(joined) = Mark::target_run;
  mark(split_off(k, std::max(least_repeats, repeating_bytes / (rows * row_bytes)))) =
      Mark::source_run;
  schedule_.movement = Movement::repeat;
  return true;
}

bool Scheduler::repeat_blocks() {
  if (!repeats_source()) return false;
  return instead(Schedule(schedule_), [&] {
    const int64_t bytes = space().op.bytes, line = target_.line_bytes;
    const bool fills_memory = fills() && extent_bytes(0) > target_.l2_bytes;
    const int64_t block = fills_memory ? filling_bytes : repeated_bytes;
    mark_repeats(Mark::source_run);
    const int64_t row = take_run(0, bytes, block / line * bytes, Mark::target_run);
    take_run(1, bytes, std::max(line, block / row * bytes), Mark::source_run);
    schedule_.movement = Movement::repeat;
    return row >= line;
  });
}

bool Scheduler::gather_repeats() {
  if (goal_ == CodeGoal::part || !has_repeats()) return false;
  return instead(Schedule(schedule_), [&] {
    const int64_t bytes = space().op.bytes, line = target_.line_bytes;
    mark_repeats(Mark::target_run);
    const int64_t row = take_repeated_run();
    const int64_t most = std::max(line, repeated_bytes / row * bytes);
    const int64_t column = take_run(1, bytes, most, Mark::source_run);
    schedule_.movement = Movement::gather;
    return row > bytes && column > bytes;
  });
}

bool Scheduler::gather_apart() {
  const int row = contiguous(0), column = nearest(1, 1);
  if (goal_ == CodeGoal::part || contiguous(1) >= 0 || row < 0 || column < 0 || row == column ||
      !movable_inside(row)) {
    return false;
  }
  const int64_t bytes = space().op.bytes, stride = std::abs(loop(column).stride[1]);
  if (2 * stride > target_.line_bytes) return false;
  // In memory few elements at a time are as fast, where they are wide: f32[2000,2000] every other
  // one 2.8 ms for 3.7, by lanes for 14; u8[3000,4000] every fourth 138 ms for 21, by lanes 18 for
  // 37.
  const bool far = extent_bytes(0) + extent_bytes(1) > 2 * target_.imaging_bytes;
  if (permutes_lanes(target_) ? schedule_.nontemporal : far && bytes >= 4) return false;
  return instead(Schedule(schedule_), [&] {
    const int64_t columns = std::min(loop(column).extent, gathered_column_bytes / stride);
    move_inside(split_off(row, std::max<int64_t>(1, repeated_bytes / (columns * bytes))));
    move_inside(split_off(nearest(1, 1), columns));
    mark(loop_count() - 1) = mark(loop_count() - 2) = Mark::target_run;
    schedule_.movement = Movement::gather;
    return true;
  });
}

int64_t Scheduler::take_repeated_run() {
  const int64_t bytes = space().op.bytes;
  int64_t run = bytes, row = bytes;
  for (int k = 0; k < loop_count(); ++k) {
    const bool repeats = mark(k) == Mark::target_run && loop(k).stride[1] == 0;
    const bool goes_on = mark(k) == Mark::outside && movable_inside(k);
    if (loop(k).stride[0] != run || !(repeats || goes_on)) continue;
    if (goes_on) {
      const int64_t room = gathered_row_bytes / row;
      if (room < 2 || loop(k).stride[1] == bytes) break;
      k = split_off(k, room);
      mark(k) = Mark::target_run;
      row *= loop(k).extent;
    }
    run *= loop(k).extent;
    k = -1;
  }
  return row;
}

}  // namespace restride
