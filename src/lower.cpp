// Schedule -> LoopNest: walks the loops with the part of each axis that is still in view. Where an
// axis runs out inside a loop the loop is peeled: full iterations, the partial one, the padding.
#include <algorithm>
#include <utility>

#include "loop_nest.hpp"

namespace restride {
namespace {

using nest::Block;
using nest::For;
using nest::Node;
using nest::Side;
using nest::Tile;
using nest::Work;

Strides moved(const Strides& offset, const Strides& stride, int64_t iterations) {
  Strides result = offset;
  for (size_t k = 0; k < result.size(); ++k) result[k] += stride[k] * iterations;
  return result;
}

/// What iterations from `from` on, `length` elements long, see of an axis.
Axis window(const Axis& whole, int64_t from, int64_t length) {
  return {std::clamp<int64_t>(whole.valid - from, 0, length),
          std::clamp<int64_t>(whole.padded - from, 0, length)};
}

/// A fill reads nothing, so its sides may be put in target order and joined wherever the target is
/// contiguous.
void flatten(Tile& fill) {
  std::vector<Side>& sides = fill.sides;
  std::erase_if(sides, [](const Side& side) { return side.extent == 1; });
  std::stable_sort(sides.begin(), sides.end(),
                   [](const Side& a, const Side& b) { return a.stride[0] > b.stride[0]; });
  for (size_t k = 0; k + 1 < sides.size();) {
    if (sides[k].stride[0] == sides[k + 1].stride[0] * sides[k + 1].extent) {
      sides[k] = {sides[k].extent * sides[k + 1].extent, {sides[k + 1].stride[0]}};
      sides.erase(sides.begin() + static_cast<std::ptrdiff_t>(k) + 1);
      k = k > 0 ? k - 1 : 0;
    } else {
      ++k;
    }
  }
}

class Lowering {
 public:
  explicit Lowering(const Schedule& schedule)
      : loops_(schedule.space.loops),
        first_side_(loops_.size() - static_cast<size_t>(schedule.tile_loops)) {}

  /// The statements of loops `k` and inside, for the part `rest` of each axis that is in view.
  Block lower(size_t k, const std::vector<Axis>& rest) const {
    if (k == loops_.size()) return leaf(rest);
    const Loop& loop = loops_[k];
    const Axis whole = rest[static_cast<size_t>(loop.axis)];
    Block block;
    for (int64_t begin = 0; begin < loop.extent;) {
      const Axis part = window(whole, begin * loop.step, loop.step);
      if (part.padded == 0) break;
      int64_t end = begin + 1;
      if (part.valid == loop.step) end = whole.valid / loop.step;
      if (part.valid == 0 && part.padded == loop.step) end = whole.padded / loop.step;
      end = std::min(end, loop.extent);
      std::vector<Axis> inside = rest;
      inside[static_cast<size_t>(loop.axis)] = part;
      if (part.valid == 0) {  // all padding from here on: the other axes need no cut at `valid`
        for (Axis& axis : inside) axis.valid = 0;
      }
      place(block, k, begin, end, lower(k + 1, inside));
      begin = end;
    }
    return block;
  }

 private:
  static Block leaf(const std::vector<Axis>& rest) {
    const bool fills =
        std::any_of(rest.begin(), rest.end(), [](const Axis& axis) { return axis.valid == 0; });
    return {Node{{}, Tile{fills ? Work::fill : Work::compute, {}}}};
  }

  /// Appends `body`, repeated over iterations [begin, end) of loop `k`.
  void place(Block& block, size_t k, int64_t begin, int64_t end, Block body) const {
    const Loop& loop = loops_[k];
    const Side side{end - begin, loop.stride};
    const Strides offset = moved({}, loop.stride, begin);
    if (k < first_side_ && side.extent > 1) {
      block.push_back({offset, For{side, std::move(body)}});
      return;
    }
    for (Node& node : body) {
      if (k >= first_side_) {
        Tile& tile = std::get<Tile>(node.statement);
        tile.sides.insert(tile.sides.begin(), side);
        if (tile.work == Work::fill) flatten(tile);
      }
      node.offset = moved(node.offset, offset, 1);
      block.push_back(std::move(node));
    }
  }

  const std::vector<Loop>& loops_;
  size_t first_side_;  // loops from here on are sides of tiles
};

}  // namespace

LoopNest lower(const Schedule& schedule) {
  const IterationSpace& space = schedule.space;
  LoopNest nest{space.op, {}};
  const bool empty = std::any_of(space.axes.begin(), space.axes.end(),
                                 [](const Axis& axis) { return axis.padded == 0; });
  if (!empty) nest.root = Lowering(schedule).lower(0, space.axes);
  if (space.tail_end > space.tail_begin) {
    const int64_t stride = element_stride(space.op, 0);
    const int64_t elements = (space.tail_end - space.tail_begin) / stride;
    nest.root.push_back({{space.tail_begin}, Tile{Work::fill, {{elements, {stride}}}}});
  }
  return nest;
}

}  // namespace restride
