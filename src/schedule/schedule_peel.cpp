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
#include "schedule/l1_sets.hpp"
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

// Rows that touch along the columns are spliced, too. Zen 4, both arrays 16 bytes behind a line:
// 101 problems .90 of the time, .66 -> .74 of the ceiling: f32[355,384,384]{1,2,0} .53 -> .87,
// f64[128,64,770]{0,2,1} .30 -> .79, f16 1024 x 1024 .45 -> .53; f32[4,256,64,256]{2,1,3,0} 1.0 to
// 1.3. Short rows where so many lines of the source crowd L1, which what is read for images does as
// well: f32[300,96,512]{1,2,0} .70; others u16[300,224,512]{1,2,0} 1.6, f64[300,64,500] 1.27.
constexpr int64_t least_crowding_lines = 24;
// The source is peeled, too, where so many panels' lines crowd L1: of a line that two panels share
// each reads it anew. (A model that only reads rows 8 KB apart: 1.4 ns a line for 5.) So are long
// rows, of which it takes little: f32 4000 x 4000 not peeled 1.25 times as long, u16 4800 x 3200
// 1.4, f32[20,720,1200]{1,2,0} .77.
constexpr int64_t crowding_panels = 3, least_long_row_bytes = 6 * 1024;

// Between lines so many of them do: of a line that two panels share each reads it anew. Zen 4, both
// arrays 16 bytes behind a line, 16 problems .67 of the time, .45 -> .66 of the ceiling, the source
// alone behind one .69: f32[32,7,7,2048]{2,1,3,0} .31 -> .57, f32[58,96,1760]{0,2,1} .45 -> .8, u16
// 624 x 32768 .27 -> .5; rows of 4 lines (c128 16 x 119808) .74 of the time.
constexpr int64_t most_shared_lines = 32;

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

/// Whether lines of so many rows of the source, `axis`, crowd sets of L1.
bool crowds(const IterationSpace& space, const Target& target, int axis, int64_t lines) {
  const auto down = std::find_if(space.loops.begin(), space.loops.end(), [&](const Loop& loop) {
    return loop.axis == axis && loop.step == 1;
  });
  return !scheduling::l1_holds_lines(target, down->stride[1], lines);
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

// Of so many runs no more than one is left whose ends are not spliced with the next one's.
constexpr int64_t least_runs_a_rest = 8;

/// Whether as many groups of rows fill a panel as columns leave it, or a part of them: else those
/// of short code come and go by turns, and ask for nothing.
bool fills_evenly(int64_t rows, int64_t bytes, const Target& target) {
  const int64_t groups = rows * bytes / program::lane_bytes, columns = target.line_bytes / bytes;
  return groups > 0 && std::max(groups, columns) % std::min(groups, columns) == 0;
}

/// Of how many columns, the last ones, what is spliced ends: the others make whole boxes, or at
/// least panels.
int64_t columns_apart(int64_t columns, int64_t box, int64_t panel) {
  const int64_t rest = columns % box;
  const int64_t boxes = rest > 0 ? rest : box;
  return boxes * least_runs_a_rest <= columns ? boxes : (columns - 1) % panel + 1;
}

}  // namespace

std::optional<Schedule> spliced_columns(const IterationSpace& simplified, const Schedule& on_line,
                                        const Target& target, int64_t phase, CodeGoal goal) {
  const int axis = axis_of_runs(simplified, 0), across = axis_of_runs(simplified, 1);
  const int64_t bytes = simplified.op.bytes;
  const auto panels = [&](const Schedule& schedule) {
    return is_staged_transpose(schedule) && schedule.staging == Staging::panels &&
           is_uniform(schedule.space, axis) && is_uniform(schedule.space, across);
  };
  if (axis == across || bytes >= program::lane_bytes || phase % bytes != 0 || !panels(on_line) ||
      !runs_begin_alike(simplified, target, 0, axis))
    return std::nullopt;
  const int64_t run = simplified.axes[static_cast<size_t>(axis)].valid;
  const int64_t runs = simplified.axes[static_cast<size_t>(across)].valid;
  const int64_t in_line = target.line_bytes / bytes;
  if (axis_by(simplified, 0, run * bytes) != across || run % in_line != 0 ||
      runs < least_spliced_runs * in_line ||
      (run * bytes < least_peeled_run_bytes &&
       !crowds(simplified, target, axis, least_crowding_lines)))
    return std::nullopt;
  const Peel rows = ends_of(simplified, target, axis, phase);
  const int64_t part = spliced_elements(run, std::min(block_elements(on_line, axis), run),
                                        rows.first, simplified, target);
  if (part == 0 || part >= run) return std::nullopt;
  Peel columns;
  if (can_peel(simplified, target, 1, across) &&
      (crowds(simplified, target, axis, crowding_panels * in_line) ||
       runs * bytes >= least_long_row_bytes))
    columns = ends_of(simplified, target, across, phase);
  IterationSpace between = simplified;
  set_length(between, axis, run - part);
  set_length(between, across, runs - columns.first - columns.last);
  Schedule result = schedule(between, target);
  if (!panels(result)) return std::nullopt;
  result.short_code = goal != CodeGoal::fast;
  if (result.short_code && !fills_evenly(block_elements(result, axis), bytes, target))
    return std::nullopt;
  const int64_t box = std::min(block_elements(result, across), runs);
  set_length(result.space, axis, run);
  set_length(result.space, across, runs);
  if (bytes <= widest_long_network_bytes) result.network_column_bytes = program::lane_bytes;
  result.peels = {Peel{axis, rows.first, part - rows.first, across}, columns};
  result.peels[0].apart = columns_apart(runs, box, in_line);
  return result;
}

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

std::optional<Schedule> peeled_source(const IterationSpace& simplified, const Target& target,
                                      int64_t phase, CodeGoal goal) {
  const int axis = axis_of_runs(simplified, 0), across = axis_of_runs(simplified, 1);
  const int64_t bytes = simplified.op.bytes;
  if (axis < 0 || across < 0 || axis == across || phase % bytes != 0 ||
      !can_peel(simplified, target, 1, across) ||
      !crowds(simplified, target, axis, most_shared_lines))
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
