// Digits: a layout as a mixed-radix numeral with a stride per digit.
//
//     Shape ── digits ──► what iteration_space cuts axes by
//
// minor_to_major, padding, tiles and explicit strides all do the same: they cut a logical index
// into digits. All strides here are in bits, so that packed elements need no case of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "restride/result.hpp"
#include "restride/shape.hpp"

namespace restride {

/// One physical dimension of a layout.
struct Digit {
  int axis;
  int64_t step;         ///< weight: elements of the axis per unit
  int64_t extent;       ///< radix
  int64_t stride_bits;  ///< distance between units

  bool operator==(const Digit&) const = default;
};

/// Where a dimension of a shape stands in the axes of a problem. Dimensions that a tile merges
/// (`*`) share an axis: index = sum of dimension index * weight.
struct Placement {
  int axis;  ///< -1: the dimension has one element and is read again for every index (broadcast)
  int64_t weight = 1;

  bool operator==(const Placement&) const = default;
};

/// The digits of a shape, most major first, without those of extent 1 and those of axis -1.
struct Digits {
  std::vector<Digit> digits;
  int64_t total_bits = 0;  ///< of the buffer without tail alignment
  /// Runs of dimensions, most major first, that a tile merges and cuts where none of them ends:
  /// they have to be given one axis before the shape has digits at all.
  std::vector<std::vector<int>> merges;
};

/// `element_bits` is the distance between neighbours in memory. Errors: `unsupported` for tiles
/// that cut merged dimensions in ways that no numeral describes.
Result<Digits> digits(const Shape& shape, const std::vector<Placement>& placements,
                      int64_t element_bits);

/// The same for explicit strides.
Digits digits(const Shape& shape, const std::vector<int64_t>& byte_strides,
              const std::vector<Placement>& placements);

}  // namespace restride
