// Schedules of transposes whose rows of the target begin between lines, for arrays that do not stay
// in the caches: rows that touch leave together, long ones are shifted, runs of several loops and
// short ones are put together first.
#include <algorithm>
#include <cstdlib>

#include "base/arithmetic.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/transpose/shifted_lines.hpp"
#include "program/program.hpp"
#include "schedule/l1_sets.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {

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

/// Whether rows and columns of these loops touch and begin between lines, and are small enough for
/// an image in L1.
bool touch_between_lines(const Draft& draft, int row, int column) {
  const int64_t bytes = draft.space().op.bytes, line = draft.target().line_bytes;
  const int64_t extent = draft.loop(row).extent, run = extent * bytes;
  const Axis& axis = draft.space().axes[static_cast<size_t>(draft.loop(row).axis)];
  const bool whole = axis.valid == extent && axis.padded == extent;
  const bool touch = draft.loop(column).stride[0] == run && run % line != 0;
  return draft.schedule().nontemporal && masks_lines(draft.target()) && whole && touch &&
         line / bytes * run <= program::max_scratch_bytes;
}

/// Whether all unmarked loops but these two walk whole lines of the target: else where its lines
/// begin is not known inside of them.
bool others_begin_lines(const Draft& draft, int row, int column) {
  for (int k = 0; k < draft.loop_count(); ++k) {
    const bool other = draft.mark(k) == Mark::outside && k != row && k != column;
    if (other && draft.loop(k).stride[0] % draft.target().line_bytes != 0) return false;
  }
  return true;
}

/// What stays_beside asks, of long rows; loop `across` makes columns, whose lines have to be there
/// in time.
bool long_rows_stay_beside(const Draft& draft, int across) {
  const int64_t network = draft.schedule().network_column_bytes;
  const int64_t columns =
      network < draft.target().line_bytes ? cached_columns : network / draft.space().op.bytes;
  return stays_beside(draft, times_of_long_rows) && across >= 0 &&
         l1_holds_lines(draft.target(), draft.loop(across).stride[0], columns);
}

/// Whether loop `k` goes on where the row that is taken already ends, in both operands.
bool continues_rows(const Draft& draft, int k) {
  for (int j = 0; j < draft.loop_count(); ++j) {
    if (draft.mark(j) != Mark::target_run) continue;
    for (const size_t operand : {size_t{0}, size_t{1}}) {
      if (draft.loop(k).stride[operand] != draft.loop(j).stride[operand] * draft.loop(j).extent)
        return false;
    }
  }
  return true;
}

/// Iterations of a loop in which the loops inside are whole.
int64_t whole_iterations(const Draft& draft, int k) {
  const Loop& loop = draft.loop(k);
  return std::min(loop.extent,
                  draft.space().axes[static_cast<size_t>(loop.axis)].valid / loop.step);
}

/// Marks loops that make a panel of columns of the source; returns how many.
int64_t take_imaged_columns(Draft& draft) {
  const int64_t bytes = draft.space().op.bytes;
  const int64_t most_columns =
      draft.goal() == CodeGoal::small ? most_imaged_columns_of_small : most_imaged_columns;
  const int64_t panel = std::min(draft.target().line_bytes / bytes, most_columns);
  int64_t columns = 1;
  for (int k = draft.contiguous(1); k >= 0 && k != draft.contiguous(0) && 2 * columns <= panel;
       k = draft.next_in_run(1, columns * bytes)) {
    const int64_t extent = draft.loop(k).extent, most = panel / columns;
    const int64_t length = extent <= 2 * most ? evenly_up(extent, most) : most;
    const int inner = draft.split_off(k, without_rest(extent, length, most, draft.goal()));
    draft.mark(inner) = Mark::source_run;
    columns *= draft.loop(inner).extent;
    if (draft.loop(inner).extent < extent) break;
  }
  return columns;
}

/// Marks loops that make a run of up to `most` bytes; returns its length.
int64_t take_imaged_run(Draft& draft, int64_t most) {
  int64_t run = draft.space().op.bytes;
  for (int k = draft.contiguous(0); k >= 0 && 2 * run <= most; k = draft.next_in_run(0, run)) {
    const Axis& axis = draft.space().axes[static_cast<size_t>(draft.loop(k).axis)];
    const int64_t extent = draft.loop(k).extent, step = draft.loop(k).step;
    if (axis.valid != axis.padded || axis.valid % (extent * step) != 0) return run;
    const int inner = draft.split_off(
        k, without_rest(extent, evenly_up(extent, most / run), most / run, draft.goal()));
    draft.mark(inner) = Mark::target_run;
    run *= draft.loop(inner).extent;
    if (draft.loop(inner).extent < extent) return run;
  }
  return run;
}

