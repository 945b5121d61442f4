// How the elements of an array lie in memory: XLA's model, with padding in full and tiles to any depth.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "restride/element_type.hpp"

namespace restride {

/// Where element i of a packed byte lies.
enum class PackingOrder : uint8_t { least_significant_first, most_significant_first };

/// Plain data; validate(Shape) says whether it fits a shape.
struct Layout {
  /// `*` in a tile: merges its dimension into the next more minor one.
  static constexpr int64_t combine = std::numeric_limits<int64_t>::min();

  std::vector<int64_t> minor_to_major;          ///< a permutation of the dimensions, fastest first
  std::vector<int64_t> padded_dimensions;       ///< empty, or a size per dimension, >= the logical size
  PaddingValue padding_value = PaddingValue::zero;  ///< also the fill of incomplete tiles
  std::vector<std::vector<int64_t>> tiles;      ///< applied in order, each most major first
  int64_t tail_padding_alignment_in_elements = 1;
  int64_t element_size_in_bits = 0;             ///< 0: unpacked; 1, 2 or 4: packed
  PackingOrder packing_order = PackingOrder::least_significant_first;
  int64_t memory_space = 0;                     ///< carried along, never interpreted

  bool operator==(const Layout&) const = default;
};

}  // namespace restride
