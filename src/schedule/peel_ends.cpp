// See peel_ends.hpp.
#include "schedule/peel_ends.hpp"

#include <algorithm>

namespace restride {

int axis_of_runs(const IterationSpace& space, size_t operand) {
  const auto first = std::find_if(space.loops.begin(), space.loops.end(), [&](const Loop& loop) {
    return loop.step == 1 && loop.stride[operand] == space.op.bytes;
  });
  return first == space.loops.end() ? -1 : first->axis;
}

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

bool keeps_to_lines(const IterationSpace& space, const Target& target, size_t operand, int axis) {
  return std::all_of(space.loops.begin(), space.loops.end(), [&](const Loop& loop) {
    return loop.own.empty() && (loop.axis == axis || loop.stride[operand] % target.line_bytes == 0);
  });
}

bool runs_begin_alike(const IterationSpace& space, const Target& target, size_t operand, int axis) {
  if (axis < 0) return false;
  const Axis& run = space.axes[static_cast<size_t>(axis)];
  return keeps_to_lines(space, target, operand, axis) && run.valid == run.padded &&
         is_uniform(space, axis) && space.tail_end == space.tail_begin;
}

Peel ends_of(const IterationSpace& space, const Target& target, int axis, int64_t phase) {
  const int64_t in_line = target.line_bytes / space.op.bytes;
  const int64_t first = in_line - phase / space.op.bytes;
  return {axis, first, (space.axes[static_cast<size_t>(axis)].valid - first) % in_line};
}

}  // namespace restride
