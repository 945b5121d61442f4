// Schedules of transposes of elements whose size is no power of two: pixels of three bytes, or of
// three numbers. What lies side by side in source and target alike becomes one element.
#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "base/arithmetic.hpp"
#include "program/program.hpp"
#include "schedule/l1_sets.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"
#include "space/rewrites.hpp"

namespace restride::scheduling {
namespace {

// Runs of blocks are whole lines, and at least so long. Share of the ceiling for 384 and 192, for
// 192 and 192, and for each row by itself: u8 x 3 .46 .49 .18, f32 x 3 .60 .44 .35, u8 x 5 .49 .44
// .23, u8 x 11 .54 .55 .33.
constexpr int64_t least_target_run_bytes = 384, least_source_run_bytes = 192;
// Where rows begin between lines, each of these has two lines that it shares: 10 images of 9 to 90
// MB in .87 of the time, with 768 in .90, with 1536 and 2304 as with 1152. In the caches up to 1.6
// times as long.
constexpr int64_t least_shifted_run_bytes = 1152;

// In the caches rows of more bytes are faster one by one: u8 x 3 .40 for .18, u16 x 3 .42 for .39,
// u8 x 7 .52 for .41, f32 x 3 .48 for .51.
constexpr int64_t widest_cached_bytes = 7, widest_bytes = 16;

// In L2 squares of pixels are permuted, rows of a line or less on either side, which share blends:
// 44 images of 3 to 15 bytes a pixel .77 of the time, f32[256,256,3] .23 -> .57 of the ceiling, u8
// [192,200,9] .41 -> .61, u8[309,240,3] .39 -> .43. Of 17 to 20 bytes, three in a line, .43 -> .61;
// with two of 23 to 28 bytes .78 -> .70. In L1 f32[32,32,3] .21 -> .16.
constexpr int64_t most_square_pixels = 16, least_square_pixels = 3;
// Where lanes are permuted, always, instead of one by one: u8[480,320,3] .10 -> .26, [1080,1920,3]
// .20 -> .57, [64,64,3] .02 -> .07, [300,200,7] .22 -> .43; with 2, 3 and 5 pixels 1.3, 1.2 and 1.4
// times as long. 9 bytes .41 -> .34, 12 .61 -> .58.
constexpr int64_t square_pixels_of_lanes = 4, widest_bytes_of_lanes = 7;

// Shorter runs are permuted. Bytes need not fill a network: otherwise rows would move one by one,
// u8[100,11,3]{2,0,1} .10 -> .19 of the ceiling, [20000,15,3] .17 -> .53, [6,200000,5] .84 -> .98;
// but [100,4,5] 1.6 times as long, and pairs of them u16[20000,7,3] 1.4 times.
constexpr int64_t least_short_run_bytes = 24;

// Where rows of the target begin between lines, a target of up to this many times the second level
// is written as in the caches, if so many lines of a block find room in L1. Share of the ceiling,
// for that of lines around the caches: u8[1000,1000,3] .70 for .42, u8[1080,1920,3] .71 for .41,
// u8[999,1003,11] .65 for .52, f32[1001,999,3] .61 for .55; u8[2400,2400,3] (17 MB) .49 for .46,
// u8[5001,5001,3] .36 for .45, u16[3001,2999,3] .39 for .52; without room u8[1366,1366,3] .37 for
// .49.
constexpr int64_t near_levels = 8, near_lines = 64;

/// Elements that fill a vector.
int64_t uneven_network(const Draft& draft) {
  return draft.target().vector_bytes /
         static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(draft.space().op.bytes)));
}

/// Marks runs of the target of at least so many bytes, and some columns.
void take_uneven_block(Draft& draft, int64_t least_target_run) {
  const int64_t bytes = draft.space().op.bytes, line = draft.target().line_bytes;
  const int64_t whole_lines = line / std::gcd(bytes, line);
  int64_t rows = whole_lines, columns = whole_lines;
  while (rows * bytes < least_target_run) rows += whole_lines;
  while (columns * bytes < least_source_run_bytes) columns += whole_lines;
  while (columns * (rows * bytes + line) > program::scratch_in_l1_bytes) columns /= 2;
  // One network after the other: columns leave one rest.
  if (draft.goal() == CodeGoal::compact)
    rows = uneven_network(draft), columns = draft.loop(draft.contiguous(1)).extent;
  draft.schedule().movement = Movement::transpose;
  draft.mark(draft.split_off(draft.contiguous(0), rows)) = Mark::target_run;
  draft.mark(draft.split_off(draft.contiguous(1), columns)) = Mark::source_run;
}

/// The elements of a run that is worth a network, of what was `unjoined_bytes` wide.
int64_t least_uneven_run(const Draft& draft, int64_t unjoined_bytes) {
  const int64_t network = uneven_network(draft);
  if (unjoined_bytes > 1 || draft.space().op.bytes > widest_cached_bytes) return network;
  return std::min(network, ceil_div(least_short_run_bytes, draft.space().op.bytes));
}

/// Whether lines of the target are found again where they are written in parts, although the
/// arrays do not stay in the second level.
bool stays_near(const Draft& draft) {
  if (draft.extent_bytes(0) > near_levels * draft.target().l2_bytes) return false;
  bool room = true;
  for (int k = 0; k < draft.loop_count(); ++k) {
    const Loop& marked = draft.loop(k);
    const bool row =
        draft.mark(k) == Mark::target_run && marked.stride[0] == draft.space().op.bytes;
    const bool column =
        draft.mark(k) == Mark::source_run && marked.stride[1] == draft.space().op.bytes;
    const int64_t stride = marked.stride[row ? 1 : 0];
    if (row || column) room = room && l1_holds_lines(draft.target(), stride, near_lines);
  }
  return room;
}

