// Schedules of transposes of elements whose size is no power of two: pixels of three bytes, or of
// three numbers. What lies side by side in source and target alike becomes one element.
#include <algorithm>
#include <bit>
#include <numeric>

#include "base/arithmetic.hpp"
#include "program/program.hpp"
#include "schedule/scheduler.hpp"
#include "space/rewrites.hpp"

namespace restride {
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

}  // namespace

bool Scheduler::transpose_uneven() {
  const IterationSpace unjoined = space();
  if (!join_uneven()) return false;
  const int64_t least = least_uneven_run(unjoined.op.bytes);
  const int row = contiguous(0), column = contiguous(1);
  if (row < 0 || column < 0 || row == column || loop(row).stride[1] == 0 ||
      loop(row).extent < least || loop(column).extent < least) {
    space() = unjoined;
    marks_.assign(space().loops.size(), Mark::outside);
    return false;
  }
  const Schedule unblocked = schedule_;
  take_uneven_block(least_target_run_bytes);
  if (schedule_.nontemporal && !begins_lines()) {
    if (stays_near()) {
      schedule_.nontemporal = false;
    } else {
      instead(unblocked, [this] { return take_uneven_block(least_shifted_run_bytes); });
    }
  }
  if (schedule_.nontemporal) go_on(1);
  return true;
}

bool Scheduler::take_uneven_block(int64_t least_target_run) {
  const int64_t bytes = space().op.bytes, line = target_.line_bytes;
  const int64_t whole_lines = line / std::gcd(bytes, line);
  int64_t rows = whole_lines, columns = whole_lines;
  while (rows * bytes < least_target_run) rows += whole_lines;
  while (columns * bytes < least_source_run_bytes) columns += whole_lines;
  while (columns * (rows * bytes + line) > program::max_scratch_bytes) columns /= 2;
  // One network after the other: columns leave one rest.
  if (goal_ == CodeGoal::compact) rows = uneven_network(), columns = loop(contiguous(1)).extent;
  schedule_.movement = Movement::transpose;
  mark(split_off(contiguous(0), rows)) = Mark::target_run;
  mark(split_off(contiguous(1), columns)) = Mark::source_run;
  return true;
}

int64_t Scheduler::least_uneven_run(int64_t unjoined_bytes) {
  const int64_t network = uneven_network();
  if (unjoined_bytes > 1 || space().op.bytes > widest_cached_bytes) return network;
  return std::min(network, ceil_div(least_short_run_bytes, space().op.bytes));
}

int64_t Scheduler::uneven_network() {
  return target_.vector_bytes /
         static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(space().op.bytes)));
}

bool Scheduler::stays_near() {
  if (extent_bytes(0) > near_levels * target_.l2_bytes) return false;
  bool room = true;
  for (int k = 0; k < loop_count(); ++k) {
    const Loop& marked = loop(k);
    const bool row = mark(k) == Mark::target_run && marked.stride[0] == space().op.bytes;
    const bool column = mark(k) == Mark::source_run && marked.stride[1] == space().op.bytes;
    const int64_t stride = marked.stride[row ? 1 : 0];
    if (row || column)
      room = room && lines_in_set(stride, near_lines, target_.line_bytes) <= l1_ways();
  }
  return room;
}

bool Scheduler::join_uneven() {
  const int64_t bytes = space().op.bytes;
  const bool permutes_bytes = target_.permute_width == 1 && target_.shuffle_bytes &&
                              target_.byte_masks && target_.vector_bytes == target_.line_bytes;
  const int inner = contiguous(0);
  if (!permutes_bytes || inner < 0 || loop(inner).stride[1] != bytes || has_padding(space()))
    return false;
  const Loop joined = loop(inner);
  Axis& axis = space().axes[static_cast<size_t>(joined.axis)];
  const int64_t joined_bytes = joined.extent * bytes;
  if (joined_bytes > (schedule_.nontemporal ? widest_bytes : widest_cached_bytes) ||
      std::has_single_bit(static_cast<uint64_t>(joined_bytes)) || axis.valid % joined.extent != 0) {
    return false;
  }
  for (Loop& outer : space().loops) {
    if (outer.axis == joined.axis && outer.step > 1) outer.step /= joined.extent;
  }
  axis = {axis.valid / joined.extent, axis.padded / joined.extent};
  space().loops.erase(space().loops.begin() + inner);
  marks_.erase(marks_.begin() + inner);
  space().op.bytes = joined_bytes;
  renumber(space());
  return true;
}

}  // namespace restride
