// See transpose_blocks.hpp.
#include "schedule/transpose_blocks.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/arithmetic.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/transpose/shifted_lines.hpp"
#include "schedule/block_sizes.hpp"
#include "schedule/l1_sets.hpp"
#include "schedule/questions.hpp"
#include "schedule/shared_places.hpp"

namespace restride::scheduling {

namespace {

// Where arrays stream: two lines of the target by eight of the source. Measured on Emerald Rapids,
// geometric mean of the ceiling for 14 cases of f32: 32 x 128 .76, 64 x 128 .70, 64 x 256 .66.
constexpr int64_t streamed_row_bytes = 128;

// See Make::streamed_column_bytes.
constexpr int64_t least_far_read_bytes = 2, widest_near_bytes = 4, near_column_bytes = 256;

/// How much of each row of the source is read by a box. Rows that begin between lines share their
/// ends with the next box, and narrow columns of the target that lie side by side are written one
/// behind the other anyway, if they are of one digit.
int64_t far_read_bytes(const Draft& draft) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes, near_read = streamed_columns(bytes) * bytes;
  const int across = widest_source_loop(draft);
  if (bytes < least_far_read_bytes || across < 0 || row_pitch(draft) % target.line_bytes != 0)
    return near_read;
  // Zen 3, 44 problems with such columns .83 of the time, .88 with 512 bytes; 31 others .74 and .85
  // with 128.
  if (columns_share_places(draft)) return spread_column_bytes;
  const Loop& loop = draft.loop(across);
  const Axis& digit = draft.space().axes[static_cast<size_t>(loop.axis)];
  if (digit.valid * bytes < target.streamed_column_bytes) return target.streamed_digits_bytes;
  const bool near = bytes <= widest_near_bytes && std::abs(loop.stride[0]) <= near_column_bytes;
  return near ? near_read : target.streamed_column_bytes;
}

// In the caches a network follows the other as the lines lie. u16 64 x 64 .65 for 128 x 256 .61, u8
// .62 for .61, f32 .68 for .67; but longer runs of wide ones: f64 256 x 256 .79 -> .82, c128 .85 ->
// .91, 257 x 130 .75 -> .94.
constexpr int64_t cached_rows_of_wide = 256, cached_rows_of_narrow = 64;

/// Rows of a block in the caches. The network beside comes back to the last line of each row that
/// begins between lines: half of L1 holds both lines of all rows. Zen 4, 34 such transposes of f64
/// and c128 in .93 of the time of blocks of 256 rows: f64[4264,127] .75 -> .88
/// of the ceiling, [208,333] .79 -> .96; 57 whose rows are whole lines 1.01.
int64_t cached_rows(const Draft& draft) {
  if (draft.space().op.bytes < 8) return cached_rows_of_narrow;
  const int64_t line = draft.target().line_bytes;
  const bool shared = row_pitch(draft) % line != 0;
  const int64_t held = static_cast<int64_t>(
      std::bit_floor(static_cast<uint64_t>(draft.target().l1_bytes / (2 * 2 * line))));
  return shared ? std::clamp(held, cached_rows_of_narrow, cached_rows_of_wide)
                : cached_rows_of_wide;
}

// Where arrays do not stay there, but rows that begin between lines are too short to be shifted:
// .41 of the ceiling (geometric mean of 16 cases of three and four dimensions), 64 x 64 with the
// target going on .36.
constexpr Block uncached_block = {128, 64};

// Fewer columns take too little of each row of the source. Zen 5, of the ceiling: u32[24,64,64]
// reversed .09 -> .46, u64[12,128,64] .09 -> .53 (16 columns .25), u16 2049 x 128 .07 -> .31 (.14).
constexpr int64_t least_kept_columns = 8;

/// Columns of a block in the caches: where short rows begin between lines, as many as sets of L1
/// have room for, since the next row goes on in their last lines.
int64_t kept_columns(const Draft& draft) {
  const int across = widest_source_loop(draft);
  int64_t columns = cached_columns;
  if (across < 0 || short_row_bytes(draft) == 0 || begins_lines(draft)) return columns;
  const Loop& loop = draft.loop(across);
  const int64_t digit = draft.space().axes[static_cast<size_t>(loop.axis)].valid;
  while (columns > least_kept_columns &&
         !l1_holds_lines(draft.target(), loop.stride[0], std::min(columns, digit)))
    columns /= 2;
  return columns;
}

/// Runs that leave between lines share both ends with others: of 256 bytes, f32[96,75,75,96]
/// reversed .50 of the ceiling, 7264 x 7264 .66; of 512 .66 and .69; of 768 7264 x 7264 .36. Panels
/// of bytes are larger: u8 4096 x 4096 .37, .12.
constexpr int64_t shifted_run_bytes(int64_t element_bytes) {
  return element_bytes == 1 ? 256 : 512;
}

/// Whether rows of which runs of `row` bytes are taken, and go on in loop `next`, are all there is
/// in the source, one behind the other.
bool rows_touch(const Draft& draft, int64_t row, int next) {
  const int column = widest_source_loop(draft);
  if (column < 0) return false;
  const Axis& axis = draft.space().axes[static_cast<size_t>(draft.loop(column).axis)];
  return draft.loop(next).stride[1] == row * axis.valid;
}

// Blocks below each other that make it worth to walk along rows of the source first: u8[127,250]
// 65 times 1.13 of the time with two, u8[127,1000] .80 with three.
constexpr int64_t least_blocks_below = 3;

// Of rows of whole lines the processor reads ahead better if all of them is walked along. 91
// transposes to lines, u8 .94 of the time (u8[16512,576] .25 -> .34 of the ceiling, [4800,1088] .61
// -> .69), u16 .97, f32 .99, f64 1.01; if the target begins between lines u8[869,448] 1.25,
// u16 1.02. Rows of 192 and 256 bytes 1.03.
constexpr int64_t widest_walked_along = 2, least_walked_bytes = 320;

/// Whether rows of the target's finest digit are shorter than a line, and come out of rows of the
/// source that lie half a page and more apart. Emerald Rapids, 50 transposes of u8 and u16, none of
/// whose digits are cut, in .89 of the time: u16[24,15,1025] reversed .35 -> .47 of the ceiling,
/// u8[24,16,1023] .33 -> .43; nearer ones 1.1 to 1.4, longer rows up to 1.7.
bool has_short_rows_apart(const Draft& draft) {
  const int64_t row = short_row_bytes(draft);
  return row > 0 && row < draft.target().line_bytes &&
         row_pitch(draft) >= draft.target().page_bytes / 2;
}

/// How long digits of the source may be that blocks in the caches do not cut, behind runs of the
/// target of `row` bytes. Rows that begin between lines share these with the block beside them,
/// which would come to them after all other rows, and what is left of a digit would be another walk
/// over all of them. No more than the columns of the target that have translations at hand. Zen 4,
/// 210 transposes of .1 to 20 MB in .94 of the time: u8 784 x 512 .67 -> .84 of the ceiling,
/// u8[60056,66] .48 -> .60, [21216,200] .42 -> .62, [5760,1000] .37 -> .52, u16[30648,65] .53 ->
/// .67, f32[4800,333] .71 -> .86; more columns than have translations 1.03. Where lines of the
/// target are asked for, fewer columns have room in L1, so rows of it are to be short: see
/// has_short_rows_apart.
int64_t uncut_digit_bytes(const Draft& draft, int64_t row, bool walks) {
  const Target& target = draft.target();
  const int across = widest_source_loop(draft), next = draft.next_in_run(0, row);
  const int64_t bytes = draft.space().op.bytes, pitch = row_pitch(draft);
  if (target.claims_transposed_lines && !has_short_rows_apart(draft)) return 0;
  if (pitch == 0 || across < 0 || next < 0) return 0;
  if (draft.loop(next).extent < least_blocks_below) return 0;
  const bool along = walks || bytes <= widest_walked_along;
  const bool walked_along = along && pitch >= least_walked_bytes && begins_lines(draft);
  const Axis& digit = draft.space().axes[static_cast<size_t>(draft.loop(across).axis)];
  const bool shares =
      pitch % target.line_bytes != 0 || digit.valid * bytes % target.line_bytes != 0;
  if (!shares && !walked_along) return 0;
  const int64_t column_pitch = std::abs(draft.loop(across).stride[0]);
  // Columns that fill sets of L1: Zen 5, u8 1024 x 4206 .56 -> .31 of the ceiling; more so where
  // lines are written in parts, with AVX2 512 x 784 .36 -> .22.
  const int64_t held = cached_columns * (target.line_bytes / target.vector_bytes);
  if (!l1_holds_lines(target, column_pitch, std::min(held, digit.valid))) return 0;
  const int64_t apart = std::min(column_pitch, target.page_bytes);
  const int64_t columns = target.translated_pages * target.page_bytes / std::max(apart, int64_t{1});
  return columns * bytes;
}

/// How long runs of the source are to be, of `column` bytes so far: as a block, or longer if that
/// leaves a digit whole.
int64_t uncut_columns(const Draft& draft, int64_t row, int64_t column, const Block& block) {
  const int64_t wanted = block.columns * draft.space().op.bytes;
  if (draft.goal() == CodeGoal::small) return wanted;
  const int64_t most = draft.schedule().nontemporal ? draft.target().uncut_run_bytes
                                                    : uncut_digit_bytes(draft, row, block.walks);
  int64_t whole = column;
  for (int k; (k = draft.next_in_run(1, whole)) >= 0;) {
    const int64_t longer = whole * draft.loop(k).extent;
    if (longer > most) break;
    whole = longer;
  }
  return std::max(whole, wanted);
}

// See Make::touching_rows_run_bytes. Beside rows shorter than a line those of the target are taken
// whole up to so many bytes, and so much of longer ones if elements have two bytes:
// f16[1000000,16] .78 of the time, u8[2000000,32] 1.9, f32[1000000,12] 1.4. Beside rows of a line
// f16[300,4096,32] 2.3.
constexpr int64_t short_rows_run_bytes = 1024, long_beside_short_bytes = 2;
constexpr int64_t least_beside_lines_bytes = 4, widest_long_bytes = 8;

/// How long runs of the target are to be, behind `row` bytes of which they go on in loop `next`,
/// where rows of the source are all there is in it and are a line or less; 0: as others.
int64_t run_beside_short_rows(const Draft& draft, int64_t row, int next) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes, pitch = row_pitch(draft);
  if (bytes > widest_long_bytes || pitch > target.line_bytes || !rows_touch(draft, row, next))
    return 0;
  const int64_t all = row * draft.loop(next).extent, most = target.touching_rows_run_bytes;
  if (pitch == target.line_bytes)
    return bytes >= least_beside_lines_bytes ? std::min(all, most) : 0;
  if (all > short_rows_run_bytes && bytes != long_beside_short_bytes) return 0;
  return std::min({all, most, short_rows_run_bytes});
}

