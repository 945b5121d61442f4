// The rewrites themselves; each is a few lines because loops carry the strides of all operands side
// by side.
#include "space/rewrites.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/arithmetic.hpp"

namespace restride {
namespace {

Axis& axis_of(IterationSpace& space, const Loop& loop) {
  return space.axes[static_cast<size_t>(loop.axis)];
}

Strides scaled(Strides stride, int64_t factor) {
  for (int64_t& each : stride) each *= factor;
  return stride;
}

}  // namespace

namespace {

/// The loops of the target alone.
void forget_sources(IterationSpace& space) {
  std::vector<Loop> loops;
  for (const Loop& loop : space.loops) {
    for (const auto [weight, extent, stride] : numeral_of(loop.stride, loop.own, 0, loop.extent)) {
      loops.push_back({loop.axis, loop.step * weight, extent, {stride}});
    }
  }
  space.loops = std::move(loops);
}

}  // namespace

void normalize_bounds(IterationSpace& space) {
  const auto none = [](const Axis& axis) { return axis.padded == 0; };
  if (std::any_of(space.axes.begin(), space.axes.end(), none)) {
    space.axes = {{0, 0}};
    space.loops.clear();
    space.op = {};
    return;
  }
  const auto only_filled = [](const Axis& axis) { return axis.valid == 0; };
  if (!std::any_of(space.axes.begin(), space.axes.end(), only_filled)) return;
  for (Axis& axis : space.axes) axis.valid = 0;
  // Nothing is computed: what is filled moves no element of any type.
  const Packing packing = space.op.packing[0];
  space.op = {space.op.bytes, space.op.fill};
  if (packing.bits != 0) {
    space.op.operation = Operation::convert;
    space.op.packing[0] = packing;
  }
  forget_sources(space);
}

void drop_single_iterations(IterationSpace& space) {
  const auto fills = [&](const Loop& loop) { return axis_of(space, loop).valid == 0; };
  // The single iteration of an axis {0, 1} says that nothing is computed: it stays unless another
  // loop says so too.
  const auto reminds = [&](const Loop& loop) { return axis_of(space, loop) == Axis{0, 1}; };
  std::erase_if(space.loops, [&](const Loop& loop) { return loop.extent == 1 && !reminds(loop); });
  std::vector<Loop>& loops = space.loops;
  for (size_t k = 0; k < loops.size();) {
    const auto others = std::count_if(loops.begin(), loops.end(), fills) - 1;
    if (reminds(loops[k]) && others > 0) {
      loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(k));
    } else {
      ++k;
    }
  }
}

void separate(IterationSpace& space) {
  for (size_t a = 0; a < space.axes.size(); ++a) {
    const int axis = static_cast<int>(a);
    for (size_t k = 0; k < space.loops.size(); ++k) {
      const Axis bounds = space.axes[a];
      const int64_t step = space.loops[k].step;
      if (space.loops[k].axis != axis || step == 1) continue;
      if (bounds.valid % step != 0 || bounds.padded % step != 0) continue;
      const int below = static_cast<int>(space.axes.size());
      for (Loop& loop : space.loops) {
        if (loop.axis != axis) continue;
        if (loop.step < step) {
          loop.axis = below;
        } else {
          loop.step /= step;
        }
      }
      space.axes[a] = {bounds.valid / step, bounds.padded / step};
      // With nothing computed outside there is nothing computed inside either.
      space.axes.push_back({bounds.valid == 0 ? 0 : step, step});
    }
  }
}

