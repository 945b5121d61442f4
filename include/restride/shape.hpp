// A shape: element type, dimension sizes and a layout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "restride/element_type.hpp"
#include "restride/layout.hpp"
#include "restride/result.hpp"

namespace restride {

/// Plain data. A default-constructed Shape is the scalar f32[].
struct Shape {
  ElementType element_type = ElementType::f32;
  std::vector<int64_t> dimensions;  ///< sizes in elements, >= 0, by dimension number
  Layout layout;

  bool operator==(const Shape&) const = default;
};

// What can be wrong.

/// Everything that can be wrong with a shape, one message for each. `name` (`target`) stands before
/// the field. Products are checked with sizes of zero left out, so that strides never overflow
/// either.
Result<void> validate(const Shape& shape, std::string_view name = {});

/// The same for a layout that `shape` is to be given.
Result<void> validate_layout_for_shape(const Layout& layout, const Shape& shape);

// Making shapes. Errors: those of validate.

Result<Shape> make_shape(ElementType type, std::vector<int64_t> dimensions);
Result<Shape> make_shape_with_layout(ElementType type, std::vector<int64_t> dimensions,
                                     Layout layout);
/// The sizes in memory order, row-major: the same bytes under dimensions that descend.
Result<Shape> make_shape_with_descending_layout_and_same_physical_layout(const Shape& shape);

// Counting. Errors: those of validate, and `unsupported` where noted.

/// Elements of the array, without padding.
Result<int64_t> element_count(const Shape& shape);
/// Places for elements in the buffer: with padding, tile fill and tail alignment.
Result<int64_t> buffer_elements(const Shape& shape);
/// Bytes of the buffer. Packed elements round up to a whole byte.
Result<int64_t> buffer_bytes(const Shape& shape);
/// Bytes between neighbours along each dimension. `unsupported`: tiles, and packed elements.
Result<std::vector<int64_t>> byte_strides(const Shape& shape);

int rank(const Shape& shape);
/// Dimensions whose size is greater than 1.
int true_rank(const Shape& shape);
bool is_scalar(const Shape& shape);            ///< rank 0
bool is_effective_scalar(const Shape& shape);  ///< one element, whatever the rank
bool is_zero_element(const Shape& shape);      ///< a size is zero

// One dimension. A number in -rank..-1 counts from the last one; another is an error.

Result<int> dimension_number(int64_t dimension, int rank);
Result<int64_t> dimension_size(const Shape& shape, int64_t dimension);
Result<int64_t> padded_dimension(const Shape& shape, int64_t dimension);
/// The sizes with their padding; without padding the sizes.
std::vector<int64_t> padded_dimensions(const Shape& shape);

// Other views of the same bytes. Precondition: a valid shape.

/// Dimension i of the result is dimension permutation[i]. The layout moves along, so this is a
/// bitcast.
Result<Shape> permute_dimensions(const Shape& shape, const std::vector<int64_t>& permutation);
/// Without the dimensions of size 1. `unsupported`: one that is padded, or that a tile cuts.
Result<Shape> drop_degenerate_dimensions(const Shape& shape);
/// Without one dimension. Errors as above, whatever its size.
Result<Shape> delete_dimension(const Shape& shape, int64_t dimension);
/// With a dimension of `size` before `dimension` (rank: at the end). In memory it is the next
/// slower one of the dimension it stands before, and the fastest one at the end. `unsupported`: a
/// tile would cut it.
Result<Shape> insert_dimension(const Shape& shape, int64_t dimension, int64_t size);

// Comparing. Precondition: valid shapes.

/// Equal but for the layout; operator== compares everything.
bool compatible(const Shape& a, const Shape& b);

/// Whether out[i] = in[...], dimension i of the output being dimension permutation[i] of the input,
/// moves no byte. With tiles: only where the orders and the tiles are the same.
bool transpose_is_bitcast(const Shape& input, const Shape& output,
                          const std::vector<int64_t>& permutation);
/// Whether the elements in row-major order of their indices lie at the same places. With tiles:
/// only equal shapes.
bool reshape_is_bitcast(const Shape& input, const Shape& output);
/// The permutation that makes transpose_is_bitcast true; none if there is none.
std::optional<std::vector<int64_t>> transpose_dimensions_for_bitcast(const Shape& input,
                                                                     const Shape& output);

// Text.

/// `f32[2,3]{0,1:PAD(3,5;zero)}` -> a valid Shape. The error names the column, or the field and its
/// value.
Result<Shape> parse_shape(std::string_view text);
/// The canonical text: parse_shape(to_string(s)) == s, but for the packing order, which has no
/// text.
std::string to_string(const Shape& shape);

}  // namespace restride
