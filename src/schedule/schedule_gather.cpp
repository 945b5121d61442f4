// Schedules of transposes by way of scratch: where elements of the source lie apart, to be dense,
// where its rows crowd sets of L1, to be read once, or where columns of the target do, to be
// written once.
//
//     source                 scratch        target
//     a . b . c . d .        a b c d        a e
//     e . f . g . h .        e f g h        b f ...
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "program/program.hpp"
#include "schedule/block_sizes.hpp"
#include "schedule/l1_sets.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {
namespace {

// Elements that lie apart make blocks that L1 holds beside other things.
constexpr int64_t apart_bytes = 8 * 1024;
// Elements of a source that lie apart come in from so much of it at a time: 15 transposes with 256
// bytes in .34 of the time of element by element, 512 .41, 1024 .38, 2048 .43.
constexpr int64_t apart_column_bytes = 256;

// Around the caches, so much of each row that is a power of two away from the next one comes to
// scratch at a time, in blocks without rests. Zen 4, 10 problems of 34 to 160 MB .63 of the time:
// u8 256 x 256 x 256 reversed .21 -> .35 of the ceiling, u16 .22 -> .40, u8[128,64,64,64]{0,2,3,1}
// .28 -> .50; not asked for .55 to .8 of it, 6 to 24 rows ahead the same. Where rows are 3 * 64 KB
// apart .9 and 1.59; f32 and f64 .75 to 1.6; pairs of bytes in runs of the target less than a page
// apart 1.13 to 1.31; runs of the target of one line .8 to 1.33; arrays that the third level holds
// 1.0 to 1.2.
constexpr int64_t widest_streamed_bytes = 2, streamed_run_bytes = 512, streamed_rows_ahead = 12;
constexpr int64_t least_streamed_pitch = 64 * 1024;

// Runs of bytes that are no whole lines, and whose rows are pages apart, are as slow by images. Zen
// 5, 20 of 41 to 131 MB .54 of the time: u8[333,128,1024] reversed .03 -> .29 of the ceiling,
// [333,76,1024] .07 -> .28, [405,72,2048] .12 -> .30, [250,96,1024] .16 -> .26; of 700 bytes 1.18,
// of 1000 1.14, of u16 1.1 to 1.55. With all blocks alike, if fewer rows each, 1.05 of that.
// Their blocks may leave rests.
constexpr int64_t most_uneven_run_bytes = 640;

/// In which order a block lies in scratch: that of the source, or that of the target.
enum class BlockOrder : uint8_t { source, target };

/// Marks so much of the loops that are finest in the target and in the source as a block.
void mark_block(Draft& draft, int64_t rows, int64_t columns, BlockOrder order) {
  const auto take_rows = [&] { draft.move_inside(draft.split_off(draft.contiguous(0), rows)); };
  if (order == BlockOrder::source) take_rows();
  draft.move_inside(draft.split_off(draft.nearest(1, 1), columns));
  if (order == BlockOrder::target) take_rows();
  draft.mark(draft.loop_count() - 1) = draft.mark(draft.loop_count() - 2) = Mark::target_run;
  draft.schedule().movement = Movement::gather;
}

/// Whether runs of the target, which loop `down` makes, are whole lines.
bool makes_whole_lines(const Draft& draft, const Loop& down) {
  return down.extent * draft.space().op.bytes % draft.target().line_bytes == 0;
}

// Half as much of each row comes to scratch where columns leave by images, if twice as many rows
// make runs of so many bytes. Zen 3, u8 256 x 512 x 256 reversed .86 of the time, 512 x 256 x 512
// .89; [128,64,64,64]{0,2,3,1}, whose runs have 128 bytes, 1.4.
constexpr int64_t imaged_run_bytes = 256;

// Such columns of the target in the caches, so many of which share sets of L1, leave scratch by
// images, of elements of so many bytes. Zen 3, 34 transposes of .5 to 17 MB in .80 of the time: u8
// [128,128,128] reversed .17 -> .33 of the ceiling, f16[128,64,128] .30 -> .37, f32 1023 x 1025 .33
// -> .40; f64 and c128 .84 to 1.2, with those in more sets 79 1.13.
constexpr int64_t imaged_columns = 16, widest_imaged_bytes = 4;

/// How much of each row comes to scratch at a time. Where columns of the target crowd sets, too,
/// and stores wait for each other, fewer columns are written: a network of them where they are
/// whole lines, else those of a line of the source. Zen 5, 16 such transposes of u8 and u16 in
/// .47 of the time: u16[24,256,64] reversed .22 (by networks .33), u8[24,256,256] .23 (.45),
/// u16[64,64,64] .35 (by lines .74), [32,64,128] .37 (.78).
int64_t row_bytes_at_once(const Draft& draft) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes, line = target.line_bytes;
  const Loop &down = draft.loop(draft.contiguous(0)), &across = draft.loop(draft.contiguous(1));
  const bool imaged = draft.schedule().nontemporal && draft.schedule().images_blocks;
  if (imaged && down.extent * bytes >= imaged_run_bytes) return crowding_column_bytes / 2;
  // Half as many again as L1 has room for: u8[496,64,64] reversed, a third more, 1.71, [96,64,64]
  // with half as many 1.33, [128,64,64] .55, [80,128,64] .86.
  const int64_t columns = std::min(across.extent, 2 * line / (3 * bytes));
  const bool crowd = !l1_holds_lines(target, across.stride[0], columns);
  if (!target.crowded_stores_wait || bytes > widest_streamed_bytes || !crowd)
    return crowding_column_bytes;
  return makes_whole_lines(draft, down) ? program::lane_bytes : line;
}

