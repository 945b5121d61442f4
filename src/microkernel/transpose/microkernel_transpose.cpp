// Transposes of a box. Its sides fall in two: those that make runs of the target (rows) and those
// that make runs of the source (columns). The innermost of either, up to a vector, meet in the
// register network; the others loop around it.
// Boxes of whole vectors that leave around the caches go through a panel: see microkernel_staged.
#include <algorithm>
#include <utility>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/packed/row_mixing.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/shifted_lines.hpp"
#include "microkernel/transpose/skewed_network.hpp"
#include "microkernel/transpose/transpose_network.hpp"

namespace restride {
namespace {

using nest::Side;
using program::Body;

/// All positions of some sides, the last side fastest.
std::vector<Position> positions(const std::vector<Side>& sides, Position first) {
  std::vector<Position> result{first};
  for (const Side& side : sides) {
    std::vector<Position> repeated;
    const Strides begin = side.at(0);
    repeated.reserve(result.size() * static_cast<size_t>(side.extent));
    for (const Position& outer : result) {
      for (int64_t i = 0; i < side.extent; ++i) {
        const Strides at = side.at(i);
        repeated.push_back({outer.source + at[1] - begin[1], outer.target + at[0] - begin[0],
                            outer.filled || i + side.filled >= side.extent});
      }
    }
    result = std::move(repeated);
  }
  return result;
}

/// Sides of one kind, split into those that loop and those whose positions are unrolled.
struct Sides {
  std::vector<Side> looped, unrolled;

  /// The innermost sides of up to `most` positions are unrolled.
  Sides(std::vector<Side> sides, int64_t most) {
    size_t first = sides.size();
    for (int64_t room = most; first > 0 && sides[first - 1].extent <= room; --first) {
      room /= sides[first - 1].extent;
    }
    const auto middle = sides.begin() + static_cast<std::ptrdiff_t>(first);
    unrolled.assign(middle, sides.end());
    looped.assign(sides.begin(), middle);
  }
};

/// The sides of one kind, slowest first in the operand they make runs of.
std::vector<Side> chosen(const nest::Tile& tile, uint32_t which, size_t operand) {
  std::vector<Side> sides;
  sides.reserve(tile.sides.size());
  for (size_t k = 0; k < tile.sides.size(); ++k) {
    if ((which >> k & 1) != 0 && tile.sides[k].extent > 1) sides.push_back(tile.sides[k]);
  }
  const auto slower = [&](const Side& a, const Side& b) {
    return a.stride[operand] > b.stride[operand];
  };
  // Sorting takes memory.
  if (!std::is_sorted(sides.begin(), sides.end(), slower))
    std::stable_sort(sides.begin(), sides.end(), slower);
  return sides;
}

/// How much of a row of the target one network makes.
int64_t row_bytes(const Machine& machine) {
  return machine.lane_rows ? program::lane_bytes : machine.vector_bytes;
}

class Transpose {
 public:
  Transpose(std::vector<Side> rows, std::vector<Side> columns, const Strides& at,
            const Machine& machine, Tables& tables)
      : machine_(machine),
        tables_(tables),
        at_(at),
        rows_(std::move(rows), row_bytes(machine) / machine.element_bytes),
        columns_(std::move(columns), machine.network_column_bytes / machine.element_bytes) {}

  Body emit() const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    // What is before a tile is of the source: a tile is as far behind another one.
    const int64_t before = machine_.reads_between ? std::max(at_[1], int64_t{0}) : 0;
    const std::vector<Position> rows = positions(rows_.unrolled, {at_[1], at_[0]});
    const std::vector<Position> columns = positions(columns_.unrolled, {0, 0});
    if (has_skewed_networks(machine_)) {
      emit_skewed_networks(emitter, rows, columns, machine_, tables_, before);
    } else {
      emit_network(emitter, rows, columns, machine_, target_stream, before);
    }
    Body body = body_of(emitter.take());
    // Where a network takes less than a line of the source, the rest of the line comes next: 512 x
    // 512 u16 in L2 .51 of memcpy against .32. Where it takes whole lines, runs of the target grow
    // first: 256 x 256 f64 .65 against .47.
    const bool target_first = machine_.target_first;
    const std::vector<Side>& inner = target_first ? rows_.looped : columns_.looped;
    const std::vector<Side>& outer = target_first ? columns_.looped : rows_.looped;
    for (const std::vector<Side>* looped : {&inner, &outer}) {
      for (auto side = looped->rbegin(); side != looped->rend(); ++side) {
        body = repeat(*side, std::move(body));
      }
    }
    return body;
  }