// See Make::far_long_run_bytes. Of longer rows f32 2320 x 59 x 384 reversed takes 1.12 times as
// long, 2320 x 32 x 512 1.2 to 1.35.
constexpr int64_t far_rows_bytes = 4, far_pages = 4, most_far_lines = 24;

// Rows of the target stay whole where their box is small, if its columns lie pages apart or it has
// few rows, of wide elements. Zen 4, 37 problems of 80 to 250 MB in .87 of the time: f32[128,480,
// 640] reversed .6 -> .95 of the ceiling, f64[88,300,640] .60 -> .90, f32[192,100,25,80]{0,2,1,3}
// .52 -> .86; f64 72 to 208 x 100000 .85, f32 112 to 256 x 100000 1.03, 256 x 18000 1.45. Boxes of
// 160 to 300 KB f32[320,200,640] reversed 1.4 to 1.6, 384 rows 1.16. AVX2 1.01 of 16.
constexpr int64_t whole_row_bytes = 8;

/// Whether rows of a source of elements that are not narrow lie pages apart.
bool rows_lie_apart(const Draft& draft) {
  return draft.space().op.bytes >= far_rows_bytes &&
         row_pitch(draft) >= far_pages * draft.target().page_bytes;
}

/// Whether columns have less than two lines and the source goes on behind them along runs of the
/// target, as filters do in tiles of their channels.
bool source_goes_on_along_runs(const Draft& draft) {
  const int across = finest_loop(draft, 1);
  if (across < 0) return false;
  const Axis& axis = draft.space().axes[static_cast<size_t>(draft.loop(across).axis)];
  const int64_t columns = axis.valid * draft.space().op.bytes;
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (draft.loop(k).stride[1] == columns && draft.mark(k) != Mark::target_run) return false;
  }
  return columns < 2 * draft.target().line_bytes;
}