/// Whether columns of the target wait for both halves of their lines, since these share sets of L1.
bool columns_wait_for_halves(const Draft& draft) {
  const Loop& across = draft.loop(draft.contiguous(1));
  return halves_lines(draft) && draft.space().op.bytes <= widest_imaged_bytes &&
         !l1_holds_lines(draft.target(), across.stride[0], std::min(across.extent, imaged_columns));
}

/// Marks runs of the source in as many rows as a block has room for. Runs of the target may go on
/// in what the source has taken: u8[16,128,128] reversed .22 -> .36 of the ceiling.
void mark_rows(Draft& draft) {
  const int64_t bytes = draft.space().op.bytes;
  const bool far =
      crowds_sets(draft) && draft.both_extent_bytes() >= draft.target().far_gather_bytes;
  const int64_t column = draft.take_run(1, bytes, row_bytes_at_once(draft), Mark::target_run);
  const int64_t wanted = (far ? 2 : 1) * crowding_block_bytes / column * bytes;
  const auto taken = [&](int k) {
    return draft.mark(k) == Mark::outside ? 1 : draft.loop(k).extent;
  };
  for (int64_t row = 0, longer = bytes; longer > row;) {
    row = draft.take_run(0, longer, wanted, Mark::target_run);
    longer = run_bytes(draft, 0, taken);
  }
  draft.lay_tile(1);
  draft.schedule().movement = Movement::gather;
}

/// Whether rows of the source share sets of all caches, so that what is asked for is gone before it
/// is read.
bool crowds_everywhere(const Draft& draft, const Loop& down, const Loop& across) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes, pitch = std::abs(down.stride[1]);
  const int64_t run = down.extent * bytes;
  if (bytes > widest_streamed_bytes || run <= target.line_bytes) return false;
  if (!makes_whole_lines(draft, down))
    return bytes == 1 && run <= most_uneven_run_bytes && pitch != 0 &&
           pitch % target.page_bytes == 0;
  // Vectors of half a line make images besides: bytes are worth that.
  const bool wanted = halves_lines(draft) ? bytes == 1 : target.gathers_streamed_lines;
  const bool apart = bytes == 1 || std::abs(across.stride[0]) >= target.page_bytes;
  return wanted && apart && pitch >= least_streamed_pitch &&
         std::has_single_bit(static_cast<uint64_t>(pitch));
}

}  // namespace

bool gather_apart(Draft& draft) {
  const int row = draft.contiguous(0), column = draft.nearest(1, 1);
  if (draft.is_part() || draft.contiguous(1) >= 0 || row < 0 || column < 0 || row == column ||
      !draft.movable_inside(row)) {
    return false;
  }
  const int64_t bytes = draft.space().op.bytes, stride = std::abs(draft.loop(column).stride[1]);
  if (2 * stride > draft.target().line_bytes) return false;
  // In memory few elements at a time are as fast, where they are wide: f32[2000,2000] every other
  // one 2.8 ms for 3.7, by lanes for 14; u8[3000,4000] every fourth 138 ms for 21, by lanes 18 for
  // 37.
  const bool far = draft.both_extent_bytes() > 2 * draft.target().imaging_bytes;
  if (permutes_lanes(draft.target()) ? draft.schedule().nontemporal : far && bytes >= 4)
    return false;
  return draft.instead(draft.schedule(), [&] {
    const int64_t columns = std::min(draft.loop(column).extent, apart_column_bytes / stride);
    mark_block(draft, std::max<int64_t>(1, apart_bytes / (columns * bytes)), columns,
               BlockOrder::source);
    return true;
  });
}

bool gather_crowded(Draft& draft) {
  // Blocks and rests of both steps are more code than transposes in place.
  if (draft.goal() != CodeGoal::fast || draft.schedule().nontemporal) return false;
  const bool wait = wide_columns_wait(draft);
  const bool rows_crowd = !wait && source_rows_crowd(draft) && walk_along_source(draft).rows == 0;
  if (!rows_crowd && !wait && !target_columns_crowd(draft)) return false;
  return draft.instead(draft.schedule(), [&] {
    if (rows_crowd) {
      draft.schedule().images_blocks = columns_wait_for_halves(draft);
      mark_rows(draft);
      return true;
    }
    const int64_t bytes = draft.space().op.bytes, most = crowding_run_bytes / bytes;
    const int64_t run = std::min(draft.loop(draft.contiguous(0)).extent, most);
    mark_block(draft, run, crowding_block_bytes / (run * bytes), BlockOrder::target);
    return true;
  });
}

bool gather_streamed(Draft& draft) {
  const int row = draft.contiguous(0), column = draft.contiguous(1);
  const bool streams = draft.goal() == CodeGoal::fast && draft.schedule().nontemporal &&
                       draft.both_extent_bytes() >= draft.target().l3_bytes;
  if (!streams || !draft.runs_cross() ||
      !crowds_everywhere(draft, draft.loop(row), draft.loop(column)))
    return false;
  if (makes_whole_lines(draft, draft.loop(row)) && halves_lines(draft)) {
    return draft.instead(draft.schedule(), [&] {
      draft.schedule().images_blocks = true;
      mark_rows(draft);
      return true;
    });
  }
  constexpr int64_t rows = program::scratch_in_l1_bytes / streamed_run_bytes;
  if (makes_whole_lines(draft, draft.loop(row)) && draft.loop(row).extent % rows != 0) return false;
  return draft.instead(draft.schedule(), [&] {
    draft.mark(draft.split_off(row, rows)) = Mark::target_run;
    const int64_t run = draft.take_run(1, draft.space().op.bytes, streamed_run_bytes,
                                       Mark::target_run, Length::without_rest);
    draft.lay_tile(1);
    draft.schedule().movement = Movement::gather;
    draft.schedule().rows_ahead = streamed_rows_ahead;
    return run == streamed_run_bytes;
  });
}

}  // namespace restride::scheduling
