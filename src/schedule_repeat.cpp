// Schedules of moves that repeat a large source: what is read of it is written everywhere while it
// is in L1, before the next of it is read. Rows are copied to each of their places; blocks that lie
// across the target are relaid into scratch once.
#include <algorithm>

#include "arithmetic.hpp"
#include "scheduler.hpp"

namespace restride {
namespace {

// A block of a source in scratch, or a chunk of its rows. L1 holds it, and it makes rows of the
// target that are worth starting.
constexpr int64_t repeated_bytes = 8 * 1024;
// Rows that are joined in scratch pay for it when they are copied so often; a unit writes so much.
constexpr int64_t least_repeats = 4, repeating_bytes = 64 * 1024;

}  // namespace

bool Scheduler::is_repeat(int k) {
  return mark(k) == Mark::outside && loop(k).stride[1] == 0 && loop(k).stride[0] != 0 &&
         loop(k).extent > 1;
}

bool Scheduler::repeats_source() {
  if (goal_ == CodeGoal::part || 2 * extent_bytes(1) <= target_.l1_bytes) return false;
  for (int k = 0; k < loop_count(); ++k) {
    if (is_repeat(k) && movable_inside(k)) return true;
  }
  return false;
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
  const int joined = split_off(k, rows);
  mark(joined) = Mark::target_run;
  mark(split_off(k, std::max(least_repeats, repeating_bytes / (rows * row_bytes)))) =
      Mark::source_run;
  schedule_.movement = Movement::repeat;
  return true;
}

bool Scheduler::repeat_blocks() {
  if (!repeats_source()) return false;
  const IterationSpace unsplit = space();
  const int64_t bytes = space().op.bytes, line = target_.line_bytes;
  for (int k = 0; k < loop_count(); ++k) {
    if (is_repeat(k) && movable_inside(k)) mark(k) = Mark::source_run;
  }
  const int64_t row = take_run(0, bytes, repeated_bytes / line * bytes, Mark::target_run);
  take_run(1, bytes, std::max(line, repeated_bytes / row * bytes), Mark::source_run);
  if (row < line) {
    space() = unsplit;
    marks_.assign(space().loops.size(), Mark::outside);
    return false;
  }
  schedule_.movement = Movement::repeat;
  return true;
}

}  // namespace restride