/// How long runs of the target are to be, of `all` bytes there are, where more than two lines pay,
/// in boxes with runs of the source of `column` bytes.
int64_t long_run_bytes(const Draft& draft, int64_t all, int64_t column) {
  const Target& target = draft.target();
  const int64_t line = target.line_bytes, lines = all / line;
  if (takes_whole_rows(draft, all, column)) return std::max(all, target.long_run_bytes);
  if (all <= target.run_along_source_bytes && source_goes_on_along_runs(draft))
    return std::max(all, target.long_run_bytes);
  if (!rows_lie_apart(draft) || lines > most_far_lines) return target.long_run_bytes;
  for (int64_t run = target.far_long_run_bytes; run > target.long_run_bytes; run -= line) {
    if (all % run == 0) return run;
  }
  return target.long_run_bytes;
}

// Columns that are left of a digit are staged with others only where panels are as full as this:
// f16[32,1024,16,80]{1,2,3,0} .78 -> .85 of the ceiling; other shares are not measured.
constexpr int64_t fullness_numerator = 3, fullness_denominator = 4;

/// Of `wanted` bytes what the innermost digit of the source has, behind runs of `column` bytes, if
/// it makes no whole lines and what is left of it fills a panel.
int64_t columns_of_panels(const Draft& draft, int64_t column, int64_t wanted) {
  const int first = widest_source_loop(draft), next = draft.next_in_run(1, column);
  if (first < 0 || next < 0 || draft.loop(first).axis != draft.loop(next).axis) return wanted;
  const Loop& loop = draft.loop(next);
  const Axis& axis = draft.space().axes[static_cast<size_t>(loop.axis)];
  const int64_t line = draft.target().line_bytes;
  const int64_t digit = std::min(axis.valid, loop.extent * loop.step) * draft.space().op.bytes;
  const int64_t panels = ceil_div(digit, line) * line;
  const bool full = fullness_denominator * digit >= fullness_numerator * panels;
  return digit != panels && full ? std::min(wanted, panels) : wanted;
}

}  // namespace

