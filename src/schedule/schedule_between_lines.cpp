// Schedules of transposes whose rows of the target begin between lines, for arrays that do not stay
// in the caches: rows that touch leave together, long ones are shifted, others are put together
// first (schedule_images).
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/arithmetic.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/transpose/copied_run.hpp"
#include "microkernel/transpose/shifted_lines.hpp"
#include "program/program.hpp"
#include "schedule/box_order.hpp"
#include "schedule/claimed_lines.hpp"
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
// Columns of fewer bytes go through the caches. Zen 4, of 9 to 14 bytes eight of u8 and u16 of 70
// to 200 MB .79 of the time, 16 bytes behind a line .83: f16[256,48,320,7]{1,3,0,2} .27 -> .43 of
// the ceiling; three of f32 1.18 and 1.09.
constexpr int64_t least_touching_column_bytes(int64_t element_bytes) {
  return element_bytes <= 2 ? 9 : lane_bytes;
}

// Where others lie beside columns in the source, so that boxes are widened to so much at least,
// shorter ones than these are joined, and smaller matrices, of elements this wide in arrays beyond
// the third level; and so are few rows in twice as large ones. With boxes of prime numbers of
// columns, Zen 4, 19 problems .58 of the time, .42 -> .70 of the ceiling, 16 bytes behind a line
// .57, two threads .65: f32[29,16,11,56,17,9]{3,5,0,4,1,2} .25 -> .87,
// [96,4,35,18,20,7]{3,5,0,4,2,1} .29 -> .72, [7,80,29,17,5,30]{0,5,2,4,3,1} .37 -> .95. Six rows
// that make whole lines 1.1, of 35 MB 1.35.
constexpr int64_t least_widened_element_bytes = 2, least_widened_touching_bytes = 256;
constexpr int64_t least_widened_bytes = 128;
constexpr int64_t times_of_few_rows = 2;

// Rows that touch are shifted, so that some leave while others come in, where those of the source
// are so far apart that memory has to be asked all the time. Zen 5, 18 cases of f32 and f64 .90 of
// the time: f32[253,144,1032]{0,2,1} .53 -> .68 of the ceiling, f64[3,185,28,878]{1,3,2,0} .55 ->
// .71; runs of 530 to 620 bytes 1.01 to 1.19, rows 1 to 4 KB apart 1.07 to 1.45, u16 1.05 to 1.28.
constexpr int64_t least_shifted_touching_bytes = 4, least_shifted_touching_pitch = 8 * 1024;

// Where rows begin between lines, the longest. Each end of a run shares a line with another one: of
// 1 KB .63, of 2 KB .71 of the ceiling (geometric mean of 20 cases, in an earlier form of the
// code). What is read at both sides of a box should still be in the second level: of 8 KB .56, of 4
// KB .59 (of 6 cases, three times).
constexpr int64_t most_shifted_run_bytes = 4 * 1024;

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

// Rows of a few lines that the target goes on behind share both ends with others where they are
// shifted: images of several of them do not. f32[128,136,40,90]{1,2,0,3} .44 -> .71 of the ceiling,
// f32[140,61,48,90]{0,2,1,3} .36 -> .72, f32[128,150,40,90]{1,2,0,3} .68 of the time; rows of 800
// and 1312 bytes, images of one each, .93, of 560 1.03 times.
constexpr int64_t most_joined_row_bytes = 1024;

// Where a panel's lines do not crowd L1, shorter rows than so many times that are joined with
// others, or make images. Zen 4, 37 problems of 256 to 1023 bytes .80 of the time, .46 -> .58 of
// the ceiling: f32[80,20,10,26,5,9] reversed .13 -> .52, f64[27,96,16,333]{1,3,2,0} .31 -> .77,
// 4000 x 4000 to T(8,128) .34 -> .70; f64[64,112,342] reversed 1.15. Crowded ones rather are: 4096
// x 4096 to T(8,128) 1.2, u8 512 x 8192 1.9 times as long.
constexpr int64_t times_of_loose_rows = 4;

