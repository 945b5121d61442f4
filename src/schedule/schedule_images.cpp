// Schedules of transposes that make images in L1, which leave wherever in a line they begin: of
// runs of the target that several loops make, and of short ones.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/arithmetic.hpp"
#include "microkernel/microkernel.hpp"
#include "schedule/block_sizes.hpp"
#include "schedule/box_order.hpp"
#include "schedule/imaged_run.hpp"
#include "schedule/l1_sets.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {
namespace {

// Of images of bytes half a line of the source: all of it is twice as slow, a quarter 1.1 times.
constexpr int64_t most_imaged_columns = 32;
// Where code would be long else; without images u8[50,90,112,88]{1,2,3,0} .37 -> .08 of the
// ceiling.
constexpr int64_t most_imaged_columns_of_small = 16;
// All columns that there are, if they are no more than this and have less than two lines: a line
// that two panels share is gone before the second one reads it. Zen 4, 52 problems with 17 to 39
// columns, most of f32, .9 of the time, .43 -> .48 of the ceiling: f32[10,12,33,10,42,19]
// {2,3,0,5,1,4} .28 -> .46, [47,7152,27] reversed .40 -> .63, u16[80,4,40,5,22,39]{4,0,3,1,2,5}
// .24 -> .44; 13 and 12 of f32[5,26,96,55,25]{1,2,3,4,0} together 1.3 times as long.
constexpr int64_t most_columns_together = 40;
// Elements of which twice as many come in half by half, or by whatever leaves no rest, if images
// are no pieces. 41 of f32[746,36,43,41]{0,2,1,3} .35 -> .47 of the ceiling. Of pieces 1.0 to 1.4
// times as long, of f64 9 and 8, or 11 and 11, 1.2 to 1.3, of one and two bytes 1.9 to 2.7.
constexpr int64_t halved_column_bytes = 4;
// Less of a source row than this at a time is worse than any other way: f32[51,32,87,32,2] .52 ->
// .19 of the ceiling, f16[4095,498,3] .50 -> .23; but f32[7,90,96,16,3] .22 -> .54.
constexpr int64_t least_imaged_column_bytes = 12;
// Of elements this wide, what also makes runs of the target is left to those, beyond the third
// level: Zen 4, 13 problems .67 of the time, .36 -> .52 of the ceiling, 16 bytes behind a line .70,
// f16[165,108,96,15]{1,2,3,0} .21 -> .58, f32[77,66,36,44,6]{2,3,4,1,0} .30 -> .60;
// u8[8920,512,12] reversed 1.5, in the third level f16[124,48,42,16]{0,2,1,3} 1.7.
constexpr int64_t least_run_first_element_bytes = 2;
// So do those of shorter ones that are transposed, but beyond the third level nothing else is as
// good. Zen 4, 6 problems with runs of 384 to 511 bytes .5 of the time: f32[80,31,25,6,19,5]
// {3,4,5,0,1,2} .17 -> .54 of the ceiling, u8[900,123900] from T(32,32) to {0,1} .15 -> .56; of 256
// bytes 1.2 times that of 384. Of 18 MB u8 464 x 19942 1.3.
constexpr int64_t least_large_run_bytes = 384;
// Where vectors are parts of lines, images are better than all else for much shorter ones, in the
// third level, too. With rows that touch (schedule_between_lines.cpp) 118 transposes of 14 to 150
// MB on Zen 3 .72 of the time, .34 -> .48 of the ceiling, 16 bytes behind a line and on two threads
// 26 in .73 and .57: u8[1840,7000]{0,1} .22 -> .30, [432,2655,13] reversed .12 -> .25, f32
// [328,104,90]{1,2,0} .32 -> .86. Of bytes runs of 64 took .82 of the time, of others the same.
constexpr int64_t least_halved_run_bytes = 128, least_halved_byte_run = 64;
// But few elements that lie side by side in the target or the source are rather permuted:
// f64[17,312,174,2]{0,2,1,3} .52 -> .13, f32[320,71,29,5]{1,2,0,3} .50 -> .17; 13 problems of three
// to seven bytes 1.13 times as long as images.
constexpr int64_t least_side_by_side = 8, least_bytes_side_by_side = 3;

// The widest that Make::wide_image_run_bytes is not for. Emerald Rapids: bytes 1.05 of the time,
// bf16 .74 to 1.08.
constexpr int64_t widest_narrow_element = 2;
// Where both ends of a run share a line with others, the next piece of a longer one goes on with
// what this one leaves: 27 random cases, most of f32, .87 of the time, geometric mean of the
// ceiling .58 -> .68; runs of whole lines 1.1 times as long, and so where rows lie beside the
// columns in the source. Rows are visited again where the next columns begin: so many pages of the
// source have their translations at hand until then.
constexpr int64_t most_pieces_pages = 2048;
// Unless boxes have so much of a row: f64[327,50,16,16]{1,0,2,3} .60 -> .76 of the ceiling. From
// 448 bytes on, Zen 4: four with rows or boxes of 112 columns .74 to .91 of the time,
// f32[54,53,9,7,224]{3,0,2,1,4} .40 -> .55 of the ceiling; [8,182,40,224]{1,2,0,3} 1.2.
constexpr int64_t least_left_bytes = 448;
// More of them save nothing.
constexpr int64_t most_pieces = 64;
// Panels of a box of which nothing is left; of those that have pieces whatever they have of a row.
constexpr int64_t most_panels = 8, most_panels_of_pieces = 16;
// Where runs of the target begin between lines, tiles of the source with fewer rows or fewer than
// twice as many columns are rather permuted into lines, and so are rows of less than a line that
// make longer runs. Zen 4, 70 problems, most of them from tiles, .62 of the time: f32[5809,3650]
// from T(32,32) to {0,1} .19 -> .43 of the ceiling, u8[17356,6700] from T(8,128) .20 -> .40,
// f32[45,32,714,32]{2,3,1,0} .27 -> .64, [112,104,19,28,8]{1,3,0,2,4} .26 -> .65. From T(4,4) and
// T(2,16) five 1.1 to 1.25, one .8; runs of more than a page, as of f32[937244,32]{0,1}, .8 to 1.5.
constexpr int64_t least_tile_rows = 4;
// Tiles of the source of less than a line by a line of the target at most are better read by many
// than by a panel of some, though runs are whole lines. Zen 4, 26 problems .5 of the time: f32
// [1280,8064] from T(8,8) to {0,1} .22 -> .64 of the ceiling, [7530,848] from T(4,4) to
// {0,1:T(8,128)} .27 -> .51, [48,32,40,16,8]{3,1,4,0,2} .27 -> .71, [512,512,3,3] to T(16,16,1,1)
// .67 -> .85. Columns of lines 1.0 to 1.9; of u8 and f16 more than a lane .6 to 1.8; where rows do
// not follow the columns in the source .4 to 2.4.
constexpr int64_t least_wide_tile_bytes = 4;

// Of two bytes, where vectors are parts of lines: a whole line makes runs half as long. Zen 3, nine
// matrices .91 of the time, nine permutations .81, f16[60,3,3,48,28,64]{2,3,1,4,5,0} .58.
constexpr int64_t most_narrow_columns = 16;
// Panels of whole vectors, of which a line has several, rather leave a rest behind so many. Zen 3,
// 40 matrices .945 of the time, u8[6745,5930] .48, [916,109170] .71.
constexpr int64_t least_panels_with_rest = 4;

// Images of longer runs: fewer of them ask for their ends, and come back to a page. Zen 3, 21
// matrices of 64 to 340 MB together .94 of the time, of c128 .88 (c128[2451,1034] .48 -> .58 of
// the ceiling), of f32 .98. Of two bytes 1.0, .88 to 1.18; of f32 whose rows crowd sets of L1 up to
// 1.19; rows of the source shorter than a page .99, .68 to 1.24; arrays that are smaller 1.0, .58
// to 1.54.
constexpr int64_t least_long_image_element_bytes = 4;

/// How many panels of columns that lie side by side make a box, whose lines are asked for together:
/// without a rest, which would be code of its own, or about four. (25 random cases of f32 in .96 of
/// the time that one takes; 8 the same.) Where code has to be short, or vectors are parts of lines,
/// one rather than a rest. (Zen 3, 14 matrices .98 of the time of four, 8 1.04, 16 1.07.)
int64_t panels_of_box(const Draft& draft, int64_t count) {
  for (const int64_t panels : {4, 5, 3, 6, 7, 8}) {
    if (count % panels == 0) return panels;
  }
  return draft.goal() == CodeGoal::small || halves_lines(draft) ? 1 : evenly_up(count, 4);
}

/// How many columns of a loop come in together rather than by panels of which the last has fewer; 0
/// if none do.
int64_t columns_together(const Draft& draft, int64_t extent, int64_t panel, Runs runs) {
  const int64_t bytes = draft.space().op.bytes, line = draft.target().line_bytes;
  const int64_t most = std::min((2 * line - 1) / bytes, most_columns_together);
  if (draft.goal() == CodeGoal::small || extent <= panel || extent % panel == 0) return 0;
  if (extent <= most) return extent;
  if (runs == Runs::pieces || bytes != halved_column_bytes || extent > 2 * most) return 0;
  return without_rest(extent, evenly_up(extent, most), least_of(panel, draft.goal()), most);
}

/// The loop that makes runs of the target longer than those of its first one, which more than
/// columns of `bytes` would take a part of; -1 if none is left to it.
int run_before_columns(const Draft& draft, int64_t bytes) {
  const int64_t element = draft.space().op.bytes;
  const bool large = draft.both_extent_bytes() > draft.target().l3_bytes;
  if (!large || element < least_run_first_element_bytes || bytes < least_imaged_column_bytes)
    return -1;
  return draft.next_in_run(0, draft.loop(draft.contiguous(0)).extent * element);
}

int64_t most_columns_of_panel(const Draft& draft) {
  if (halves_lines(draft))
    return draft.space().op.bytes == 2 ? most_narrow_columns : most_imaged_columns;
  return draft.goal() == CodeGoal::small ? most_imaged_columns_of_small : most_imaged_columns;
}

/// Marks loops that make a panel of columns of the source; returns how many.
int64_t take_imaged_columns(Draft& draft, Runs runs) {
  const int64_t bytes = draft.space().op.bytes;
  const int64_t most_columns = most_columns_of_panel(draft);
  const int64_t panel = std::min(draft.target().line_bytes / bytes, most_columns);
  int64_t columns = 1;
  for (int k = draft.contiguous(1); k >= 0 && k != draft.contiguous(0) && 2 * columns <= panel;
       k = draft.next_in_run(1, columns * bytes)) {
    if (columns > 1 && k == run_before_columns(draft, columns * bytes)) break;
    const int64_t extent = draft.loop(k).extent, most = panel / columns;
    int64_t count = columns == 1 ? columns_together(draft, extent, panel, runs) : 0;
    const bool leaves_rest = columns == 1 && extent > least_panels_with_rest * most;
    if (count == 0 && halves_lines(draft) && leaves_rest) count = most;
    if (count == 0) {
      const int64_t length = extent <= 2 * most ? evenly_up(extent, most) : most;
      count = without_rest(extent, length, least_of(length, draft.goal()), most);
    }
    const int inner = draft.split_off(k, count);
    draft.mark(inner) = Mark::source_run;
    columns *= draft.loop(inner).extent;
    if (draft.loop(inner).extent < extent) break;
  }
  return columns;
}

/// Whether images are rather pieces, however little of a row boxes have. Rows of the target that
/// may be shifted rather are: f32 of 784 to 936 bytes 1.13 to 1.26 times as long.
bool prefers_pieces(const Draft& draft) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes;
  return bytes >= target.piece_element_bytes &&
         draft.loop(draft.contiguous(0)).extent * bytes < target.shifting_run_bytes;
}

