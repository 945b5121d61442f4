#include "space/nesting.hpp"

#include <algorithm>
#include <utility>

namespace restride {
namespace {

/// A digit that does not end where the next coarser one of its axis begins.
struct Misfit {
  Digit* outer = nullptr;
  Digit* inner = nullptr;
};

Misfit find_misfit(Digits& operand) {
  for (Digit& inner : operand.digits) {
    Digit* outer = nullptr;  // the finest of the coarser ones
    for (Digit& other : operand.digits) {
      // A tile of a single element leaves two digits of one step; the more major one counts.
      const bool coarser =
          other.axis == inner.axis &&
          (other.step > inner.step || (other.step == inner.step && &other < &inner));
      if (coarser && (outer == nullptr || other.step < outer->step)) outer = &other;
    }
    if (outer != nullptr && outer->step != inner.step * inner.extent) return {outer, &inner};
  }
  return {};
}

/// The part of an operand's digits on `axis` below `cut` moves to axis `below`. False if a digit
/// cannot be cut there.
bool separate_digits(Digits& operand, int axis, int64_t cut, int below) {
  const auto begins_at_cut = [&](const Digit& digit) {
    return digit.axis == axis && digit.step == cut;
  };
  const bool cut_already = std::any_of(operand.digits.begin(), operand.digits.end(), begins_at_cut);
  std::vector<Digit> result;
  bool counted =
      false;  // the digit that begins at the cut has been seen; another of its step lies below
  for (const Digit& digit : operand.digits) {
    if (digit.axis != axis) {
      result.push_back(digit);
    } else if (digit.step > cut || (digit.step == cut && !std::exchange(counted, true))) {
      if (digit.step % cut != 0) return false;
      result.push_back({axis, digit.step / cut, digit.extent, digit.stride_bits});
    } else if (cut_already || digit.step * digit.extent <= cut) {
      result.push_back({below, digit.step, digit.extent, digit.stride_bits});
    } else {
      const int64_t inside = cut / digit.step;
      if (cut % digit.step != 0 || digit.extent % inside != 0) return false;
      result.push_back({axis, 1, digit.extent / inside, digit.stride_bits * inside});
      result.push_back({below, digit.step, inside, digit.stride_bits});
    }
  }
  operand.digits = std::move(result);
  return true;
}

Error does_not_divide(const Misfit& misfit) {
  return {ErrorCode::unsupported, "a tile of " + std::to_string(misfit.inner->step) + " x " +
                                      std::to_string(misfit.inner->extent) +
                                      " elements does not divide the tile of " +
                                      std::to_string(misfit.outer->step) + " elements it splits"};
}

}  // namespace

Result<void> nest(std::vector<Digits*>& operands, std::vector<Axis>& axes, bool fills_target) {
  for (size_t k = 0; k < operands.size(); ++k) {
    for (Misfit misfit = find_misfit(*operands[k]); misfit.inner != nullptr;
         misfit = find_misfit(*operands[k])) {
      const int axis = misfit.outer->axis;
      const int64_t cut = misfit.outer->step;
      const bool whole = axes[static_cast<size_t>(axis)].valid % cut == 0;
      if (whole) {
        const Error error = does_not_divide(misfit);
        const int below = static_cast<int>(axes.size());
        for (Digits* operand : operands) {
          if (!separate_digits(*operand, axis, cut, below)) return error;
        }
        axes[static_cast<size_t>(axis)].valid /= cut;
        axes[static_cast<size_t>(axis)].padded /= cut;
        axes.push_back({cut, cut});
      } else if (cut % misfit.inner->step == 0 && cut < misfit.inner->step * misfit.inner->extent &&
                 (k > 0 || !fills_target)) {
        misfit.inner->extent = cut / misfit.inner->step;
      } else {
        return does_not_divide(misfit);
      }
    }
  }
  return {};
}

}  // namespace restride
