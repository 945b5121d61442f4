// See own_digits.hpp.
#include "space/own_digits.hpp"

#include <algorithm>
#include <utility>

#include "base/arithmetic.hpp"

namespace restride {

Strides sum(const Strides& a, const Strides& b) {
  Strides result = a;
  for (size_t k = 0; k < result.size(); ++k) result[k] += b[k];
  return result;
}

Strides positions(const Strides& stride, const OwnDigits& own, int64_t count) {
  Strides at{}, counts, digit_stride = stride;
  counts.fill(count);
  for (const OwnDigit& digit : own) {
    const auto operand = static_cast<size_t>(digit.operand);
    at[operand] += counts[operand] % digit.every * digit_stride[operand];
    counts[operand] /= digit.every;
    digit_stride[operand] = digit.stride;
  }
  for (size_t operand = 0; operand < at.size(); ++operand) {
    at[operand] += counts[operand] * digit_stride[operand];
  }
  return at;
}

std::vector<WeightedDigit> numeral_of(const Strides& stride, const OwnDigits& own, size_t operand,
                                      int64_t extent) {
  std::vector<WeightedDigit> digits{{1, extent, stride[operand]}};
  for (const OwnDigit& digit : own) {
    WeightedDigit& finer = digits.back();
    if (static_cast<size_t>(digit.operand) != operand) continue;
    if (finer.extent <= digit.every) break;
    const WeightedDigit coarser{finer.weight * digit.every, ceil_div(finer.extent, digit.every),
                                digit.stride};
    finer.extent = digit.every;
    digits.push_back(coarser);
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

namespace {

using Digit = std::vector<WeightedDigit>::const_iterator;

/// Appends the boxes of counts [first, last) of the digits from `digit` on. `zero` is where their
/// count 0 stands.
void add_boxes(Digit digit, Digit end, int64_t first, int64_t last, const NumeralBox& zero,
               std::vector<NumeralBox>& boxes) {
  if (first >= last) return;
  const auto at = [&](int64_t digits) {
    return NumeralBox{
        zero.first + digits * digit->weight, zero.offset + digits * digit->stride, {}};
  };
  const int64_t weight = digit->weight, head = ceil_div(first, weight), tail = last / weight;
  if (head > tail || first % weight != 0) {
    const int64_t from = first / weight;
    add_boxes(digit + 1, end, first - from * weight, std::min(last, head * weight) - from * weight,
              at(from), boxes);
  }
  if (head < tail) {
    NumeralBox box = at(head);
    box.digits.assign(digit, end);
    box.digits.front().extent = tail - head;
    boxes.push_back(std::move(box));
  }
  if (head <= tail) {
    add_boxes(digit + 1, end, 0, last - tail * weight, at(tail), boxes);
  }
}

}  // namespace

std::vector<NumeralBox> numeral_boxes(const std::vector<WeightedDigit>& numeral, int64_t first,
                                      int64_t last) {
  std::vector<NumeralBox> boxes;
  add_boxes(numeral.begin(), numeral.end(), first, last, {}, boxes);
  return boxes;
}

}  // namespace restride