/// Marks more panels of the source, beside that of `columns` columns; with pieces of runs of `run`
/// bytes all of them, if they are `most` or fewer. Returns how many columns there are in all.
int64_t take_panels(Draft& draft, int64_t columns, int64_t run, Runs runs, int64_t most) {
  const int more = draft.next_in_run(1, columns * draft.space().op.bytes);
  if (more < 0) return columns;
  const int64_t extent = draft.loop(more).extent;
  const bool all = runs == Runs::pieces && extent <= most;
  const int inner = draft.split_off(more, all ? extent : panels_of_box(draft, extent));
  draft.mark(inner) = Mark::source_run;
  const int64_t bytes = draft.space().op.bytes, box = columns * draft.loop(inner).extent;
  const int beside = draft.next_in_run(1, box * bytes);
  const bool is_wide = draft.loop(inner).extent < extent || beside == draft.next_in_run(0, run);
  return is_wide ? box : widen_box(draft, box * bytes) / bytes;
}

/// Iterations of the loops outside of the tile.
int64_t iterations_outside(const Draft& draft) {
  int64_t iterations = 1;
  for (int k = 0; k < draft.loop_count(); ++k)
    iterations *= draft.mark(k) == Mark::outside ? draft.loop(k).extent : 1;
  return iterations;
}

