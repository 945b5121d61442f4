// See own_digits.hpp.
#include "own_digits.hpp"

#include <algorithm>
#include <utility>

#include "arithmetic.hpp"

namespace restride {

int64_t position(const Strides& stride, const OwnDigits& own, size_t operand, int64_t count) {
  int64_t at = 0, digit_stride = stride[operand];
  for (const OwnDigit& digit : own) {
    if (static_cast<size_t>(digit.operand) != operand) continue;
    at += count % digit.every * digit_stride;
    count /= digit.every;
    digit_stride = digit.stride;
  }
  return at + count * digit_stride;
}

Strides positions(const Strides& stride, const OwnDigits& own, int64_t count) {
  Strides at;
  for (size_t operand = 0; operand < at.size(); ++operand) {
    at[operand] = position(stride, own, operand, count);
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

/// Appends the boxes of counts [first, last) of the digits from `digit` on, which stand at
/// `offset`.
void add_boxes(Digit digit, Digit end, int64_t first, int64_t last, int64_t offset,
               std::vector<NumeralBox>& boxes) {
  if (first >= last) return;
  const int64_t weight = digit->weight, head = ceil_div(first, weight), tail = last / weight;
  if (head > tail || first % weight != 0) {
    const int64_t from = first / weight;
    add_boxes(digit + 1, end, first - from * weight, std::min(last, head * weight) - from * weight,
              offset + from * digit->stride, boxes);
  }
  if (head < tail) {
    NumeralBox box{offset + head * digit->stride, {digit, end}};
    box.digits.front().extent = tail - head;
    boxes.push_back(std::move(box));
  }
  if (head <= tail) {
    add_boxes(digit + 1, end, 0, last - tail * weight, offset + tail * digit->stride, boxes);
  }
}

}  // namespace

std::vector<NumeralBox> numeral_boxes(const std::vector<WeightedDigit>& numeral, int64_t first,
                                      int64_t last) {
  std::vector<NumeralBox> boxes;
  add_boxes(numeral.begin(), numeral.end(), first, last, 0, boxes);
  return boxes;
}

}  // namespace restride