 private:
  const Machine& machine_;
  Tables& tables_;
  Strides at_;
  Sides rows_;     // make runs of the target
  Sides columns_;  // make runs of the source
};

/// Some sides, and how far behind the first ones they begin.
struct Part {
  std::vector<Side> sides;
  Strides behind;
};

/// Of a spliced run what is before the first carry, and the rest.
std::vector<Part> unspliced(std::vector<Side> sides) {
  const Side whole = sides.back();
  int64_t end = whole.extent, every = 1;
  for (const OwnDigit& digit : whole.own) {
    every *= digit.every;
    end = std::min(end, every - whole.first % every);
  }
  Side& plain = sides.back();
  plain.own.clear();
  plain.extent = end, plain.first = 0;
  std::vector<Part> parts{{sides, {}}};
  if (end == whole.extent) return parts;
  sides.back() = whole;
  sides.back().extent -= end, sides.back().first += end;
  const Strides here = whole.at(0), there = whole.at(end);
  Strides behind{};
  for (size_t k = 0; k < behind.size(); ++k) behind[k] = there[k] - here[k];
  parts.push_back({std::move(sides), behind});
  return parts;
}

/// Parts whose innermost side falls into chunks of `most`, and what is left of it.
std::vector<Part> in_chunks(std::vector<Side> sides, int64_t most) {
  if (sides.empty() || sides.back().extent <= most) return {{std::move(sides), {}}};
  if (!sides.back().own.empty()) {
    std::vector<Part> parts;
    for (Part& whole : unspliced(std::move(sides))) {
      for (Part& part : in_chunks(std::move(whole.sides), most)) {
        part.behind = sum(part.behind, whole.behind);
        parts.push_back(std::move(part));
      }
    }
    return parts;
  }
  Part rest{sides, {}};
  Side chunks = sides.back();
  rest.sides.back().extent = chunks.extent % most;
  chunks.extent /= most;
  for (int64_t& stride : chunks.stride) stride *= most;
  rest.behind = chunks.at(chunks.extent);
  sides.back().extent = most;
  sides.insert(sides.end() - 1, chunks);
  std::vector<Part> parts{{std::move(sides), {}}};
  if (rest.sides.back().extent > 0) parts.push_back(std::move(rest));
  return parts;
}

/// The same of parts of a lane each. The last one has a whole lane, too, and writes some of the one
/// before it again.
std::vector<Part> in_lanes(std::vector<Side> sides, int64_t lane) {
  std::vector<Part> parts = in_chunks(sides, lane);
  if (parts.size() == 1) return parts;
  Part& last = parts.back();
  last.behind = sides.back().at(sides.back().extent - lane);
  last.sides.back().extent = lane;
  return parts;
}

Body emit_networks(std::vector<Side> rows, std::vector<Side> columns, const Strides& at,
                   const Machine& machine, Tables& tables) {
  const int64_t chunk = row_bytes(machine) / machine.element_bytes;
  const std::vector<Part> row_parts =
      machine.lane_rows ? in_lanes(std::move(rows), chunk) : in_chunks(std::move(rows), chunk);
  const std::vector<Part> column_parts = in_chunks(std::move(columns), network_columns(machine));
  Body body;
  for (const Part& row : row_parts) {
    for (const Part& column : column_parts) {
      const Strides from = sum(at, sum(row.behind, column.behind));
      append(body, Transpose(row.sides, column.sides, from, machine, tables).emit());
    }
  }
  // Lanes that are written again are of one unit of work.
  return machine.lane_rows ? loop_always(1, {}, std::move(body)) : body;
}

/// Rows and their padding: in images, or in networks, or, of more than a vector, apart.
Body emit_padded_rows(const Side& row, const std::vector<Side>& columns, const Strides& at,
                      const Machine& machine, Tables& tables, int64_t& scratch_bytes) {
  Side valid = row;
  valid.extent -= std::exchange(valid.filled, 0);
  const TileRun rows({valid}), run(columns);
  if (!machine.is_end && !run.is_spliced() && can_join(rows, row.filled, run, machine))
    return emit_joined_transpose(rows, row.filled, run, at, machine, scratch_bytes);
  if (row.extent * machine.element_bytes <= machine.vector_bytes)
    return emit_networks({row}, columns, at, machine, tables);
  Machine part = machine;
  part.nontemporal = false;
  nest::Tile padding{nest::Work::fill, columns};
  padding.sides.push_back({row.filled, row.stride});
  Body body = emit_networks({valid}, columns, at, part, tables);
  append(body, emit_rows(padding, RowValue::fill, sum(at, row.at(valid.extent)), part));
  return body;
}

}  // namespace