/// Marks the loop that goes on where runs of `run` bytes end, so that these are pieces of longer
/// ones. False where there is none.
bool take_pieces(Draft& draft, int64_t run) {
  const int next = draft.next_in_run(0, run);
  if (next < 0 || !draft.movable_inside(next) || !draft.leaves_no_rest(next)) return false;
  const Loop& loop = draft.loop(next);
  const int64_t rows = run / draft.space().op.bytes;
  const int64_t stride = std::max<int64_t>(std::abs(loop.stride[1]), 1);
  const int64_t in_page = std::max<int64_t>(draft.target().page_bytes / stride, 1);
  int64_t pieces = std::min({loop.extent, most_pieces, iterations_outside(draft) / least_units,
                             std::max<int64_t>(most_pieces_pages / rows, 1) * in_page});
  while (pieces > 1 && loop.extent % pieces != 0) --pieces;
  if (pieces > 1) draft.mark(draft.split_off(next, pieces)) = Mark::target_run;
  return pieces > 1;
}

/// Whether few elements of a box lie side by side in the target or the source.
bool has_short_runs(const Draft& draft) {
  const int64_t bytes = draft.space().op.bytes;
  const int64_t least = bytes == 1 ? least_bytes_side_by_side : least_side_by_side;
  for (int k = 0; k < draft.loop_count(); ++k) {
    const Loop& loop = draft.loop(k);
    const bool first = draft.mark(k) == Mark::target_run   ? loop.stride[0] == bytes
                       : draft.mark(k) == Mark::source_run ? loop.stride[1] == bytes
                                                           : false;
    if (first && loop.extent < least) return true;
  }
  return false;
}

