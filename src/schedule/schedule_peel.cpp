// Schedules for arrays that begin a few bytes behind a line, as those do that allocators put a
// header before: the elements up to the first line go apart, and those behind the last one.
//
//     target   |............aaaa|bbbbbbbbbbbbbbbb|bbbbbbbbbbbbbbbb|ccc.............|
//                           a and c apart, b in the blocks of a target on lines
//
// The same of what b is in the source, so that its lines are read as whole ones. Panels that read
// parts of two lines with each load took 1.3 to 1.8 times as long on Zen 4 (f32 4096 x 4096 .49 ->
// .66 of the ceiling, f64 1024 x 1024 .37 -> .65, c128 4096 x 2048 .57 -> .78).
//
// This takes runs that go on for long along one axis, and whole lines from each to the next. Short
// ones that others follow are spliced: what would go apart of two of them goes together.
//
//     target   |............0000|0000000000000000|0000111111111111|1111111111111111|1111222222..
//                                                  spliced: the last of run 0, the first of run 1
//
// Others are shifted (schedule_between_lines). What stays in the caches: schedule_cached_peel.
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "base/arithmetic.hpp"
#include "microkernel/microkernel.hpp"
#include "program/program.hpp"
#include "schedule/peel_ends.hpp"
#include "schedule/scheduling.hpp"

