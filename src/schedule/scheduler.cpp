// IterationSpace -> Schedule: which movement it is, and what all of them ask.
//
// The loop that is contiguous in the target decides. Where the source is contiguous along it too,
// rows are copied; where it repeats there, rows are splatted; else the loops that make runs of the
// target meet the loops that make runs of the source in a transpose, and both are walked in blocks
// that keep the lines of either side in the cache until they are used up.
#include "schedule/scheduler.hpp"

#include <algorithm>
#include <utility>

#include "base/arithmetic.hpp"
#include "schedule/scheduling.hpp"

namespace restride {
namespace {

// Fills of 2 to 24 MiB take as long with half and up to eight times as many bytes.
constexpr int64_t row_claimed_ahead = 1024;

// Transposes of bytes read a line four times in the caches, once on their way around them: u8
// [8,58,48,40]{3,2,1,0:T(128,2)} to {0,2,3,1} .51 for .37 of the ceiling.
constexpr int64_t least_counted_bytes = 2;

// What writes so much more than it reads is a fill.
constexpr int64_t least_written_per_read = 8;

// Shorter rows are permuted into whole windows rather than copied one by one: an rgb bias of u8 .29
// -> .9 of memset. Longer ones, too, where the source repeats: u16[160] to rows of 17 .21 -> 1.3 of
// memcpy of as much, f32[512] to rows of 9 .10 -> .63; and elements that are repeated for
// still longer rows, which stream: f32 20 times .31 -> .39, 40 times .35 -> .42.
constexpr int64_t short_row_bytes = 32, short_repeated_bytes = 64;
constexpr int64_t short_streamed_splat_bytes = 256;
// Where lanes are permuted, a step shorter: u8 40 times .79 -> .65; streamed f32 20 times .87 ->
// .66, u8 34 times .41 -> .58. Rows of 18 bytes in the caches .43 -> .53, of 20 .64 -> .60, of 31
// .46 -> .40; streamed of 20 .26 -> .79, of 24 .30 -> .87.
constexpr int64_t short_row_bytes_of_lanes = 20;

}  // namespace

Scheduler::Scheduler(const IterationSpace& space, const Target& target, CodeGoal goal)
    : MarkedLoops(space, target), goal_(goal) {
  for (int operand = 0; operand <= source_count(space.op); ++operand) {
    const ByteRange touched = touched_bytes(space, operand);
    extent_bytes_[static_cast<size_t>(operand)] = touched.end - touched.begin;
  }
  // Narrow elements make networks of many rows: they get one lane at a time, which keeps the code
  // short.
  const bool one_lane = goal == CodeGoal::compact || goal == CodeGoal::small || space.op.bytes < 4;
  schedule_.network_column_bytes = one_lane ? 16 : 64;
}

Schedule Scheduler::run() {
  schedule_.nontemporal = streams();
  schedule_.vector_bytes = target_.vector_bytes;
  if (is_packed(space().op)) {
    if (!mixed()) packed();
    gather_tile();
    return std::move(schedule_);
  }
  if (unnested()) {
    gather_tile();
    return std::move(schedule_);
  }
  if (!is_move(space().op)) {
    compute();
    gather_tile();
    schedule_.asked_sources = asked_sources();
    return std::move(schedule_);
  }
  const int innermost = contiguous(0);
  const bool computes = std::none_of(space().axes.begin(), space().axes.end(),
                                     [](const Axis& axis) { return axis.valid == 0; });
  const bool row = innermost >= 0 && (!computes || loop(innermost).stride[1] == space().op.bytes);
  const bool splat = innermost >= 0 && loop(innermost).stride[1] == 0;
  if (row && computes && transpose_uneven()) {
    // Short rows that lie across the target.
  } else if ((row || splat) && computes && permutes() &&
             loop(innermost).extent * space().op.bytes < permuted_row_bytes(loop(innermost)) &&
             loop_count() > 1 && permute_short_rows(loop(innermost))) {
    // Rows of a few bytes fill whole windows together.
  } else if (row && computes && image_rows()) {
    // Short rows of a large array that begin between lines.
  } else if (row) {
    rows(Movement::row, innermost);
  } else if (splat) {
    rows(Movement::splat, innermost);
  } else if (!computes || !(repeat_blocks() || gather_repeats() || gather_apart())) {
    transpose();
  }
  if (schedule_.movement == Movement::permute) schedule_.claimed_ahead = permuted_claimed_ahead();
  gather_tile();
  if (schedule_.movement != Movement::transpose && claims())
    schedule_.claimed_ahead = row_claimed_ahead;
  return std::move(schedule_);
}

int64_t Scheduler::permuted_row_bytes(const Loop& row) const {
  const bool splat = row.stride[1] == 0;
  const bool repeats = std::any_of(schedule_.space.loops.begin(), schedule_.space.loops.end(),
                                   [](const Loop& loop) { return loop.stride[1] == 0; });
  if (permutes_lanes(target_)) {
    if (splat && schedule_.nontemporal) return short_repeated_bytes;
    return repeats || schedule_.nontemporal ? short_row_bytes : short_row_bytes_of_lanes;
  }
  if (!repeats) return short_row_bytes;
  return splat && schedule_.nontemporal ? short_streamed_splat_bytes : short_repeated_bytes;
}

int64_t Scheduler::cached_source_bytes() const {
  int64_t read = 0;
  for (int operand = 1; operand <= source_count(schedule_.space.op); ++operand) {
    read += cached_bytes(operand);
  }
  return read;
}

bool Scheduler::fills() const {
  return cached_source_bytes() < cached_bytes(0) / least_written_per_read;
}

bool Scheduler::streams() const {
  const int64_t most = fills() ? target_.streaming_fill_bytes : target_.streaming_bytes;
  return target_.nontemporal && cached_bytes(0) + cached_source_bytes() > most;
}

// Loops that leave no line out make one run, wider ones repeat it:
//
//     line |----|----|----|----|----|----
//          xx  xx  xx            xx  xx      2 runs of 3 lines
int64_t Scheduler::cached_bytes(int operand) const {
  const IterationSpace& space = schedule_.space;
  if (is_packed(space.op) || space.op.bytes < least_counted_bytes) return extent_bytes(operand);
  std::vector<std::pair<int64_t, int64_t>> walks;  // stride, iterations
  for (const Loop& loop : space.loops) {
    if (!loop.own.empty()) return extent_bytes(operand);
    const Axis& axis = space.axes[static_cast<size_t>(loop.axis)];
    const int64_t seen = operand == 0 ? axis.padded : axis.valid;
    const int64_t stride = std::abs(loop.stride[static_cast<size_t>(operand)]);
    walks.emplace_back(stride, std::min(loop.extent, ceil_div(seen, loop.step)));
  }
  std::sort(walks.begin(), walks.end());
  const int64_t line = target_.line_bytes;
  int64_t run = element_bytes(space.op, operand), runs = 1;
  for (const auto& [stride, iterations] : walks) {
    if (stride < run + line) {
      run += stride * (iterations - 1);
    } else {
      runs *= iterations;
    }
  }
  return std::min(extent_bytes(operand), runs * ceil_div(run, line) * line);
}

bool Scheduler::claims() const {
  if (schedule_.nontemporal || extent_bytes(0) <= target_.claiming_bytes) return false;
  return run_bytes(0) >= target_.page_bytes;
}

bool Scheduler::stays_in_l1() const {
  return extent_bytes(0) + extent_bytes(1) <= target_.l1_bytes;
}

uint32_t Scheduler::asked_sources() const {
  uint32_t asked = 0;
  for (int operand = 1; operand <= source_count(schedule_.space.op); ++operand) {
    const bool large = extent_bytes(operand) > target_.l2_bytes;
    if (large && run_bytes(static_cast<size_t>(operand)) >= target_.page_bytes)
      asked |= uint32_t{1} << operand;
  }
  return schedule_.nontemporal ? asked : 0;
}

int64_t Scheduler::run_bytes(size_t operand) const {
  int64_t run = element_bytes(schedule_.space.op, static_cast<int>(operand));
  const std::vector<Loop>& loops = schedule_.space.loops;
  for (auto loop = loops.rbegin(); loop != loops.rend() && loop->stride[operand] == run; ++loop) {
    if (!loop->own.empty()) break;
    run *= loop->extent;
  }
  return run;
}

void Scheduler::scattered() {
  constexpr int64_t elements = 8;
  for (int k = loop_count() - 1; k >= 0; --k) {
    if (!movable_inside(k)) continue;
    mark(split_off(k, elements)) = Mark::target_run;
    return;
  }
}

Schedule schedule(const IterationSpace& simplified, const Target& target, CodeGoal goal) {
  return Scheduler(simplified, target, goal).run();
}

}  // namespace restride