// Rows of the source that lie closer together are better read far down, box by box as runs are
// shifted: Zen 5, f32[28,28,4,352,48]{3,1,4,0,2} (192 bytes apart) 1.19 times as long by boxes,
// [8,56,56,256]{2,1,3,0} (1 KB) 1.23, [50,512,700]{1,2,0} (2.8 KB) .80, 7264 x 7264 .65.
constexpr int64_t least_apart_bytes = 1280;
// So are narrow ones, unless they crowd sets of the caches: u16 9000 x 2048 1.16, 8192 x 8192 .74,
// u8 4096 x 4096 .75.
constexpr int64_t narrow_boxed_bytes = 2;

// Boxes of two panels ask for two lines of a row at a time: with three u16 4161 x 4161 .37 -> .44
// of the ceiling, u8 .33 -> .35.
constexpr int64_t least_panels = 3;

/// Whether a box of columns of `column` bytes grows by what lies beside them.
bool widens(const Draft& draft, int64_t column) {
  const int beside = draft.next_in_run(1, column);
  return shifts_images(draft) && draft.space().op.bytes >= least_widened_element_bytes &&
         draft.both_extent_bytes() > draft.target().l3_bytes && beside >= 0 &&
         draft.leaves_no_rest(beside) && draft.loop(beside).extent * column >= least_widened_bytes;
}

/// Whether rows of `run` bytes that touch along so few columns are worth joining.
bool joins_short_columns(const Draft& draft, int64_t run, int64_t count) {
  const int64_t bytes = draft.space().op.bytes, column = count * bytes;
  const bool wide = widens(draft, column);
  const int64_t least = wide ? least_widened_touching_bytes : least_touching_bytes;
  return (wide || column >= least_touching_column_bytes(bytes)) &&
         run >= least_touching_run_bytes && count * run >= least;
}

/// The length of tiles of half of `most` and more, and of `least`, that cover the most of `count`;
/// 0 if there are fewer.
int64_t covering(int64_t count, int64_t least, int64_t most) {
  int64_t best = most;
  for (int64_t length = most; 2 * length >= most && length >= least; --length) {
    if (count / length * length > count / best * best) best = length;
  }
  return count < best ? 0 : best;
}

bool is_padded(const Draft& draft, const Loop& loop) {
  const Axis& axis = draft.space().axes[static_cast<size_t>(loop.axis)];
  return axis.valid < axis.padded;
}

// Where rows touch, padding comes to images with them; it had gone through the caches. Zen 4, 10
// problems of 26 to 53 MB .40 of the time, .26 -> .65 of the ceiling, 16 bytes behind a line .36,
// two threads .43: u8[200,65000] to rows of 208 .20 -> .49, f32[24,165000] to 28 .10 -> .98.