Body emit_transpose(const nest::Tile& tile, uint32_t target_run, const Strides& at,
                    const Machine& machine, Tables& tables, int64_t& scratch_bytes) {
  std::vector<Side> rows = chosen(tile, target_run, 0), columns = chosen(tile, ~target_run, 1);
  const bool fills =
      std::any_of(rows.begin(), rows.end(), [](const Side& side) { return side.filled > 0; });
  if (fills && rows.size() == 1)
    return emit_padded_rows(rows.front(), columns, at, machine, tables, scratch_bytes);
  if (fills) return emit_networks(std::move(rows), std::move(columns), at, machine, tables);
  const TileRun row(rows), column(columns);
  const bool spliced = row.is_spliced() || column.is_spliced();
  if (spliced && can_stage(row, column, {}, machine))
    return emit_staged_transpose(row, column, {}, at, machine, scratch_bytes);
  if (spliced || machine.is_end) {
    Machine part = machine;
    part.nontemporal = machine.nontemporal && !spliced && row.sides() == 1;
    if (machine.is_end && machine.element_bytes <= widest_long_network_bytes) {
      part.vector_bytes = program::lane_bytes;
      part.nontemporal = false;
    }
    return emit_networks(std::move(rows), std::move(columns), at, part, tables);
  }
  if (can_image_rows(row, column, machine)) {
    return emit_imaged_rows(row, column, at, machine, scratch_bytes);
  }
  if (has_short_rows(row, column, machine)) {
    return emit_short_row_transpose(row, column, at, machine, tables);
  }
  if (can_join(row, 0, column, machine)) {
    return emit_joined_transpose(row, 0, column, at, machine, scratch_bytes);
  }
  if (can_shift(row, column, {}, machine)) {
    return shifts_by_turns(machine)
               ? emit_shifted_by_turns(row, column, at, machine, tables, scratch_bytes)
               : emit_shifted_transpose(row, column, {}, at, machine, tables, scratch_bytes);
  }
  if (can_image(row, column, machine)) {
    return emit_imaged_transpose(row, column, at, machine, scratch_bytes);
  }
  if (can_stage(row, column, {}, machine)) {
    return emit_staged_transpose(row, column, {}, at, machine, scratch_bytes);
  }
  // Parts of lines leave around the caches well only where the others follow at once. 32-byte
  // vectors, u8[32,2048,7,7]{1,3,2,0}: .03 of the ceiling, .4 with regular stores.
  Machine part = machine;
  part.nontemporal =
      machine.nontemporal && machine.vector_bytes == machine.target.line_bytes && row.sides() == 1;
  // Few columns behind whole panels.
  const int64_t panel = machine.vector_bytes / machine.element_bytes;
  if (masks_lines(machine.target) && columns.size() == 1 && columns.back().extent > panel) {
    const std::vector<Part> parts = in_chunks(columns, columns.back().extent / panel * panel);
    if (const TileRun whole(parts.front().sides); can_stage(row, whole, {}, machine)) {
      Body body = emit_staged_transpose(row, whole, {}, at, machine, scratch_bytes);
      append(body, emit_networks(std::move(rows), parts.back().sides, sum(at, parts.back().behind),
                                 part, tables));
      return body;
    }
  }
  return emit_networks(std::move(rows), std::move(columns), at, part, tables);
}

}  // namespace restride