void order_by_target(IterationSpace& space) {
  std::vector<Loop>& loops = space.loops;
  const auto has_coarser = [&](size_t from, const Loop& loop) {
    for (size_t k = from; k < loops.size(); ++k) {
      if (loops[k].axis == loop.axis && loops[k].step > loop.step) return true;
    }
    return false;
  };
  for (size_t k = 0; k < loops.size(); ++k) {
    size_t best = k;
    while (has_coarser(k, loops[best])) ++best;
    for (size_t j = best + 1; j < loops.size(); ++j) {
      if (std::abs(loops[j].stride[0]) > std::abs(loops[best].stride[0]) &&
          !has_coarser(k, loops[j]))
        best = j;
    }
    std::rotate(loops.begin() + static_cast<std::ptrdiff_t>(k),
                loops.begin() + static_cast<std::ptrdiff_t>(best),
                loops.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

bool fuse(IterationSpace& space, size_t k) {
  Loop& outer = space.loops[k];
  const Loop inner = space.loops[k + 1];
  if (!outer.own.empty() || !inner.own.empty()) return false;
  if (outer.stride != scaled(inner.stride, inner.extent)) return false;
  if (outer.axis == inner.axis) {
    if (outer.step != inner.step * inner.extent) return false;
    outer = {inner.axis, inner.step, outer.extent * inner.extent, inner.stride};
  } else {
    // The inner axis has to be whole and walked by this loop alone, the outer loop the finest of
    // its axis.
    const Axis whole = axis_of(space, inner);
    if (outer.step != 1 || inner.step != 1 || whole.padded != inner.extent) return false;
    Axis& axis = axis_of(space, outer);
    const bool filled = whole.valid == 0 && axis.valid == 0;
    if (whole.valid != inner.extent && !filled) return false;
    axis = {axis.valid * inner.extent, axis.padded * inner.extent};
    for (Loop& loop : space.loops) {
      if (loop.axis == outer.axis) loop.step *= inner.extent;
    }
    outer = {outer.axis, 1, outer.extent * inner.extent, inner.stride};
  }
  space.loops.erase(space.loops.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  return true;
}

bool widen(IterationSpace& space, int64_t limit) {
  if (!is_move(space.op)) return false;
  const int64_t bytes = space.op.bytes;
  for (size_t k = 0; k < space.loops.size(); ++k) {
    Loop& inner = space.loops[k];
    Axis& axis = axis_of(space, inner);
    const bool reads = axis.valid != 0;
    if (inner.step != 1 || inner.stride[0] != bytes || (reads && inner.stride[1] != bytes) ||
        !inner.own.empty())
      continue;
    int64_t factor = power_of_two_divisor(inner.extent | axis.valid | axis.padded |
                                          space.tail_begin / bytes | space.tail_end / bytes);
    while (bytes * factor > limit) factor /= 2;
    if (factor <= 1) continue;
    for (Loop& loop : space.loops) {
      if (loop.axis == inner.axis && loop.step > 1) loop.step /= factor;
    }
    axis = {axis.valid / factor, axis.padded / factor};
    inner.extent /= factor;
    inner.stride = scaled(inner.stride, factor);
    space.op.bytes *= factor;
    if (inner.extent == 1) drop_single_iterations(space);
    return true;
  }
  return false;
}

void renumber(IterationSpace& space) {
  std::vector<int> number(space.axes.size(), -1);
  std::vector<Axis> axes;
  for (Loop& loop : space.loops) {
    int& mapped = number[static_cast<size_t>(loop.axis)];
    if (mapped < 0) {
      mapped = static_cast<int>(axes.size());
      axes.push_back(axis_of(space, loop));
    }
    loop.axis = mapped;
  }
  // An empty space has no loops; its axis says so.
  if (!space.loops.empty() || space.axes.size() != 1 || space.axes[0].padded != 0)
    space.axes = std::move(axes);
}

bool can_split(const IterationSpace& space, size_t k, int64_t factor) {
  int64_t weight = 1;  // counts of one unit of the digit at hand
  int operand = -1;
  for (const OwnDigit& digit : space.loops[k].own) {
    weight = (digit.operand == operand ? weight : 1) * digit.every;
    operand = digit.operand;
    if (factor % weight != 0) return false;
  }
  return true;
}

void split(IterationSpace& space, size_t k, int64_t factor) {
  const Loop whole = space.loops[k];
  Loop outer = whole, inner = whole;
  outer.step *= factor;
  outer.extent = ceil_div(whole.extent, factor);
  outer.stride = whole.at(factor);
  outer.own.clear();
  inner.extent = factor;
  space.loops[k] = outer;
  space.loops.insert(space.loops.begin() + static_cast<std::ptrdiff_t>(k) + 1, inner);
}

void move_loop(IterationSpace& space, size_t from, size_t to) {
  const auto at = [&](size_t k) { return space.loops.begin() + static_cast<std::ptrdiff_t>(k); };
  if (from < to) {
    std::rotate(at(from), at(from) + 1, at(to) + 1);
  } else {
    std::rotate(at(to), at(from), at(from) + 1);
  }
}

void simplify(IterationSpace& space) {
  normalize_bounds(space);
  drop_single_iterations(space);
  separate(space);
  order_by_target(space);
  for (size_t k = 0; k + 1 < space.loops.size();) {
    if (fuse(space, k)) {
      k = k > 0 ? k - 1 : 0;
    } else {
      ++k;
    }
  }
  constexpr int64_t widest_element_bytes = 16;
  while (widen(space, widest_element_bytes)) {
  }
  renumber(space);
}

}  // namespace restride