Block block_of_networks(const Draft& draft, bool streams, bool crowds, int64_t walked) {
  const int64_t bytes = draft.space().op.bytes;
  const bool nontemporal = draft.schedule().nontemporal, small = draft.goal() == CodeGoal::small;
  // Parts of lines by themselves: Zen 3, u8 8000 x 6016 .19 of the ceiling, whole ones .41; 4160 x
  // 4096 .21 and .25.
  if (small && nontemporal && halves_lines(draft))
    return {draft.target().line_bytes / bytes, far_read_bytes(draft) / bytes};
  if (small)
    return {draft.target().vector_bytes / bytes, draft.schedule().network_column_bytes / bytes};
  if (wants_strips(draft)) return {streamed_row_bytes / bytes, draft.target().line_bytes / bytes};
  if (nontemporal) return {streamed_row_bytes / bytes, far_read_bytes(draft) / bytes};
  if (streams) return uncached_block;
  if (columns_meet(draft))
    return {2 * draft.target().line_bytes / bytes, kept_columns(draft), walked > 0, true};
  if (walked > 0) return {walked, kept_columns(draft), true};
  return {crowds ? crowded_rows(draft.target(), bytes) : cached_rows(draft), kept_columns(draft)};
}

bool takes_whole_rows(const Draft& draft, int64_t all, int64_t column) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes;
  const int across = finest_loop(draft, 1);
  if (across < 0 || !rows_lie_apart(draft) || all % target.line_bytes != 0) return false;
  if (target.vector_bytes != target.line_bytes) return false;
  const bool apart = std::abs(draft.loop(across).stride[0]) >= target.page_bytes;
  return (apart || bytes >= whole_row_bytes) && all / bytes * column <= target.whole_row_box_bytes;
}

int64_t long_rows(const Draft& draft, int64_t row, int64_t column, const Block& block,
                  bool crowds) {
  const int64_t bytes = draft.space().op.bytes;
  const int next = draft.next_in_run(0, row);
  if (!draft.schedule().nontemporal || draft.goal() == CodeGoal::small || next < 0) return 0;
  if (draft.schedule().shifts_runs)
    return std::min(row * draft.loop(next).extent, shifted_run_bytes(bytes)) / bytes;
  const int64_t beside = run_beside_short_rows(draft, row, next);
  if (beside > 0) return beside / bytes;
  const int64_t spread = spread_run_bytes(draft, row);
  if (spread > 0) return spread / bytes;
  // Panels of so many bytes fill L1: u8 2048 x 2048 .41 -> .65 of the ceiling, 4096 x 4096 .59 ->
  // .72, but [64,512,56,56]{1,3,2,0} .83 -> .67.
  if (bytes == 1 && !crowds) return 0;
  const int64_t all = row * draft.loop(next).extent;
  const int64_t most = long_run_bytes(draft, all, columns_wanted(draft, row, column, block));
  const bool long_columns = goes_on(draft, 1, column, streamed_columns(bytes) * bytes);
  if (long_columns) return std::min(all, most) / bytes;
  // Half as many more rather than two parts.
  if (2 * all <= 3 * most) return all / bytes;
  return rows_touch(draft, row, next) ? most / bytes : 0;
}

bool stages_rests(const Draft& draft) {
  return draft.schedule().nontemporal && draft.space().op.bytes <= widest_rest_bytes &&
         masks_lines(draft.target());
}

int64_t columns_wanted(const Draft& draft, int64_t row, int64_t column, const Block& block) {
  if (wants_strips(draft)) return block.columns * draft.space().op.bytes;
  const int64_t wanted = uncut_columns(draft, row, column, block);
  const bool panels = stages_rests(draft) && row > draft.target().line_bytes;
  return panels ? columns_of_panels(draft, column, wanted) : wanted;
}

Length column_length(const Draft& draft) {
  if (draft.goal() == CodeGoal::small) return Length::without_rest;
  return draft.schedule().nontemporal ? Length::quarter_more : Length::at_most;
}

}  // namespace restride::scheduling
