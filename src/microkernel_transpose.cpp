// Transposes of a box. Its sides fall in two: those that make runs of the target (rows) and those
// that make runs of the source (columns). The innermost of either, up to a vector, meet in the
// register network; the others loop around it.
//
//     direct   network -> target
//     staged   for every panel of columns: network -> panel in L1; then the panel leaves for the
//     target in whole runs of
//              lines around the caches, while the source lines of the next box are asked for in the
//              order of its rows. A run of several lines is what memory writes fast; a transpose
//              alone makes runs of one.
#include <algorithm>
#include <utility>

#include "emitter.hpp"
#include "microkernel.hpp"
#include "transpose_network.hpp"

namespace restride {
namespace {

using nest::Side;
using program::Body;
using program::For;
using program::Step;

/// All positions of some sides, the last side fastest.
std::vector<Position> positions(const std::vector<Side>& sides, Position first) {
  std::vector<Position> result{first};
  for (const Side& side : sides) {
    std::vector<Position> repeated;
    repeated.reserve(result.size() * static_cast<size_t>(side.extent));
    for (const Position& outer : result) {
      for (int64_t i = 0; i < side.extent; ++i) {
        repeated.push_back({outer.source + i * side.stride[1], outer.target + i * side.stride[0]});
      }
    }
    result = std::move(repeated);
  }
  return result;
}

int64_t count(const std::vector<Side>& sides) {
  int64_t product = 1;
  for (const Side& side : sides) product *= side.extent;
  return product;
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
  for (size_t k = 0; k < tile.sides.size(); ++k) {
    if ((which >> k & 1) != 0 && tile.sides[k].extent > 1) sides.push_back(tile.sides[k]);
  }
  std::stable_sort(sides.begin(), sides.end(), [&](const Side& a, const Side& b) {
    return a.stride[operand] > b.stride[operand];
  });
  return sides;
}

class Transpose {
 public:
  Transpose(const nest::Tile& tile, uint32_t target_run, const Strides& at, const Machine& machine)
      : machine_(machine),
        element_(static_cast<int>(machine.element_bytes)),
        at_(at),
        rows_(chosen(tile, target_run, 0), machine.vector_bytes / element_),
        columns_(chosen(tile, ~target_run, 1), network_column_bytes(element_) / element_) {}

  Body direct() const {
    Body body = network({at_[1], at_[0]}, target_stream, machine_.nontemporal);
    for (auto side = rows_.looped.rbegin(); side != rows_.looped.rend(); ++side) {
      body = repeat(*side, std::move(body));
    }
    for (auto side = columns_.looped.rbegin(); side != columns_.looped.rend(); ++side) {
      body = repeat(*side, std::move(body));
    }
    return body;
  }

  /// Whether the rows of the box leave as whole lines, and a panel of it fits into the scratch a
  /// kernel may have.
  bool stageable() const {
    return machine_.nontemporal && one_run() && run_bytes() % machine_.vector_bytes == 0 &&
           run_bytes() > machine_.vector_bytes &&
           count(columns_.unrolled) * pitch() <= most_panel_bytes;
  }

  Body staged(int64_t& scratch_bytes) const {
    scratch_bytes = std::max(scratch_bytes, count(columns_.unrolled) * pitch());
    Body body = fill_panel();
    append(body, flush_panel());
    for (auto side = columns_.looped.rbegin(); side != columns_.looped.rend(); ++side) {
      body = repeat(*side, std::move(body));
      if (ahead()) {
        std::get<For>(body.front()).steps.push_back({prefetch_stream, prefetch_panel_stride(side)});
      }
    }
    return body;
  }

 private:
  static constexpr int64_t most_panel_bytes = 32 * 1024;

  int64_t run_bytes() const { return count(rows_.looped) * count(rows_.unrolled) * element_; }
  /// Rows of the panel are a line further apart than they are long: a power of two would put them
  /// into one set.
  int64_t pitch() const { return run_bytes() + 64; }

  /// Whether all rows lie side by side in the target.
  bool one_run() const {
    int64_t run = element_;
    for (const std::vector<Side>* sides : {&rows_.unrolled, &rows_.looped}) {
      for (auto side = sides->rbegin(); side != sides->rend(); ++side) {
        if (side->stride[0] != run) return false;
        run *= side->extent;
      }
    }
    return true;
  }

