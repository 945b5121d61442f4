// Schedules for targets that begin a few bytes behind a line, as those do that allocators put a
// header before: the elements up to the first line go apart, and those behind the last one.
//
//     target   |............aaaa|bbbbbbbbbbbbbbbb|bbbbbbbbbbbbbbbb|ccc.............|
//                           a and c apart, b in the blocks of a target on lines
//
// This takes runs that go on for long along one axis, and whole lines from each to the next. Others
// are shifted (schedule_between_lines).
#include <algorithm>
#include <vector>

#include "program/program.hpp"
#include "schedule/scheduling.hpp"

namespace restride {
namespace {

// Both ends of a run share lines with others, and what goes apart is moved through the caches. Zen
// 4, 16 bytes behind a line: ten matrices of 4096 and 8192 a side in .73 of the time (f32 .39 ->
// .57 of the ceiling, f64 .32 -> .48, u16 .21 -> .49), 57 cases of ttc in .93; of 256 bytes 1.01.
constexpr int64_t least_peeled_run_bytes = 1024;

constexpr int64_t widest_narrow_bytes = 2;

bool is_staged_transpose(const Schedule& schedule) {
  return schedule.movement == Movement::transpose && schedule.nontemporal &&
         schedule.staging != Staging::images && !schedule.shifts_runs;
}

/// The axis along which elements of the target lie side by side; -1: none, or more than they.
int axis_of_runs(const IterationSpace& space) {
  const auto first = std::find_if(space.loops.begin(), space.loops.end(), [&](const Loop& loop) {
    return loop.step == 1 && loop.stride[0] == space.op.bytes;
  });
  return first == space.loops.end() ? -1 : first->axis;
}

/// Whether all loops of an axis advance in both operands as its finest does.
bool is_uniform(const IterationSpace& space, int axis) {
  Strides finest{};
  for (const Loop& loop : space.loops) {
    if (loop.axis == axis && loop.step == 1) finest = loop.stride;
  }
  return std::all_of(space.loops.begin(), space.loops.end(), [&](const Loop& loop) {
    return loop.axis != axis ||
           (loop.stride[0] == loop.step * finest[0] && loop.stride[1] == loop.step * finest[1]);
  });
}

/// Elements of an axis in a block.
int64_t block_elements(const Schedule& schedule, int axis) {
  const std::vector<Loop>& loops = schedule.space.loops;
  int64_t elements = 1;
  for (auto loop = loops.end() - schedule.tile_loops; loop != loops.end(); ++loop)
    elements *= loop->axis == axis ? loop->extent : 1;
  return elements;
}

}  // namespace

std::optional<Schedule> peeled(Schedule on_line, const Target& target, int64_t phase,
                               PeeledRest rest) {
  const IterationSpace& space = on_line.space;
  const int64_t line = target.line_bytes, bytes = space.op.bytes;
  const int axis = axis_of_runs(space);
  if (!is_staged_transpose(on_line) || axis < 0 || (line - phase) % bytes != 0) return std::nullopt;
  const Axis& run = space.axes[static_cast<size_t>(axis)];
  const bool others_keep_to_lines =
      std::all_of(space.loops.begin(), space.loops.end(), [&](const Loop& loop) {
        return loop.own.empty() && (loop.axis == axis || loop.stride[0] % line == 0);
      });
  if (run.valid != run.padded || run.valid * bytes < least_peeled_run_bytes ||
      !others_keep_to_lines || !is_uniform(space, axis) || space.tail_end > space.tail_begin)
    return std::nullopt;
  int64_t first = (line - phase) / bytes;
  const int64_t last = (run.valid - first) % (line / bytes);
  if (rest == PeeledRest::apart)
    first += (run.valid - first - last) % block_elements(on_line, axis);
  if (bytes == 1) on_line.network_column_bytes = 16;
  // What goes apart is little, and networks of narrow elements are long.
  if (bytes <= widest_narrow_bytes) on_line.network_column_bytes = program::lane_bytes;
  on_line.peel = {axis, first, last};
  return on_line;
}

}  // namespace restride
