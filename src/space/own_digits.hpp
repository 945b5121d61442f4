// Own digits: how operands walk a loop along which their digits do not nest.
//
//     count            0 1 2 3 4 5 6 ...
//     tiles of 3       0 1 2|0 1 2|0          a digit of 3 counts, then the next tile
//     tiles of 4       0 1 2 3|0 1 2|         a digit of 4 counts, then the next tile
//
// A loop has one stride per operand. Where that does not do, the stride is that of the operand's
// finest digit, and the digits above it are listed here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace restride {

/// Operand 0 is the target, 1 the source. 2 is the second source of a binary operation or the scale
/// of an affine conversion, 3 the zero point or the bias of one.
constexpr int max_operands = 4;

/// Bytes per iteration, one per operand, but bits for a packed one; 0 repeats a source (broadcast).
using Strides = std::array<int64_t, max_operands>;

/// Of each operand.
Strides sum(const Strides& a, const Strides& b);

/// After `every` counts the digit before it starts again and this one advances.
struct OwnDigit {
  int operand;
  int64_t every;   ///< counts of the operand's digit before it
  int64_t stride;  ///< as Strides

  bool operator==(const OwnDigit&) const = default;
};

/// Of all operands, by operand, the finest first. None: every operand walks by its stride alone.
using OwnDigits = std::vector<OwnDigit>;

/// Where all operands stand after `count` iterations.
Strides positions(const Strides& stride, const OwnDigits& own, int64_t count);

/// A digit by itself: `weight` counts of the loop make one of its own.
struct WeightedDigit {
  int64_t weight, extent, stride;
};

/// The numeral that `operand` walks for `extent` counts, the coarsest digit first.
std::vector<WeightedDigit> numeral_of(const Strides& stride, const OwnDigits& own, size_t operand,
                                      int64_t extent);

/// Counts that all begin and end with the coarser digits of a numeral.
struct NumeralBox {
  int64_t first;                      ///< count
  int64_t offset;                     ///< of that
  std::vector<WeightedDigit> digits;  ///< coarsest first
};

/// Counts `first` to `last` - 1 of a numeral: the rest of a digit, whole ones, the begin of
/// another.
std::vector<NumeralBox> numeral_boxes(const std::vector<WeightedDigit>& numeral, int64_t first,
                                      int64_t last);

}  // namespace restride