/// Whether rows and columns of these loops touch and begin between lines, and are small enough for
/// an image in L1.
bool touch_between_lines(const Draft& draft, int row, int column) {
  const int64_t bytes = draft.space().op.bytes, line = draft.target().line_bytes;
  const int64_t extent = draft.loop(row).extent, run = extent * bytes;
  const Axis& axis = draft.space().axes[static_cast<size_t>(draft.loop(row).axis)];
  const bool whole = axis.valid > 0 && axis.padded == extent;
  const bool between = run % line != 0 || !draft.begins_line();
  const bool touch = draft.loop(column).stride[0] == run && between;
  // Whole vectors leave without masks. Zen 3, nine transposes of 12 to 200 MB .61 of the time, .46
  // -> .74 of the ceiling.
  const bool leaves =
      masks_lines(draft.target()) || draft.begins_line() || copies_to_lines(draft.target());
  return draft.schedule().nontemporal && leaves && whole && touch &&
         line / bytes * run <= program::scratch_in_l1_bytes;
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

/// The same of shorter ones. Where vectors are parts of lines none that leave around the caches
/// do: Zen 3, 106 transposes of 14 to 21 MB .89 of the time, .56 -> .63 of the ceiling, u8
/// [152,1809,34]{0,2,1} .14 -> .40.
bool short_rows_stay_beside(const Draft& draft) {
  if (!halves_lines(draft)) return stays_beside(draft);
  return draft.both_extent_bytes() <= draft.target().transposed_streaming_bytes;
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

/// Rows that come in at a time where they are shifted.
int64_t shifted_chunk_rows(const Draft& draft) {
  const int64_t bytes = draft.space().op.bytes;
  return shifted_chunk_lines(draft.target(), bytes) * draft.target().line_bytes / bytes;
}

/// Marks a loop that makes rows to be shifted, in as few pieces of the longest, or an eighth more,
/// as there can be: whole chunks, but for the last one, or with a rest where that one would be code
/// of its own which has to be short. Returns how many bytes they have.
int64_t take_shifted_rows(Draft& draft) {
  const int k = draft.contiguous(0);
  const int64_t bytes = draft.space().op.bytes;
  const int64_t chunk = shifted_chunk_rows(draft);
  const int64_t count = whole_iterations(draft, k);
  const int64_t pieces = ceil_div(8 * count * bytes, 9 * most_shifted_run_bytes);
  const bool alike = pieces > 1 && draft.goal() == CodeGoal::small;
  const int64_t chunks = alike ? count / pieces / chunk : ceil_div(ceil_div(count, pieces), chunk);
  draft.mark(draft.split_off(k, chunks * chunk)) = Mark::target_run;
  return std::min(count, chunks * chunk) * bytes;
}

/// Whether rows of the source begin between lines, too, and panels would read the lines of a row
/// again and again, which meet in few sets of L1.
bool gathers_rows(const Draft& draft) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes;
  const int64_t pitch = std::abs(draft.loop(finest_loop(draft, 0)).stride[1]);
  return bytes <= target.gathered_row_element_bytes && pitch % target.line_bytes != 0 &&
         !l1_holds_lines(target, pitch, shifted_chunk_rows(draft));
}

/// Marks loops that make some panels of the source beside these rows. False where there are not
/// two.
bool take_shifted_columns(Draft& draft) {
  const int64_t bytes = draft.space().op.bytes, line = draft.target().line_bytes;
  const int64_t column =
      draft.take_run(1, bytes, draft.schedule().network_column_bytes, Mark::source_run);
  const int k = draft.next_in_run(1, column);
  // Very short columns go through the caches in the same boxes: f32[600,2050,3] .92 of the ceiling.
  if (k < 0 || (line % column != 0 && column >= lane_bytes)) return false;
  const int64_t panel = line / column;
  const int64_t count = whole_iterations(draft, k) / panel;
  const int64_t most = most_shifted_columns(bytes) * bytes / line;
  // Where code has to be short, rather two than a rest.
  const bool wide = draft.goal() != CodeGoal::small && count >= least_panels;
  const int64_t panels = covering(count, wide ? std::min(least_panels, most) : 2, most);
  if (panels < 2) return false;
  draft.mark(draft.split_off(k, panels * panel)) = Mark::source_run;
  draft.schedule().claimed_ahead = claimed_ahead(draft, line, Rows::between_lines);
  if (gathers_rows(draft)) draft.schedule().staging = Staging::panels_of_gathered_rows;
  draft.go_on(1);
  return true;
}

}  // namespace

bool shifts_touching_rows(const Draft& draft) {
  const int64_t bytes = draft.space().op.bytes;
  const int row = draft.contiguous(0), column = draft.contiguous(1);
  if (!draft.runs_cross() || bytes < least_shifted_touching_bytes) return false;
  const Loop& loop = draft.loop(row);
  const Target& target = draft.target();
  const bool far = std::abs(loop.stride[1]) >= least_shifted_touching_pitch;
  const bool shifts = (far && loop.extent * bytes >= target.shifted_touching_run_bytes) ||
                      loop.extent * target.line_bytes >= target.shifted_touching_image_bytes;
  return shifts && masks_lines(target) && touch_between_lines(draft, row, column) &&
         !is_padded(draft, loop);
}

