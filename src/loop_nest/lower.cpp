// Schedule -> LoopNest: walks the loops with the part of each axis that is still in view. Where an
// axis runs out inside a loop the loop is peeled: full iterations, the partial one, the padding.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "loop_nest/loop_nest.hpp"
#include "loop_nest/parts.hpp"

namespace restride {
namespace {

using nest::Block;
using nest::For;
using nest::Node;
using nest::Side;
using nest::Tile;
using nest::Work;

/// Whether no operand comes to the end of a digit of its own in iterations [begin, end).
bool is_plain(const Loop& loop, int64_t begin, int64_t end) {
  int operand = -1;
  for (const OwnDigit& digit : loop.own) {
    const bool finest = std::exchange(operand, digit.operand) != digit.operand;
    if (finest && begin / digit.every != (end - 1) / digit.every) return false;
  }
  return true;
}

/// Iterations [begin, end) of a loop, at `offset`.
struct Run {
  Side side;
  Strides offset;
};

Run run_of(const Loop& loop, int64_t begin, int64_t end) {
  if (is_plain(loop, begin, end)) return {{end - begin, loop.stride}, loop.at(begin)};
  return {{end - begin, loop.stride, loop.own, begin}, {}};
}

/// The sides of the target alone that fill what `run` repeats, and where they begin.
std::vector<std::pair<int64_t, std::vector<Side>>> filled_boxes(const Run& run) {
  std::vector<std::pair<int64_t, std::vector<Side>>> result;
  const int64_t last = run.side.first + run.side.extent;
  for (const NumeralBox& box :
       numeral_boxes(numeral_of(run.side.stride, run.side.own, 0, last), run.side.first, last)) {
    result.push_back({box.offset, {}});
    for (const WeightedDigit& digit : box.digits) {
      result.back().second.push_back({digit.extent, {digit.stride}});
    }
  }
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
  explicit Lowering(const Part& part)
      : part_(part),
        schedule_(part.schedule),
        loops_(schedule_.space.loops),
        first_side_(loops_.size() - static_cast<size_t>(schedule_.tile_loops)) {}

  /// The statements of loops `k` and inside, for the part `rest` of each axis that is in view.
  Block lower(size_t k, const std::vector<Axis>& rest) const {
    if (k == loops_.size()) return leaf(rest);
    const Loop& loop = loops_[k];
    const Axis whole = rest[static_cast<size_t>(loop.axis)];
    Block block;
    for (int64_t begin = 0; begin < loop.extent;) {
      const Axis part = window(whole, begin * loop.step, loop.step);
      if (part.padded == 0) break;
      if (const int64_t whole_end = fills_within(k, whole); begin == 0 && whole_end > 0) {
        std::vector<Axis> inside = rest;
        inside[static_cast<size_t>(loop.axis)] = {loop.step, loop.step};
        Run run = run_of(loop, 0, whole_end);
        run.side.filled = whole_end - whole.valid / loop.step;
        place(block, k, run, lower(k + 1, inside));
        begin = whole_end;
        continue;
      }
      int64_t end = begin + 1;
      if (part.valid == loop.step) end = whole.valid / loop.step;
      if (part.valid == 0 && part.padded == loop.step) end = whole.padded / loop.step;
      end = std::min(end, loop.extent);
      if (static_cast<int>(k) == schedule_.window_loop)
        end = std::min(end, begin + schedule_.window - begin % schedule_.window);
      std::vector<Axis> inside = rest;
      inside[static_cast<size_t>(loop.axis)] = part;
      if (part.valid == 0) {  // all padding from here on: the other axes need no cut at `valid`
        for (Axis& axis : inside) axis.valid = 0;
      }
      const int64_t from = first_count(loop);
      place(block, k, run_of(loop, from + begin, from + end), lower(k + 1, inside));
      begin = end;
    }
    return block;
  }

 private:
  Block leaf(const std::vector<Axis>& rest) const {
    const bool fills =
        std::any_of(rest.begin(), rest.end(), [](const Axis& axis) { return axis.valid == 0; });
    Tile tile{fills ? Work::fill : Work::compute, {}};
    tile.sides.reserve(loops_.size() - first_side_);
    Block block;
    block.push_back({{}, std::move(tile)});
    return block;
  }

  int64_t first_count(const Loop& loop) const {
    if (loop.own.empty()) return 0;
    const auto from = std::find_if(part_.from.begin(), part_.from.end(),
                                   [&](const Part::From& one) { return one.axis == loop.axis; });
    return from == part_.from.end() ? 0 : from->count;
  }

  /// The iterations of loop `k` that are one side, padding and all; 0: they are taken apart.
  int64_t fills_within(size_t k, const Axis& whole) const {
    const Loop& loop = loops_[k];
    if (k < first_side_ || (schedule_.fills_within >> (k - first_side_) & 1) == 0) return 0;
    const bool cut = whole.valid % loop.step != 0 || whole.padded % loop.step != 0;
    const int64_t valid = whole.valid / loop.step;
    const int64_t padded = std::min(whole.padded / loop.step, loop.extent);
    return cut || valid == 0 || valid >= padded ? 0 : padded;
  }

  /// Appends `body`, repeated by `run` of loop `k`.
  void place(Block& block, size_t k, const Run& run, Block body) const {
    if (k < first_side_ && run.side.extent > 1) {
      block.push_back({run.offset, For{run.side, std::move(body)}});
      return;
    }
    for (Node& node : body) {
      Tile* const tile = k >= first_side_ ? &std::get<Tile>(node.statement) : nullptr;
      if (tile != nullptr && tile->work == Work::fill) {
        fill(block, node, run);
        continue;
      }
      if (tile != nullptr) tile->sides.insert(tile->sides.begin(), run.side);
      node.offset = sum(node.offset, run.offset);
      block.push_back(std::move(node));
    }
  }

  /// Appends the fill `node`, repeated by `run`.
  static void fill(Block& block, const Node& node, const Run& run) {
    for (const auto& [offset, sides] : filled_boxes(run)) {
      Node filled = node;
      Tile& tile = std::get<Tile>(filled.statement);
      tile.sides.insert(tile.sides.begin(), sides.begin(), sides.end());
      flatten(tile);
      filled.offset = sum(node.offset, run.offset);
      filled.offset[0] += offset;
      block.push_back(std::move(filled));
    }
  }

  const Part& part_;
  const Schedule& schedule_;
  const std::vector<Loop>& loops_;
  size_t first_side_;  // loops from here on are sides of tiles
};

}  // namespace

void lower_plainly(const Part& part, Block& block) {
  for (Node& node : Lowering(part).lower(0, part.schedule.space.axes)) {
    node.offset = sum(node.offset, part.offset);
    block.push_back(std::move(node));
  }
}

LoopNest lower(const Schedule& schedule) {
  const IterationSpace& space = schedule.space;
  LoopNest nest{space.op, {}};
  const bool empty = std::any_of(space.axes.begin(), space.axes.end(),
                                 [](const Axis& axis) { return axis.padded == 0; });
  if (!empty) lower_peeled({schedule}, nest.root);
  if (space.tail_end > space.tail_begin) {
    const int64_t stride = element_stride(space.op, 0);
    const int64_t elements = (space.tail_end - space.tail_begin) / stride;
    nest.root.push_back({{space.tail_begin}, Tile{Work::fill, {{elements, {stride}}}}});
  }
  return nest;
}

}  // namespace restride
