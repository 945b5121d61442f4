// How the elements of an array lie in memory: XLA's model, with padding in full and tiles to any
// depth.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "restride/element_type.hpp"
#include "restride/result.hpp"

namespace restride {

/// Where element i of a packed byte lies.
enum class PackingOrder : uint8_t { least_significant_first, most_significant_first };

/// Plain data; validate(Shape) says whether it fits a shape.
struct Layout {
  /// `*` in a tile: merges its dimension into the next more minor one.
  static constexpr int64_t combine = std::numeric_limits<int64_t>::min();

  std::vector<int64_t> minor_to_major;     ///< a permutation of the dimensions, fastest first
  std::vector<int64_t> padded_dimensions;  ///< empty, or a size per dimension, >= the logical size
  PaddingValue padding_value = PaddingValue::zero;  ///< also the fill of incomplete tiles
  std::vector<std::vector<int64_t>> tiles;          ///< applied in order, each most major first
  int64_t tail_padding_alignment_in_elements = 1;
  int64_t element_size_in_bits = 0;  ///< 0: unpacked; 1, 2 or 4: packed
  PackingOrder packing_order = PackingOrder::least_significant_first;
  int64_t memory_space = 0;  ///< carried along, never interpreted

  bool operator==(const Layout&) const = default;
};

/// A layout with this order, fastest dimension first (or, the other one, last), and nothing else.
Layout make_layout(std::vector<int64_t> minor_to_major);
Layout make_layout_from_major_to_minor(std::vector<int64_t> major_to_minor);

/// Row-major: {rank - 1, ..., 1, 0}.
Layout default_layout(int rank);

/// Row-major and nothing else: what the text form leaves out.
bool is_default(const Layout& layout);

/// Equality of the order alone; operator== compares everything.
bool minor_to_major_equal(const Layout& a, const Layout& b);

/// Whether the order is {N-1, ..., 0} (dimension 0 is major), or {0, ..., N-1} (minor). Both at
/// rank 0 and 1.
bool is_dim0_major(const Layout& layout);
bool is_dim0_minor(const Layout& layout);

/// The k-th dimension counted from the fastest (or slowest) one. Precondition: 0 <= k < rank.
int64_t minor_dimension(const Layout& layout, int k);
int64_t major_dimension(const Layout& layout, int k);

/// For each dimension its place in memory order, 0 the most major. Precondition: the order is a
/// permutation.
std::vector<int64_t> logical_to_physical(const Layout& layout);

/// The same layout with a dimension moved to the slowest place; tiles stay where they are in the
/// order. -rank..-1 count from the last one. Error: no such dimension.
Result<Layout> move_dimension_to_major(Layout layout, int64_t dimension);

/// `{1,0:T(8,128)E(4)}`; always with braces.
std::string to_string(const Layout& layout);

}  // namespace restride