  Body network(Position first, int stream, bool nontemporal) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    const std::vector<Position> columns =
        stream == scratch_stream ? panel_columns() : positions(columns_.unrolled, {0, 0});
    emit_network(emitter, positions(rows_.unrolled, first), columns, element_,
                 machine_.target.registers, {stream, nontemporal});
    return {emitter.take()};
  }

  /// The columns of a panel lie in its rows, one after the other.
  std::vector<Position> panel_columns() const {
    std::vector<Position> columns = positions(columns_.unrolled, {0, 0});
    for (size_t c = 0; c < columns.size(); ++c)
      columns[c].target = static_cast<int64_t>(c) * pitch();
    return columns;
  }

  Body fill_panel() const {
    Body body = network({at_[1], 0}, scratch_stream, false);
    int64_t run = count(rows_.unrolled) * element_;
    for (auto side = rows_.looped.rbegin(); side != rows_.looped.rend(); ++side) {
      For loop{
          side->extent, {{source_stream, side->stride[1]}, {scratch_stream, run}}, std::move(body)};
      run *= side->extent;
      body.clear();
      body.push_back(std::move(loop));
    }
    return body;
  }

  /// One row of the panel: a run of lines to the target, and one row of the next box asked for.
  Body flush_row() const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    const int64_t vector = machine_.vector_bytes;
    for (int64_t begin = 0; begin < run_bytes(); begin += vector) {
      const program::Reg line = emitter.load(scratch_stream, begin, static_cast<int>(vector));
      emitter.store_nontemporal(line, target_stream, at_[0] + begin);
      if (ahead() && begin % 64 == 0) {
        emitter.prefetch(prefetch_stream, at_[1] + machine_.ahead + begin, 2);
      }
    }
    return {emitter.take()};
  }

  Body flush_panel() const {
    Body body = flush_row();
    int64_t panel_stride = pitch(), rows = 1;
    for (auto side = columns_.unrolled.rbegin(); side != columns_.unrolled.rend(); ++side) {
      For loop{side->extent,
               {{target_stream, side->stride[0]}, {scratch_stream, panel_stride}},
               std::move(body)};
      if (ahead()) loop.steps.push_back({prefetch_stream, rows * row_stride()});
      panel_stride *= side->extent;
      rows *= side->extent;
      body.clear();
      body.push_back(std::move(loop));
    }
    return body;
  }

  // ---- the box ahead: its rows are asked for one per panel row, so both sides of a box have as
  // many elements.

  int64_t source_run() const {
    return count(columns_.looped) * count(columns_.unrolled) * element_;
  }
  bool ahead() const {
    const std::vector<Side>& sides = rows_.looped.empty() ? rows_.unrolled : rows_.looped;
    const bool uniform =
        rows_.looped.size() <= 1 && rows_.unrolled.size() == 1 &&
        (rows_.looped.empty() ||
         sides[0].stride[1] == rows_.unrolled[0].stride[1] * rows_.unrolled[0].extent);
    return machine_.ahead != 0 && uniform && source_run() == run_bytes() && source_run() % 64 == 0;
  }
  int64_t row_stride() const { return rows_.unrolled[0].stride[1]; }
  int64_t prefetch_panel_stride(std::vector<Side>::const_reverse_iterator side) const {
    int64_t rows = count(columns_.unrolled);
    for (auto inner = columns_.looped.rbegin(); inner != side; ++inner) rows *= inner->extent;
    return rows * row_stride();
  }

  const Machine& machine_;
  int element_;
  Strides at_;
  Sides rows_;     // make runs of the target
  Sides columns_;  // make runs of the source
};

}  // namespace

Body emit_transpose(const nest::Tile& tile, uint32_t target_run, const Strides& at,
                    const Machine& machine, int64_t& scratch_bytes) {
  const Transpose transpose(tile, target_run, at, machine);
  return transpose.stageable() ? transpose.staged(scratch_bytes) : transpose.direct();
}

}  // namespace restride