namespace restride {
namespace {

// Both ends of a run share lines with others, and what goes apart is moved through the caches. Zen
// 4, 16 bytes behind a line: ten matrices of 4096 and 8192 a side in .73 of the time (f32 .39 ->
// .57 of the ceiling, f64 .32 -> .48, u16 .21 -> .49), 57 cases of ttc in .93; of 256 bytes 1.01.
constexpr int64_t least_peeled_run_bytes = 1024;

// Spliced elements of a run of the target fill a panel.
constexpr int64_t most_spliced_row_bytes = 512;

// What is left at the ends is moved slowly. f32[4,10,56,192,32]{3,0,4,2,1}, of four runs, .62 ->
// .54 of the ceiling.
constexpr int64_t least_spliced_runs = 8;

// Where so few runs of the source follow each other all of them, up to so many bytes, are one that
// is spliced: less is left at its ends. f32[352,28,28,4,48] reversed .34 -> .55 of the ceiling,
// [15,15,32,15,5,112]{2,3,0,4,5,1} .38 -> .57, [32,15,15,15,15,32] reversed .46 -> .52.
constexpr int64_t few_runs = 16, most_spliced_bytes = 8 * 1024;

bool is_staged_transpose(const Schedule& schedule) {
  return schedule.movement == Movement::transpose && schedule.nontemporal &&
         schedule.staging != Staging::images && !schedule.shifts_runs;
}

/// Whether runs of an operand along an axis are long enough to be peeled, and all begin alike.
bool can_peel(const IterationSpace& space, const Target& target, size_t operand, int axis) {
  return runs_begin_alike(space, target, operand, axis) &&
         space.axes[static_cast<size_t>(axis)].valid * space.op.bytes >= least_peeled_run_bytes;
}

/// Elements of an axis in a block.
int64_t block_elements(const Schedule& schedule, int axis) {
  const std::vector<Loop>& loops = schedule.space.loops;
  int64_t elements = 1;
  for (auto loop = loops.end() - schedule.tile_loops; loop != loops.end(); ++loop)
    elements *= loop->axis == axis ? loop->extent : 1;
  return elements;
}

/// What goes apart is little, and so are rests.
void shorten_code(Schedule& schedule) {
  schedule.short_code = true;
  if (schedule.space.op.bytes <= widest_long_network_bytes)
    schedule.network_column_bytes = program::lane_bytes;
}

/// Lets an axis be `length` elements long: its outermost loop takes them.
void set_length(IterationSpace& space, int axis, int64_t length) {
  space.axes[static_cast<size_t>(axis)] = {length, length};
  Loop* outermost = nullptr;
  for (Loop& loop : space.loops) {
    if (loop.axis == axis && (outermost == nullptr || loop.step > outermost->step))
      outermost = &loop;
  }
  outermost->extent = ceil_div(length, outermost->step);
}

/// The axis whose finest loop moves an operand by so many bytes, and evenly; -1: none.
int axis_by(const IterationSpace& space, size_t operand, int64_t bytes) {
  const auto next = std::find_if(space.loops.begin(), space.loops.end(), [&](const Loop& loop) {
    return loop.step == 1 && loop.stride[operand] == bytes;
  });
  if (next == space.loops.end() || !is_uniform(space, next->axis)) return -1;
  const Axis& axis = space.axes[static_cast<size_t>(next->axis)];
  return axis.valid == axis.padded && axis.valid > 1 ? next->axis : -1;
}

/// Elements of a block, spliced after `first` elements of a row, that panels take.
bool panels_take(int64_t elements, int64_t first, const IterationSpace& space,
                 const Target& target) {
  const int64_t bytes = space.op.bytes, panel = target.line_bytes / bytes;
  const int64_t group = program::lane_bytes / bytes;
  const int64_t chunk = elements / std::gcd(elements / group, panel);
  return elements % panel == 0 && elements >= 2 * panel && (elements - first) % chunk == 0;
}

/// The elements of a run of `valid` that are spliced: what leaves whole blocks before them, if
/// panels take that. 0: none.
int64_t spliced_elements(int64_t valid, int64_t block, int64_t first, const IterationSpace& space,
                         const Target& target) {
  const int64_t in_line = target.line_bytes / space.op.bytes;
  const int64_t most = std::min(valid, std::max(block, most_spliced_row_bytes / space.op.bytes));
  for (int64_t rest = valid % block; rest <= most; rest += block) {
    if (rest > 0 && panels_take(rest, first, space, target)) return rest;
  }
  for (int64_t part = block; part >= in_line; part -= in_line) {
    if (panels_take(part, first, space, target)) return part;
  }
  return 0;
}

/// The ends of runs of an operand, spliced; no axis where that cannot be. `window`: an axis of
/// which not all is there.
Peel splice(const Schedule& on_line, const Target& target, size_t operand, int64_t phase,
            int window) {
  const IterationSpace& space = on_line.space;
  const int axis = axis_of_runs(space, operand), crossing = axis_of_runs(space, 1 - operand);
  if (axis < 0 || !is_uniform(space, axis)) return {};
  const auto [valid, padded] = space.axes[static_cast<size_t>(axis)];
  const int64_t bytes = space.op.bytes, in_line = target.line_bytes / bytes;
  const int next = axis_by(space, operand, valid * bytes);
  if (next < 0 || next == crossing || valid != padded || valid % in_line != 0 ||
      !keeps_to_lines(space, target, operand, axis))
    return {};
  const int64_t first = in_line - phase / bytes;
  const int64_t block = std::min(block_elements(on_line, axis), valid);
  if (operand == 0) {
    const int64_t part = spliced_elements(valid, block, first, space, target);
    return part > 0 ? Peel{axis, first, part - first, next} : Peel{};
  }
  const int64_t runs = space.axes[static_cast<size_t>(next)].valid, both = runs * valid;
  const int beyond = axis_by(space, operand, both * bytes);
  const bool few = runs <= few_runs && both * bytes <= most_spliced_bytes;
  if (few && next != window && beyond >= 0 && beyond != crossing)
    return {axis, first, both - first, beyond, next};
  const int64_t part = valid % block > 0 ? valid % block : block;
  return part % in_line == 0 ? Peel{axis, first, part - first, next} : Peel{};
}

}  // namespace

std::optional<Schedule> spliced(Schedule on_line, const Target& target, int64_t phase) {
  const IterationSpace& space = on_line.space;
  // Networks alone would write what is spliced by parts of lines, through the caches.
  const bool panels = on_line.staging == Staging::panels && space.op.bytes < program::lane_bytes;
  if (!is_staged_transpose(on_line) || !panels || phase % space.op.bytes != 0 ||
      space.tail_end != space.tail_begin)
    return std::nullopt;
  const Peel rows = splice(on_line, target, 0, phase, -1);
  if (rows.axis < 0 || space.axes[static_cast<size_t>(rows.next)].valid < least_spliced_runs)
    return std::nullopt;
  if (!keeps_to_lines(space, target, 1, axis_of_runs(space, 1))) return std::nullopt;
  on_line.peels = {rows, splice(on_line, target, 1, phase, rows.next)};
  return on_line;
}

std::optional<Schedule> peeled(Schedule on_line, const Target& target, int64_t phase,
                               PeeledRest rest) {
  const IterationSpace& space = on_line.space;
  const int axis = axis_of_runs(space, 0);
  if (!is_staged_transpose(on_line) || !can_peel(space, target, 0, axis) ||
      phase % space.op.bytes != 0)
    return std::nullopt;
  Peel ends = ends_of(space, target, axis, phase);
  const int64_t between = space.axes[static_cast<size_t>(axis)].valid - ends.first - ends.last;
  if (rest == PeeledRest::apart) ends.first += between % block_elements(on_line, axis);
  shorten_code(on_line);
  on_line.peels[0] = ends;
  return on_line;
}

std::optional<Schedule> peeled_twice(const IterationSpace& simplified, const Schedule& on_line,
                                     const Target& target, int64_t phase) {
  const std::array<int, 2> axes{axis_of_runs(simplified, 0), axis_of_runs(simplified, 1)};
  if (!is_staged_transpose(on_line) || axes[0] == axes[1] || phase % simplified.op.bytes != 0)
    return std::nullopt;
  IterationSpace between = simplified;
  std::array<Peel, 2> peels;
  for (size_t operand = 0; operand < axes.size(); ++operand) {
    const int axis = axes[operand];
    if (!can_peel(simplified, target, operand, axis)) return std::nullopt;
    const Peel& ends = peels[operand] = ends_of(simplified, target, axis, phase);
    const int64_t whole = simplified.axes[static_cast<size_t>(axis)].valid;
    set_length(between, axis, whole - ends.first - ends.last);
  }
  Schedule result = schedule(between, target);
  if (!is_staged_transpose(result) || !is_uniform(result.space, axes[0]) ||
      !is_uniform(result.space, axes[1]))
    return std::nullopt;
  for (const int axis : axes)
    set_length(result.space, axis, simplified.axes[static_cast<size_t>(axis)].valid);
  shorten_code(result);
  result.peels = peels;
  return result;
}

}  // namespace restride
