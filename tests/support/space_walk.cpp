// Plain recursion over loops; nothing clever, so that it can be trusted.
#include "support/space_walk.hpp"

#include <algorithm>

namespace restride::testing {
namespace {

Visit fill_byte(const ElementOp& op, int64_t target, int64_t byte) {
  return {target, Visit::filled, static_cast<int>(op.fill[static_cast<size_t>(byte % 16)])};
}

void add_element(const ElementOp& op, const Strides& at, bool computed, std::vector<Visit>& to) {
  for (int64_t byte = 0; byte < op.bytes; ++byte) {
    to.push_back(computed ? Visit{at[0] + byte, at[1] + byte, 0}
                          : fill_byte(op, at[0] + byte, byte));
  }
}

/// Where count `count` of a loop stands: each digit of an operand that has its own starts again
/// after so many counts, and the one above it advances.
Strides counted(Strides from, const Strides& stride, const OwnDigits& own, int64_t count) {
  Strides digit_stride = stride, counts;
  counts.fill(count);
  for (const OwnDigit& digit : own) {
    const auto operand = static_cast<size_t>(digit.operand);
    from[operand] += counts[operand] % digit.every * digit_stride[operand];
    counts[operand] /= digit.every;
    digit_stride[operand] = digit.stride;
  }
  for (size_t operand = 0; operand < from.size(); ++operand)
    from[operand] += counts[operand] * digit_stride[operand];
  return from;
}

/// The walk over a space: one counter per loop.
class SpaceWalk {
 public:
  SpaceWalk(const IterationSpace& space, std::vector<Visit>& to)
      : space_(space), to_(to), counts_(space.loops.size()) {}

  void walk(size_t loop, const Strides& at) {
    if (loop == space_.loops.size()) {
      if (visited()) add_element(space_.op, at, computed(), to_);
      return;
    }
    for (int64_t i = 0; i < space_.loops[loop].extent; ++i) {
      counts_[loop] = i;
      walk(loop + 1, counted(at, space_.loops[loop].stride, space_.loops[loop].own, i));
    }
  }

 private:
  /// The index along `axis`, of the loops from `first` on.
  int64_t index(size_t axis, size_t first) const {
    int64_t sum = 0;
    for (size_t k = first; k < counts_.size(); ++k) {
      if (space_.loops[k].axis == static_cast<int>(axis)) sum += counts_[k] * space_.loops[k].step;
    }
    return sum;
  }
  bool visited() const {
    for (size_t axis = 0; axis < space_.axes.size(); ++axis) {
      if (index(axis, 0) >= space_.axes[axis].padded) return false;
    }
    for (size_t k = 0; k < counts_.size(); ++k) {
      const Loop& loop = space_.loops[k];
      if (index(static_cast<size_t>(loop.axis), k + 1) >= loop.step && loop.step > 1) return false;
    }
    return true;
  }
  bool computed() const {
    for (size_t axis = 0; axis < space_.axes.size(); ++axis) {
      if (index(axis, 0) >= space_.axes[axis].valid) return false;
    }
    return true;
  }

  const IterationSpace& space_;
  std::vector<Visit>& to_;
  std::vector<int64_t> counts_;
};

void walk(const ElementOp& op, const nest::Block& block, const Strides& at, std::vector<Visit>& to);

void walk_tile(const ElementOp& op, const nest::Tile& tile, size_t side, const Strides& at,
               bool computed, std::vector<Visit>& to) {
  if (side == tile.sides.size()) {
    add_element(op, at, computed, to);
    return;
  }
  for (int64_t i = 0; i < tile.sides[side].extent; ++i) {
    const nest::Side& walked = tile.sides[side];
    walk_tile(op, tile, side + 1, counted(at, walked.stride, walked.own, walked.first + i),
              computed && i + walked.filled < walked.extent, to);
  }
}

void walk(const ElementOp& op, const nest::Block& block, const Strides& at,
          std::vector<Visit>& to) {
  for (const nest::Node& node : block) {
    const Strides here = counted(at, node.offset, {}, 1);
    if (const auto* tile = std::get_if<nest::Tile>(&node.statement)) {
      walk_tile(op, *tile, 0, here, tile->work == nest::Work::compute, to);
      continue;
    }
    const auto& loop = std::get<nest::For>(node.statement);
    for (int64_t i = 0; i < loop.side.extent; ++i) {
      const nest::Side& walked = loop.side;
      walk(op, loop.body, counted(here, walked.stride, walked.own, walked.first + i), to);
    }
  }
}

}  // namespace

std::vector<Visit> visits(const IterationSpace& space) {
  std::vector<Visit> result;
  SpaceWalk(space, result).walk(0, {});
  for (int64_t byte = space.tail_begin; byte < space.tail_end; ++byte) {
    result.push_back(fill_byte(space.op, byte, byte - space.tail_begin));
  }
  std::sort(result.begin(), result.end());
  return result;
}

int64_t iterations(const IterationSpace& space) {
  int64_t product = 1;
  for (const Loop& loop : space.loops) product *= loop.extent;
  return product;
}

std::vector<Visit> visits(const LoopNest& nest) {
  std::vector<Visit> result;
  walk(nest.op, nest.root, {}, result);
  std::sort(result.begin(), result.end());
  return result;
}

bool distinct_targets(const std::vector<Visit>& visits) {
  return std::adjacent_find(visits.begin(), visits.end(), [](const Visit& a, const Visit& b) {
           return a.target == b.target;
         }) == visits.end();
}

}  // namespace restride::testing
