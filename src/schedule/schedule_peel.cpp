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
// This takes runs that go on for long along one axis, and whole lines from each to the next. Those
// that others follow are spliced (schedule_spliced), others are shifted (schedule_between_lines).
// What stays in the caches: schedule_cached_peel.
#include <algorithm>
#include <array>

#include "program/program.hpp"
#include "schedule/peel_ends.hpp"
#include "schedule/scheduling.hpp"

namespace restride {
namespace {

// Sources of targets between lines are peeled where so many lines crowd L1: of a line that two
// panels share each reads it anew. Zen 4, both
// arrays 16 bytes behind a line, 16 problems .67 of the time, .45 -> .66 of the ceiling, the source
// alone behind one .69: f32[32,7,7,2048]{2,1,3,0} .31 -> .57, f32[58,96,1760]{0,2,1} .45 -> .8, u16
// 624 x 32768 .27 -> .5; rows of 4 lines (c128 16 x 119808) .74 of the time.
constexpr int64_t most_shared_lines = 32;

// Matrices of 16-byte elements with such runs, which touch in both arrays, are better off as
// images, which leave wherever they begin. Zen 4, 16 bytes behind a line, 7 problems .72 of the
// time: c128[4,256,64,59]{2,3,0,1} .46 -> .76 of the ceiling, c128[186,128,80]{1,2,0} .57 -> .8;
// runs of the source of 2 KB .94, of 3 KB 1.5, of narrower elements 45 would take .8 to 3.9.
constexpr int64_t most_imaged_run_bytes = 3 * 1024, most_imaged_source_run_bytes = 2 * 1024 - 1;

/// Whether they are.
bool makes_images(const IterationSpace& space) {
  const int axis = axis_of_runs(space, 0), across = axis_of_runs(space, 1);
  if (axis < 0 || across < 0 || axis == across || space.op.bytes < program::lane_bytes)
    return false;
  const int64_t run = space.axes[static_cast<size_t>(axis)].valid * space.op.bytes;
  const int64_t source_run = space.axes[static_cast<size_t>(across)].valid * space.op.bytes;
  const auto moves = [&](int of, size_t operand, int64_t bytes) {
    return std::any_of(space.loops.begin(), space.loops.end(), [&](const Loop& loop) {
      return loop.axis == of && loop.step == 1 && loop.stride[operand] == bytes;
    });
  };
  return run <= most_imaged_run_bytes && source_run <= most_imaged_source_run_bytes &&
         moves(across, 0, run) && moves(axis, 1, source_run);
}

/// Blocks that are computed around the caches: what is before the first line of a run goes apart of
/// those, too. Zen 4, both arrays 16 bytes behind a line, where all had gone through the caches: 29
/// computations .70 of the time, .30 -> .42 of the ceiling: f32[32,56,56,64] to bf16{2,1,3,0} .23
/// -> .61, bf16 4096 x 4096 to f32, transposed, .21 -> .40; s8[56,512,2048]{1,0,2} times
/// another 1.4.
bool computes_streamed_blocks(const Schedule& schedule) {
  return schedule.movement == Movement::compute && schedule.nontemporal &&
         !is_packed(schedule.space.op);
}

}  // namespace

std::optional<Schedule> peeled(Schedule on_line, const Target& target, int64_t phase,
                               PeeledRest rest) {
  const IterationSpace& space = on_line.space;
  const int axis = axis_of_runs(space, 0);
  const bool streams = is_staged_transpose(on_line) || computes_streamed_blocks(on_line);
  if (!streams || !can_peel(space, target, 0, axis) || phase % space.op.bytes != 0 ||
      makes_images(space))
    return std::nullopt;
  Peel ends = ends_of(space, target, axis, phase);
  const int64_t between = space.axes[static_cast<size_t>(axis)].valid - ends.first - ends.last;
  if (rest == PeeledRest::apart) ends.first += between % block_elements(on_line, axis);
  shorten_code(on_line);
  on_line.peels[0] = ends;
  return on_line;
}

std::optional<Schedule> peeled_source(const IterationSpace& simplified, const Target& target,
                                      int64_t phase, CodeGoal goal) {
  const int axis = axis_of_runs(simplified, 0), across = axis_of_runs(simplified, 1);
  const int64_t bytes = simplified.op.bytes;
  if (axis < 0 || across < 0 || axis == across || phase % bytes != 0 ||
      !can_peel(simplified, target, 1, across) ||
      !crowds_l1(simplified, target, axis, most_shared_lines))
    return std::nullopt;
  const int64_t columns = simplified.axes[static_cast<size_t>(across)].valid;
  const Peel ends = ends_of(simplified, target, across, phase);
  IterationSpace between = simplified;
  set_length(between, across, columns - ends.first - ends.last);
  Schedule result = schedule(between, target, goal, false);
  if (result.movement != Movement::transpose || !result.nontemporal ||
      !is_uniform(result.space, across))
    return std::nullopt;
  set_length(result.space, across, columns);
  result.peels[1] = ends;
  return result;
}

std::optional<Schedule> peeled_twice(const IterationSpace& simplified, const Schedule& on_line,
                                     const Target& target, int64_t phase) {
  const std::array<int, 2> axes{axis_of_runs(simplified, 0), axis_of_runs(simplified, 1)};
  if (!is_staged_transpose(on_line) || axes[0] == axes[1] || phase % simplified.op.bytes != 0 ||
      makes_images(simplified))
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