/// The widest elements that others are joined to.
int64_t widest_joined_bytes(const Draft& draft) {
  const Target& target = draft.target();
  if (permutes_lanes(target)) return widest_bytes_of_lanes;
  return draft.schedule().nontemporal ? widest_bytes : target.line_bytes / least_square_pixels;
}

/// Whether registers hold elements of any size, each in a slot of a power of two.
bool has_slots(const Target& target) {
  return target.permute_width == 1 && target.shuffle_bytes && target.byte_masks &&
         target.vector_bytes == target.line_bytes;
}

/// Takes what lies side by side in source and target for one element, which is a few bytes wide.
/// False where that is not so.
bool join_uneven(Draft& draft) {
  const Target& target = draft.target();
  IterationSpace& space = draft.space();
  const int64_t bytes = space.op.bytes;
  const int inner = draft.contiguous(0);
  const bool joins = has_slots(target) || permutes_lanes(target);
  if (!joins || !permutes(draft) || inner < 0 || draft.loop(inner).stride[1] != bytes ||
      has_padding(space))
    return false;
  const Loop joined = draft.loop(inner);
  Axis& axis = space.axes[static_cast<size_t>(joined.axis)];
  const int64_t joined_bytes = joined.extent * bytes;
  if (joined_bytes > widest_joined_bytes(draft) ||
      std::has_single_bit(static_cast<uint64_t>(joined_bytes)) || axis.valid % joined.extent != 0) {
    return false;
  }
  for (Loop& outer : space.loops) {
    if (outer.axis == joined.axis && outer.step > 1) outer.step /= joined.extent;
  }
  axis = {axis.valid / joined.extent, axis.padded / joined.extent};
  draft.erase(inner);
  space.op.bytes = joined_bytes;
  renumber(space);
  return true;
}

/// Whether rows of the target, along loop `row`, are others than those of the source, along
/// `column`. Either may be missing: -1.
bool lies_across(const Draft& draft, int row, int column) {
  return row >= 0 && column >= 0 && row != column && draft.loop(row).stride[1] != 0;
}

/// The pixels on a side of a square to permute; 0 where none should be.
int64_t square_side(const Draft& draft) {
  const Target& target = draft.target();
  if (permutes_lanes(target)) return square_pixels_of_lanes;
  const bool fast = draft.goal() == CodeGoal::fast || draft.is_part();
  if (!fast || draft.schedule().nontemporal || stays_in_l1(draft)) return 0;
  const int64_t side = std::min(most_square_pixels, target.line_bytes / draft.space().op.bytes);
  return side < least_square_pixels ? 0 : side;
}

/// Marks squares of pixels, `unjoined` as they were. False where there are too few of them.
bool permute_squares(Draft& draft, const IterationSpace& unjoined) {
  const int64_t bytes = draft.space().op.bytes, side = square_side(draft);
  const int row = draft.contiguous(0), column = draft.contiguous(1);
  if (side == 0 || !lies_across(draft, row, column) || draft.loop(row).extent < 2 * side ||
      draft.loop(column).extent < 2 * side) {
    return false;
  }
  draft.begin_anew(unjoined);
  Schedule& schedule = draft.schedule();
  schedule.movement = Movement::permute;
  schedule.vector_bytes = permuted_window_bytes(draft.target());
  schedule.nontemporal = false;
  draft.mark(draft.contiguous(0)) = Mark::target_run;
  for (const size_t operand : {0, 1})  // the loops of `row` and `column`
    draft.mark(draft.split_off(draft.next_in_run(operand, bytes), side)) = Mark::target_run;
  std::array<int64_t, 2> runs = {side * bytes, side * bytes};
  if (permutes_lanes(draft.target())) runs = permute_siblings(draft, runs);
  // Lines of the source are used up at once, and the target goes on as far as it can: blocks of 768
  // bytes of it are as fast with whole vectors, with lanes they take 1.1 times as long, in memory
  // 1.7 times.
  draft.take_run(1, runs[1], draft.target().line_bytes, Mark::around, Length::about);
  return true;
}

}  // namespace

bool transpose_uneven(Draft& draft) {
  const IterationSpace unjoined = draft.space();
  if (!join_uneven(draft)) return false;
  if (permute_squares(draft, unjoined)) return true;
  const int64_t least = least_uneven_run(draft, unjoined.op.bytes);
  const int row = draft.contiguous(0), column = draft.contiguous(1);
  const bool one_by_one =
      !has_slots(draft.target()) ||
      (!draft.schedule().nontemporal && draft.space().op.bytes > widest_cached_bytes);
  if (one_by_one || !lies_across(draft, row, column) || draft.loop(row).extent < least ||
      draft.loop(column).extent < least) {
    draft.begin_anew(unjoined);
    return false;
  }
  const IterationSpace unblocked = draft.space();
  take_uneven_block(draft, least_target_run_bytes);
  if (draft.schedule().nontemporal && !begins_lines(draft)) {
    if (stays_near(draft)) {
      draft.schedule().nontemporal = false;
    } else {
      draft.begin_anew(unblocked);
      take_uneven_block(draft, least_shifted_run_bytes);
    }
  }
  if (draft.schedule().nontemporal) draft.go_on(1);
  return true;
}

}  // namespace restride::scheduling
