// Schedules for arrays that begin a few bytes behind a line whose runs others follow: what would go
// apart of two of them goes together.
//
//     target   |............0000|0000000000000000|0000111111111111|1111111111111111|1111222222..
//                                                  spliced: the last of run 0, the first of run 1
#include <algorithm>
#include <numeric>

#include "microkernel/microkernel.hpp"
#include "program/program.hpp"
#include "schedule/peel_ends.hpp"
#include "schedule/scheduling.hpp"

namespace restride {
namespace {

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

// Of so many runs no more than one is left whose ends are not spliced with the next one's.
constexpr int64_t least_runs_a_rest = 8;

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

/// Rows of the target along one axis, each of which another column of the source follows.
struct TouchingRows {
  int axis, across;    ///< of the rows; of the columns
  int64_t run, count;  ///< elements of a row; rows
};

/// Those that are whole lines, and as many as are worth it; none else.
std::optional<TouchingRows> whole_touching_rows(const IterationSpace& space, const Target& target) {
  const int axis = axis_of_runs(space, 0), across = axis_of_runs(space, 1);
  const int64_t bytes = space.op.bytes, in_line = target.line_bytes / bytes;
  if (across < 0 || axis == across || !runs_begin_alike(space, target, 0, axis))
    return std::nullopt;
  const TouchingRows rows{axis, across, space.axes[static_cast<size_t>(axis)].valid,
                          space.axes[static_cast<size_t>(across)].valid};
  const bool touch = axis_by(space, 0, rows.run * bytes) == across;
  const bool is_long = rows.run * bytes >= least_peeled_run_bytes ||
                       crowds_l1(space, target, axis, least_crowding_lines);
  const bool whole = rows.run % in_line == 0 && rows.count >= least_spliced_runs * in_line;
  return touch && is_long && whole ? std::optional(rows) : std::nullopt;
}

/// What of the columns goes apart, so that panels begin on lines of the source, if that is worth
/// it.
Peel peel_of_columns(const IterationSpace& space, const Target& target, const TouchingRows& rows,
                     int64_t phase) {
  const int64_t bytes = space.op.bytes, lines = crowding_panels * target.line_bytes / bytes;
  const bool is_worth_it =
      rows.count * bytes >= least_long_row_bytes || crowds_l1(space, target, rows.axis, lines);
  return is_worth_it && can_peel(space, target, 1, rows.across)
             ? ends_of(space, target, rows.across, phase)
             : Peel{};
}

bool moves_by_panels(const Schedule& schedule, const TouchingRows& rows) {
  return is_staged_transpose(schedule) && schedule.staging == Staging::panels &&
         is_uniform(schedule.space, rows.axis) && is_uniform(schedule.space, rows.across);
}

}  // namespace

std::optional<Schedule> spliced_columns(const IterationSpace& simplified, const Schedule& on_line,
                                        const Target& target, int64_t phase, CodeGoal goal) {
  const int64_t bytes = simplified.op.bytes;
  if (bytes >= program::lane_bytes || phase % bytes != 0) return std::nullopt;
  const std::optional<TouchingRows> rows = whole_touching_rows(simplified, target);
  if (!rows || !moves_by_panels(on_line, *rows)) return std::nullopt;
  const int64_t first = ends_of(simplified, target, rows->axis, phase).first;
  const int64_t block = std::min(block_elements(on_line, rows->axis), rows->run);
  const int64_t part = spliced_elements(rows->run, block, first, simplified, target);
  if (part == 0 || part >= rows->run) return std::nullopt;
  const Peel columns = peel_of_columns(simplified, target, *rows, phase);
  IterationSpace between = simplified;
  set_length(between, rows->axis, rows->run - part);
  set_length(between, rows->across, rows->count - columns.first - columns.last);
  Schedule result = schedule(between, target);
  result.short_code = goal != CodeGoal::fast;
  if (!moves_by_panels(result, *rows) ||
      (result.short_code && !fills_evenly(block_elements(result, rows->axis), bytes, target)))
    return std::nullopt;
  const int64_t box = std::min(block_elements(result, rows->across), rows->count);
  set_length(result.space, rows->axis, rows->run);
  set_length(result.space, rows->across, rows->count);
  if (bytes <= widest_long_network_bytes) result.network_column_bytes = program::lane_bytes;
  result.peels = {Peel{rows->axis, first, part - first, rows->across}, columns};
  result.peels[0].apart = columns_apart(rows->count, box, target.line_bytes / bytes);
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

}  // namespace restride