bool take_imaged_rows(Draft& draft, int64_t row_bytes) {
  const int64_t most = most_imaged_run_bytes(most_imaged_rows, draft.target().line_bytes);
  if (take_imaged_run(draft, most) < least_imaged_run_bytes) return false;
  const bool lines =
      row_bytes % draft.target().line_bytes == 0 || joined_rows(row_bytes, draft.target()) > 1;
  if (lines && others_begin_lines(draft, -1, -1)) return false;
  const int64_t columns = std::min(imaged_rows_bytes / row_bytes, most_imaged_rows);
  const int next = draft.next_in_run(1, row_bytes);
  if (next >= 0 && columns > 1) {
    const int64_t length = without_rest(draft.loop(next).extent, columns, columns, draft.goal());
    draft.mark(draft.split_off(next, length)) = Mark::source_run;
  }
  draft.go_on(1);
  draft.schedule().movement = Movement::transpose;
  draft.schedule().staging = Staging::images;
  return true;
}

}  // namespace

bool touching_rows(Draft& draft) {
  const int64_t bytes = draft.space().op.bytes;
  const int row = draft.contiguous(0), column = draft.contiguous(1);
  if (row < 0 || column < 0 || row == column || !touch_between_lines(draft, row, column))
    return false;
  const int64_t run = draft.loop(row).extent * bytes;
  const int64_t columns = streamed_columns(bytes), count = draft.loop(column).extent;
  if (run < draft.target().shifting_run_bytes ? stays_beside(draft)
                                              : long_rows_stay_beside(draft, column))
    return false;
  if (!shifts_images(draft) && (count < columns || !others_begin_lines(draft, row, column)))
    return false;
  if (count < columns) {
    if (permutes(draft) && permute_dense_block(draft)) return true;
    if (count * bytes < lane_bytes || run < least_touching_run_bytes ||
        count * run < least_touching_bytes) {
      return false;
    }
  }
  const bool few = draft.loop(row).extent <= few_rows || run < narrow_run_bytes;
  if (few && permutes(draft) && permute(draft)) return true;
  draft.mark(row) = Mark::target_run;
  draft.mark(draft.split_off(column, columns)) = Mark::source_run;
  draft.go_on(1);
  return true;
}

bool shift(Draft& draft, int64_t row, int64_t column) {
  const int64_t bytes = draft.space().op.bytes, line = draft.target().line_bytes;
  const int rows = draft.next_in_run(0, row), columns = draft.next_in_run(1, column);
  // Very short columns go through the caches in the same boxes: f32[600,2050,3] .92 of the ceiling.
  const bool panels = line % column == 0 || column < lane_bytes;
  if (!shifts_lines(draft.target(), bytes) || row != line || !panels || rows < 0 || columns < 0 ||
      long_rows_stay_beside(draft, widest_source_loop(draft)) || !continues_rows(draft, rows)) {
    return false;
  }
  const int64_t chunk = shifted_chunk_lines, panel = line / column;
  const int64_t tile_chunks =
      evenly(whole_iterations(draft, rows) / chunk, most_shifted_run_bytes / line / chunk);
  const int64_t tile_panels = covering(whole_iterations(draft, columns) / panel,
                                       most_shifted_columns(bytes) * bytes / line);
  if (tile_chunks * chunk * line < draft.target().shifting_run_bytes || tile_panels < 2)
    return false;
  draft.mark(draft.split_off(rows, tile_chunks * chunk)) = Mark::target_run;
  draft.mark(draft.split_off(draft.next_in_run(1, column), tile_panels * panel)) = Mark::source_run;
  draft.schedule().claimed_ahead = claimed_ahead(draft, line, Rows::between_lines);
  draft.go_on(1);
  return true;
}

bool image_runs(Draft& draft) {
  const int64_t bytes = draft.space().op.bytes;
  if (!shifts_images(draft) || draft.contiguous(1) < 0 ||
      draft.contiguous(1) == draft.contiguous(0))
    return false;
  const int64_t columns = take_imaged_columns(draft);
  if (columns * bytes < least_imaged_column_bytes) return false;
  const int64_t most = most_imaged_run_bytes(columns, draft.target().line_bytes);
  if (take_imaged_run(draft, most) < least_imaged_run_bytes) return false;
  draft.schedule().network_column_bytes = columns * bytes;
  const int more = draft.next_in_run(1, columns * bytes);
  if (more >= 0) {
    const int64_t panels = panels_of_box(draft.loop(more).extent, draft.goal());
    draft.mark(draft.split_off(more, panels)) = Mark::source_run;
  }
  draft.go_on(1);
  draft.schedule().staging = Staging::images;
  return true;
}

bool makes_lines(Draft& draft, const Schedule& undecided) {
  if (draft.instead(undecided, [&] { return permute_lines(draft); })) return true;
  return draft.extent_bytes(0) + draft.extent_bytes(1) > draft.target().imaging_bytes &&
         draft.instead(undecided, [&] { return image_runs(draft); });
}

bool image_rows(Draft& draft) {
  const int64_t row = draft.loop(draft.contiguous(0)).extent * draft.space().op.bytes;
  // Of 4 targets of 20 to 30 MB 1.3 times the least time and .6 to .95 of the median, of 6 larger
  // ones .55 to 1 of both.
  const bool large = draft.extent_bytes(0) > 2 * draft.target().imaging_bytes;
  if (!shifts_images(draft) || !large || row >= least_imaged_run_bytes || repeats_source(draft))
    return false;
  return draft.instead(draft.schedule(), [&] { return take_imaged_rows(draft, row); });
}

}  // namespace restride::scheduling