bool touching_rows(Draft& draft) {
  const int64_t bytes = draft.space().op.bytes;
  const int row = draft.contiguous(0), column = draft.contiguous(1);
  if (!draft.runs_cross() || !touch_between_lines(draft, row, column) ||
      shifts_touching_rows(draft))
    return false;
  const int64_t run = draft.loop(row).extent * bytes;
  const int64_t columns = streamed_columns(bytes), count = draft.loop(column).extent;
  const bool is_short = run < draft.target().shifting_run_bytes;
  if (is_short ? short_rows_stay_beside(draft) : long_rows_stay_beside(draft, column)) return false;
  const bool padded = is_padded(draft, draft.loop(row)), masks = masks_lines(draft.target());
  const bool shifts = shifts_images(draft) && (masks || !others_begin_lines(draft, row, column));
  if ((padded && !masks) ||
      (!shifts && (count < columns || !others_begin_lines(draft, row, column))))
    return false;
  if (count < columns) {
    // Rows of whole lines, of less than a line each of the source, are no better off together: f32
    // from columns to T(8,128) 1.5 times as long; u16[2000,64,64]{1,2,0}, two lines each, .65
    // times. Behind a line those of one and two bytes would go through the caches: f16[6144,9888]
    // to {0,1:T(8,128)} .17 -> .51 of the ceiling.
    const int64_t line = draft.target().line_bytes;
    const bool through_caches = bytes <= narrow_boxed_bytes && !draft.begins_line();
    if (run % line == 0 && count * bytes < line && !through_caches) return false;
    if (permutes(draft) && permute_dense_block(draft)) return true;
    if (!joins_short_columns(draft, run, count)) return false;
  }
  const bool few = draft.loop(row).extent <= few_rows || run < narrow_run_bytes;
  const bool large = draft.both_extent_bytes() > times_of_few_rows * draft.target().l3_bytes;
  const bool rather_joined = large && count < columns && bytes >= least_widened_element_bytes;
  if (few && !rather_joined && permutes(draft) && permute(draft)) return true;
  draft.schedule().fills_images = padded;
  draft.mark(row) = Mark::target_run;
  draft.schedule().wide_panels = wants_wide_panels(draft);
  const int taken = draft.split_off(column, columns);
  draft.mark(taken) = Mark::source_run;
  if (shifts) widen_box(draft, draft.loop(taken).extent * bytes, Rests::some);
  draft.go_on(1);
  return true;
}

bool shifts_boxes(const Draft& draft) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes, line = target.line_bytes;
  const int row = draft.contiguous(0);
  if (!draft.schedule().nontemporal || draft.begins_line() || draft.goal() != CodeGoal::fast ||
      !draft.runs_cross()) {
    return false;
  }
  const int64_t run = draft.loop(row).extent * bytes;
  const int64_t apart = std::abs(draft.loop(row).stride[1]);
  const bool crowds = !l1_holds_lines(target, apart, line / bytes);
  if (run / (crowds ? 1 : times_of_loose_rows) < target.shifted_box_bytes || run % line != 0 ||
      bytes >= lane_bytes || !std::has_single_bit(static_cast<uint64_t>(bytes)) ||
      !shifts_lines(target, bytes)) {
    return false;
  }
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (k != row && draft.loop(k).stride[0] % line != 0) return false;
  }
  if (apart < least_apart_bytes) return false;
  return bytes > narrow_boxed_bytes || crowds_sets(draft);
}

bool shift(Draft& draft, const Schedule& undecided, int64_t row) {
  const int64_t bytes = draft.space().op.bytes, line = draft.target().line_bytes;
  const int rows = draft.next_in_run(0, row);
  if (!shifts_lines(draft.target(), bytes) || row != line || rows < 0 ||
      long_rows_stay_beside(draft, widest_source_loop(draft)) || !continues_rows(draft, rows)) {
    return false;
  }
  return draft.instead(undecided, [&] {
    return take_shifted_rows(draft) >= draft.target().shifting_run_bytes &&
           take_shifted_columns(draft);
  });
}

bool joins_rows(Draft& draft, const Schedule& undecided) {
  if (stays_beside(draft)) return false;
  return draft.instead(undecided, [&] {
    const int row = draft.contiguous(0);
    return row >= 0 && draft.loop(row).extent * draft.space().op.bytes <= most_joined_row_bytes &&
           image_pieces(draft);
  });
}

bool makes_lines(Draft& draft, const Schedule& undecided) {
  const bool large = !stays_beside(draft);
  if (large && draft.instead(undecided, [&] { return image_before_lines(draft); })) return true;
  if (draft.instead(undecided, [&] { return permute_lines(draft); })) return true;
  return large && draft.instead(undecided, [&] { return image_runs(draft); });
}

}  // namespace restride::scheduling
