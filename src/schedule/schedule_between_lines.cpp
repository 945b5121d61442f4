// Schedules of transposes whose rows of the target begin between lines, for arrays that do not stay
// in the caches: rows that touch leave together, long ones are shifted, runs of several loops and
// short ones are put together first.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/arithmetic.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/transpose/shifted_lines.hpp"
#include "program/program.hpp"
#include "schedule/scheduler.hpp"

namespace restride {

using program::lane_bytes;

namespace {

// Rows of the target that touch and stream are permuted into whole lines where they have so few
// elements, or are narrow: f32 4 x N .92 by way of an image, 1.0 permuted, 6 x N .79 and .97, f64 5
// x N .68 and .88, u8 12 x N .59 and .9.
constexpr int64_t few_rows = 8;

// Matrices of which a whole image is made, and less of the source than is read at a time otherwise,
// have so many bytes at least: u16 9 x 20 (360) .50 -> .41 of the ceiling, 19 x 19 (722) .46 ->
// .46, f32 12 x 12 (576) .45 -> .84, f64 9 x 9 (648) .44 -> .64, u8 200 x 25 .48 -> .75, u16 100 x
// 49 .45 -> .78.
constexpr int64_t least_touching_bytes = 512;
// Rows of 17 bytes .53 -> .43, of 18 .47 -> .48, of 20 .53 -> .64, of 24 .46 -> .55.
constexpr int64_t least_touching_run_bytes = 20;

// Where rows begin between lines, the longest. Each end of a run shares a line with another one: of
// 1 KB .63, of 2 KB .71 of the ceiling (geometric mean of 20 cases, in an earlier form of the
// code). What is read at both sides of a box should still be in the second level: of 8 KB .56, of 4
// KB .59 (of 6 cases, three times).
constexpr int64_t most_shifted_run_bytes = 4 * 1024;

// Of images of bytes half a line of the source: all of it is twice as slow, a quarter 1.1 times.
constexpr int64_t most_imaged_columns = 32;
// Where code would be long else; without images u8[50,90,112,88]{1,2,3,0} .37 -> .08 of the
// ceiling.
constexpr int64_t most_imaged_columns_of_small = 16;
// Less of a source row than this at a time is worse than any other way: f32[51,32,87,32,2] .52 ->
// .19 of the ceiling, f16[4095,498,3] .50 -> .23; but f32[7,90,96,16,3] .22 -> .54.
constexpr int64_t least_imaged_column_bytes = 12;
// Both ends of a run share a line with others.
constexpr int64_t least_imaged_run_bytes = 512;
// Rows that both operands have: so many bytes of the source at a time, of at most so many runs.
constexpr int64_t imaged_rows_bytes = 256, most_imaged_rows = 16;

// As many columns of a box have what they leave over in scratch. Bytes: as many as that has room
// for; wider ones 128 or 512 bytes .71, 64 .68 (of 25).
constexpr int64_t most_shifted_columns(int64_t element_bytes) {
  return element_bytes == 1 ? 192 : std::min<int64_t>(128, 512 / element_bytes);
}

// What begins between lines is written through the caches where the third level holds it. Of 3 to 8
// MB in all 36 batches of matrices with rows of 3 to 480 bytes took .76 of the least time and .80
// of the median, of 8 to 16 MB 30 others .78 and .98. Longer rows, which would be shifted, while
// there is room for twice as much: 44 of 3 to 8 MB took .80 and .84, 5 of 8 to 16 MB .82 and 1.05;
// but where columns crowd sets of L1 5 took 1.46 and 1.39.
constexpr int64_t times_of_long_rows = 2;

// Rests take code of their own, which is not worth that of shifted ones. So tiles leave few:

/// The length of tiles of at most `most` that make as few tiles as there can be.
int64_t evenly(int64_t count, int64_t most) {
  return count == 0 ? 0 : count / ceil_div(count, most);
}

/// The same, the last of them shorter.
int64_t evenly_up(int64_t count, int64_t most) { return ceil_div(count, ceil_div(count, most)); }

/// The longest of three quarters of `length` to `most` that leaves no rest, which would be code of
/// its own; or `length`. Where code has to be short, of half of it.
int64_t without_rest(int64_t count, int64_t length, int64_t most, CodeGoal goal) {
  const int64_t least = goal == CodeGoal::small ? ceil_div(length, 2) : ceil_div(3 * length, 4);
  for (int64_t tried = most; tried >= least; --tried) {
    if (count % tried == 0) return tried;
  }
  return length;
}

/// How many panels of columns that lie side by side make a box, whose lines are asked for together:
/// without a rest, which would be code of its own, or about four. (25 random cases of f32 in .96 of
/// the time that one takes; 8 the same.) Where code has to be short, one rather than a rest.
int64_t panels_of_box(int64_t count, CodeGoal goal) {
  for (const int64_t panels : {4, 5, 3, 6, 7, 8}) {
    if (count % panels == 0) return panels;
  }
  return goal == CodeGoal::small ? 1 : evenly_up(count, 4);
}

/// The length of tiles of half of `most` and more that cover the most.
int64_t covering(int64_t count, int64_t most) {
  int64_t best = most;
  for (int64_t length = most; 2 * length >= most && length > 1; --length) {
    if (count / length * length > count / best * best) best = length;
  }
  return count < best ? 0 : best;
}

}  // namespace

bool Scheduler::touching_rows() {
  const int64_t bytes = space().op.bytes;
  const int row = contiguous(0), column = contiguous(1);
  if (row < 0 || column < 0 || row == column || !touch_between_lines(row, column)) return false;
  const int64_t run = loop(row).extent * bytes;
  const int64_t columns = streamed_columns(bytes), count = loop(column).extent;
  if (run < target_.shifting_run_bytes ? stays_beside() : long_rows_stay_beside(column))
    return false;
  if (!shifts_images() && (count < columns || !others_begin_lines(row, column))) return false;
  if (count < columns) {
    if (permutes() && permute_dense_block()) return true;
    if (count * bytes < lane_bytes || run < least_touching_run_bytes ||
        count * run < least_touching_bytes) {
      return false;
    }
  }
  const bool few = loop(row).extent <= few_rows || run < narrow_run_bytes;
  if (few && permutes() && permute()) return true;
  mark(row) = Mark::target_run;
  mark(split_off(column, columns)) = Mark::source_run;
  go_on(1);
  return true;
}

bool Scheduler::touch_between_lines(int row, int column) {
  const int64_t bytes = space().op.bytes, line = target_.line_bytes;
  const int64_t run = loop(row).extent * bytes;
  const Axis& axis = space().axes[static_cast<size_t>(loop(row).axis)];
  const bool whole = axis.valid == loop(row).extent && axis.padded == loop(row).extent;
  const bool touch = loop(column).stride[0] == run && run % line != 0;
  return schedule_.nontemporal && masks_lines(target_) && whole && touch &&
         line / bytes * run <= program::max_scratch_bytes;
}

bool Scheduler::others_begin_lines(int row, int column) {
  for (int k = 0; k < loop_count(); ++k) {
    const bool other = mark(k) == Mark::outside && k != row && k != column;
    if (other && loop(k).stride[0] % target_.line_bytes != 0) return false;
  }
  return true;
}

bool Scheduler::shifts_images() const {
  const bool runs = goal_ == CodeGoal::fast || goal_ == CodeGoal::small;
  return schedule_.nontemporal && runs && shifts_lines(target_, schedule_.space.op.bytes);
}

bool Scheduler::stays_beside(int64_t times) const {
  return times * (extent_bytes(0) + extent_bytes(1)) <= target_.imaging_bytes;
}

bool Scheduler::long_rows_stay_beside(int across) {
  const int64_t network = schedule_.network_column_bytes;
  const int64_t columns =
      network < target_.line_bytes ? cached_columns : network / space().op.bytes;
  return stays_beside(times_of_long_rows) && across >= 0 &&
         lines_in_set(loop(across).stride[0], columns, target_.line_bytes) <= l1_ways();
}

bool Scheduler::shift(int64_t row, int64_t column) {
  const int64_t bytes = space().op.bytes, line = target_.line_bytes;
  const int rows = next_in_run(0, row), columns = next_in_run(1, column);
  // Very short columns go through the caches in the same boxes: f32[600,2050,3] .92 of the ceiling.
  const bool panels = line % column == 0 || column < lane_bytes;
  if (!shifts_lines(target_, bytes) || row != line || !panels || rows < 0 || columns < 0 ||
      long_rows_stay_beside(widest_source_loop()) || !continues_rows(rows)) {
    return false;
  }
  const int64_t chunk = shifted_chunk_lines, panel = line / column;
  const int64_t tile_chunks =
      evenly(whole_iterations(rows) / chunk, most_shifted_run_bytes / line / chunk);
  const int64_t tile_panels =
      covering(whole_iterations(columns) / panel, most_shifted_columns(bytes) * bytes / line);
  if (tile_chunks * chunk * line < target_.shifting_run_bytes || tile_panels < 2) return false;
  mark(split_off(rows, tile_chunks * chunk)) = Mark::target_run;
  mark(split_off(next_in_run(1, column), tile_panels * panel)) = Mark::source_run;
  schedule_.claimed_ahead = claimed_ahead(line, Rows::between_lines);
  go_on(1);
  return true;
}

bool Scheduler::continues_rows(int k) {
  for (int j = 0; j < loop_count(); ++j) {
    if (mark(j) != Mark::target_run) continue;
    for (const size_t operand : {size_t{0}, size_t{1}}) {
      if (loop(k).stride[operand] != loop(j).stride[operand] * loop(j).extent) return false;
    }
  }
  return true;
}

bool Scheduler::instead(const Schedule& undecided, const std::function<bool()>& other) {
  const Schedule decided = std::exchange(schedule_, undecided);
  const std::vector<Mark> marks =
      std::exchange(marks_, std::vector<Mark>(space().loops.size(), Mark::outside));
  if (other()) return true;
  schedule_ = decided;
  marks_ = marks;
  return false;
}

bool Scheduler::makes_lines(const Schedule& undecided) {
  if (instead(undecided, [this] { return permute_lines(); })) return true;
  return extent_bytes(0) + extent_bytes(1) > target_.imaging_bytes &&
         instead(undecided, [this] { return image_runs(); });
}

bool Scheduler::image_runs() {
  const int64_t bytes = space().op.bytes;
  if (!shifts_images() || contiguous(1) < 0 || contiguous(1) == contiguous(0)) return false;
  const int64_t columns = take_imaged_columns();
  if (columns * bytes < least_imaged_column_bytes) return false;
  const int64_t most = most_imaged_run_bytes(columns, target_.line_bytes);
  if (take_imaged_run(most) < least_imaged_run_bytes) return false;
  schedule_.network_column_bytes = columns * bytes;
  const int more = next_in_run(1, columns * bytes);
  if (more >= 0) mark(split_off(more, panels_of_box(loop(more).extent, goal_))) = Mark::source_run;
  go_on(1);
  schedule_.staging = Staging::images;
  return true;
}

bool Scheduler::image_rows() {
  const int64_t row = loop(contiguous(0)).extent * space().op.bytes;
  // Of 4 targets of 20 to 30 MB 1.3 times the least time and .6 to .95 of the median, of 6 larger
  // ones .55 to 1 of both.
  const bool large = extent_bytes(0) > 2 * target_.imaging_bytes;
  if (!shifts_images() || !large || row >= least_imaged_run_bytes || repeats_source()) return false;
  return instead(Schedule(schedule_), [&] { return take_imaged_rows(row); });
}

bool Scheduler::take_imaged_rows(int64_t row_bytes) {
  const int64_t most = most_imaged_run_bytes(most_imaged_rows, target_.line_bytes);
  if (take_imaged_run(most) < least_imaged_run_bytes) return false;
  const bool lines = row_bytes % target_.line_bytes == 0 || joined_rows(row_bytes, target_) > 1;
  if (lines && others_begin_lines(-1, -1)) return false;
  const int64_t columns = std::min(imaged_rows_bytes / row_bytes, most_imaged_rows);
  const int next = next_in_run(1, row_bytes);
  if (next >= 0 && columns > 1)
    mark(split_off(next, without_rest(loop(next).extent, columns, columns, goal_))) =
        Mark::source_run;
  go_on(1);
  schedule_.movement = Movement::transpose;
  schedule_.staging = Staging::images;
  return true;
}

int64_t Scheduler::take_imaged_columns() {
  const int64_t bytes = space().op.bytes;
  const int64_t most_columns =
      goal_ == CodeGoal::small ? most_imaged_columns_of_small : most_imaged_columns;
  const int64_t panel = std::min(target_.line_bytes / bytes, most_columns);
  int64_t columns = 1;
  for (int k = contiguous(1); k >= 0 && k != contiguous(0) && 2 * columns <= panel;
       k = next_in_run(1, columns * bytes)) {
    const int64_t extent = loop(k).extent, most = panel / columns;
    const int64_t length = extent <= 2 * most ? evenly_up(extent, most) : most;
    const int inner = split_off(k, without_rest(extent, length, most, goal_));
    mark(inner) = Mark::source_run;
    columns *= loop(inner).extent;
    if (loop(inner).extent < extent) break;
  }
  return columns;
}

int64_t Scheduler::take_imaged_run(int64_t most) {
  int64_t run = space().op.bytes;
  for (int k = contiguous(0); k >= 0 && 2 * run <= most; k = next_in_run(0, run)) {
    const Axis& axis = space().axes[static_cast<size_t>(loop(k).axis)];
    const int64_t extent = loop(k).extent, step = loop(k).step;
    if (axis.valid != axis.padded || axis.valid % (extent * step) != 0) return run;
    const int inner =
        split_off(k, without_rest(extent, evenly_up(extent, most / run), most / run, goal_));
    mark(inner) = Mark::target_run;
    run *= loop(inner).extent;
    if (loop(inner).extent < extent) return run;
  }
  return run;
}

int64_t Scheduler::whole_iterations(int k) {
  return std::min(loop(k).extent,
                  space().axes[static_cast<size_t>(loop(k).axis)].valid / loop(k).step);
}

}  // namespace restride