int64_t least_run_bytes(const Draft& draft) {
  if (halves_lines(draft)) {
    if (has_short_runs(draft)) return least_large_run_bytes;
    return draft.space().op.bytes == 1 ? least_halved_byte_run : least_halved_run_bytes;
  }
  const bool large = draft.both_extent_bytes() > draft.target().l3_bytes;
  const int64_t least = large ? least_large_run_bytes : least_imaged_run_bytes;
  const bool wide = draft.space().op.bytes > widest_narrow_element;
  return wide ? std::min(least, draft.target().wide_image_run_bytes) : least;
}

/// Whether images hold longer runs.
bool wants_long_images(const Draft& draft) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes;
  const Loop &down = draft.loop(draft.contiguous(0)), &across = draft.loop(draft.contiguous(1));
  const bool large = draft.both_extent_bytes() > 2 * target.l3_bytes;
  if (!halves_lines(draft) || !large || across.extent * bytes < target.page_bytes) return false;
  return bytes > least_long_image_element_bytes ||
         (bytes == least_long_image_element_bytes &&
          l1_holds_lines(target, down.stride[1], program::lane_bytes));
}

/// Runs of whole lines leave as they stand, and share none.
RunLimits run_limits(const Draft& draft, int64_t columns, bool is_long) {
  RunLimits limits{most_imaged_run_bytes(columns, draft.target(), is_long)};
  limits.whole_bytes = draft.target().whole_line_image_bytes;
  limits.least_whole_bytes = least_imaged_run_bytes;
  return limits;
}

