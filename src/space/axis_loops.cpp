// See axis_loops.hpp.
#include "space/axis_loops.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include "base/arithmetic.hpp"
#include "program/program.hpp"

namespace restride {
namespace {

/// Where digits of an axis begin that nest with all outside, though perhaps not with each other.
struct Zone {
  int64_t finest;    ///< greatest common divisor
  int64_t coarsest;  ///< least common multiple; no more than the axis is long
};

Zone joined(const Zone& outer, const Zone& inner, int64_t bound) {
  const int64_t divisor = std::gcd(outer.coarsest, inner.coarsest);
  int64_t multiple;
  const bool is_far = __builtin_mul_overflow(outer.coarsest / divisor, inner.coarsest, &multiple) ||
                      multiple > bound;
  return {std::gcd(outer.finest, inner.finest), is_far ? bound : multiple};
}

/// The weights at which digits of an axis begin, coarsest first.
std::vector<int64_t> cuts(const std::vector<const Digits*>& operands, int axis,
                          const Axis& bounds) {
  std::vector<int64_t> result;
  for (size_t k = 0; k < operands.size(); ++k) {
    for (const Digit& digit : operands[k]->digits) {
      const int64_t bound = k == 0 ? bounds.padded : bounds.valid;
      if (digit.axis == axis && digit.step < bound) result.push_back(digit.step);
    }
  }
  std::sort(result.begin(), result.end(), std::greater<>());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// Coarsest first: each begins at a multiple of where the next one ends.
std::vector<Zone> zones(const std::vector<int64_t>& cuts, int64_t bound) {
  std::vector<Zone> result;
  for (const int64_t cut : cuts) {
    if (!result.empty() && cut == result.back().finest) continue;
    result.push_back({cut, cut});
    while (result.size() > 1) {
      const Zone& outer = result[result.size() - 2];
      const Zone& inner = result.back();
      if (outer.finest % inner.coarsest == 0) break;
      const Zone both = joined(outer, inner, bound);
      result.pop_back();
      result.back() = both;
    }
  }
  return result;
}

/// What one element of `axis` at weight `cut` is worth: the coarsest digit that begins at or below
/// the cut. (A digit that does not divide the cut begins where the source has ended.)
int64_t stride_at(const Digits& operand, int axis, int64_t cut) {
  const Digit* best = nullptr;
  for (const Digit& digit : operand.digits) {
    const bool divides = digit.axis == axis && cut % digit.step == 0;
    if (divides && (best == nullptr || digit.step >= best->step)) best = &digit;
  }
  return best == nullptr ? 0 : best->stride_bits * (cut / best->step);
}

/// The digits of an operand that begin inside of `loop`, and below `bound`.
void add_own_digits(Loop& loop, int operand, const Digits& digits, int64_t bound) {
  std::vector<int64_t> steps;
  for (const Digit& digit : digits.digits) {
    const bool inside = digit.axis == loop.axis && digit.step > loop.step &&
                        digit.step < std::min(loop.step * loop.extent, bound);
    if (inside) steps.push_back(digit.step);
  }
  std::sort(steps.begin(), steps.end());
  int64_t before = loop.step, stride = loop.stride[static_cast<size_t>(operand)];
  for (const int64_t step : steps) {
    const int64_t next = stride_at(digits, loop.axis, step);
    if (step == before || next == stride * (step / before)) continue;
    loop.own.push_back({operand, step / before, next});
    before = step;
    stride = next;
  }
}

class AxisLoops {
 public:
  AxisLoops(const std::vector<const Digits*>& operands, int axis, const Axis& bounds)
      : operands_(operands), axis_(axis), bounds_(bounds), outer_(bounds.padded) {}

  Result<std::vector<Loop>> run() {
    for (const Zone& zone : zones(cuts(operands_, axis_, bounds_), bounds_.padded)) {
      const bool nests = zone.finest == zone.coarsest;
      if (nests || zone.coarsest < outer_) add(zone.coarsest);
      if (nests) continue;
      Loop& loop = add(zone.finest);
      for (size_t k = 0; k < operands_.size(); ++k) {
        const size_t before = loop.own.size();
        add_own_digits(loop, static_cast<int>(k), *operands_[k],
                       k == 0 ? bounds_.padded : bounds_.valid);
        const size_t most = program::max_wraps;
        if (loop.own.size() - before > most) return too_many(loop.own.size() - before);
      }
    }
    if (bounds_.valid != bounds_.padded && loops_.empty()) add(1);
    return std::move(loops_);
  }

 private:
  Loop& add(int64_t step) {
    Loop loop{axis_, step, ceil_div(outer_, step), {}};
    for (size_t k = 0; k < operands_.size(); ++k) {
      loop.stride[k] = stride_at(*operands_[k], axis_, step);
    }
    loops_.push_back(std::move(loop));
    outer_ = step;
    return loops_.back();
  }

  static Error too_many(size_t digits) {
    return {ErrorCode::unsupported, "tiles of source and target do not nest in " +
                                        std::to_string(digits) + " levels: must be at most " +
                                        std::to_string(program::max_wraps)};
  }

  const std::vector<const Digits*>& operands_;
  const int axis_;
  const Axis bounds_;
  int64_t outer_;  // elements of the axis in one iteration of the loop before
  std::vector<Loop> loops_;
};

}  // namespace

Result<std::vector<Loop>> axis_loops(const std::vector<const Digits*>& operands, int axis,
                                     const Axis& bounds) {
  return AxisLoops(operands, axis, bounds).run();
}

}  // namespace restride
