// See peel_ends.hpp.
#include "schedule/peel_ends.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"
#include "microkernel/microkernel.hpp"
#include "program/program.hpp"
#include "schedule/l1_sets.hpp"

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
    bool as_finest = true;
    for (size_t k = 0; k < finest.size(); ++k)
      as_finest = as_finest && loop.stride[k] == loop.step * finest[k];
    return loop.axis != axis || as_finest;
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

bool is_staged_transpose(const Schedule& schedule) {
  return schedule.movement == Movement::transpose && schedule.nontemporal &&
         schedule.staging != Staging::images && !schedule.shifts_runs;
}

bool can_peel(const IterationSpace& space, const Target& target, size_t operand, int axis) {
  return runs_begin_alike(space, target, operand, axis) &&
         space.axes[static_cast<size_t>(axis)].valid * space.op.bytes >= least_peeled_run_bytes;
}

int64_t block_elements(const Schedule& schedule, int axis) {
  const std::vector<Loop>& loops = schedule.space.loops;
  int64_t elements = 1;
  for (auto loop = loops.end() - schedule.tile_loops; loop != loops.end(); ++loop)
    elements *= loop->axis == axis ? loop->extent : 1;
  return elements;
}

void shorten_code(Schedule& schedule) {
  schedule.short_code = true;
  if (schedule.space.op.bytes <= widest_long_network_bytes)
    schedule.network_column_bytes = program::lane_bytes;
}

void set_length(IterationSpace& space, int axis, int64_t length) {
  space.axes[static_cast<size_t>(axis)] = {length, length};
  Loop* outermost = nullptr;
  for (Loop& loop : space.loops) {
    if (loop.axis == axis && (outermost == nullptr || loop.step > outermost->step))
      outermost = &loop;
  }
  outermost->extent = ceil_div(length, outermost->step);
}

bool crowds_l1(const IterationSpace& space, const Target& target, int axis, int64_t lines) {
  const auto down = std::find_if(space.loops.begin(), space.loops.end(), [&](const Loop& loop) {
    return loop.axis == axis && loop.step == 1;
  });
  return !scheduling::l1_holds_lines(target, down->stride[1], lines);
}

}  // namespace restride