bool take_images(Draft& draft, Runs runs) {
  const int64_t bytes = draft.space().op.bytes, line = draft.target().line_bytes;
  const bool is_long = wants_long_images(draft), any_box = prefers_pieces(draft);
  const int64_t columns = take_imaged_columns(draft, runs);
  if (columns * bytes < least_imaged_column_bytes) return false;
  const int64_t run = take_imaged_run(draft, run_limits(draft, columns, is_long), runs);
  if (run < least_run_bytes(draft)) return false;
  draft.schedule().network_column_bytes = columns * bytes;
  const int64_t box =
      take_panels(draft, columns, run, runs, any_box ? most_panels_of_pieces : most_panels);
  if (runs == Runs::pieces) {
    // What is beside the columns in the source comes next, be it the next piece: lines and pages
    // that are left for later are read again.
    const int beside = draft.next_in_run(1, box * bytes);
    const int64_t least = any_box ? 0 : least_left_bytes;
    const bool follows = beside < 0 || beside == draft.next_in_run(0, run) || box * bytes >= least;
    const bool shares_lines = run % line != 0 || !begins_lines(draft);
    if (!follows || !shares_lines || !can_image_pieces(run, columns, box, draft.target()) ||
        !take_pieces(draft, run))
      return false;
  }
  draft.go_on(1);
  draft.schedule().staging = Staging::images;
  draft.schedule().long_images = is_long;
  return true;
}

/// Whether there are runs of both operands, and images of those of the target can leave.
bool has_runs(const Draft& draft) { return shifts_images(draft) && draft.runs_cross(); }

}  // namespace

bool image_pieces(Draft& draft) {
  return has_runs(draft) &&
         draft.instead(draft.schedule(), [&] { return take_images(draft, Runs::pieces); });
}

bool image_runs(Draft& draft) {
  return image_pieces(draft) || (has_runs(draft) && take_images(draft, Runs::whole));
}

bool image_before_lines(Draft& draft) {
  if (!has_runs(draft)) return false;
  const int64_t bytes = draft.space().op.bytes, line = draft.target().line_bytes;
  const int64_t columns = draft.loop(draft.contiguous(1)).extent;
  const int64_t rows = draft.loop(draft.contiguous(0)).extent, run = rows * bytes;
  if (run > draft.target().page_bytes)
    return draft.target().images_long_runs && columns * bytes >= line / 2 && image_runs(draft);
  const bool fills = run < least_imaged_run_bytes ? std::min(rows, columns / 2) >= least_tile_rows
                                                  : columns * bytes >= line;
  return fills && image_runs(draft);
}

bool image_small_tiles(Draft& draft) {
  if (!has_runs(draft)) return false;
  const int64_t bytes = draft.space().op.bytes, line = draft.target().line_bytes;
  const int64_t column = draft.loop(draft.contiguous(1)).extent * bytes;
  const Loop& row = draft.loop(draft.contiguous(0));
  const bool narrow = bytes < least_wide_tile_bytes;
  const bool is_tile = row.stride[1] == column && column < line &&
                       (!narrow || column <= program::lane_bytes) &&
                       row.extent >= least_tile_rows && row.extent * bytes <= line;
  return is_tile && image_runs(draft);
}

}  // namespace restride::scheduling
