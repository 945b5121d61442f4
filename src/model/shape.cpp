// Shape: makes shapes and answers what follows from one: counts, strides, single dimensions.
#include "restride/shape.hpp"

#include <algorithm>
#include <utility>

#include "base/message.hpp"
#include "model/extents.hpp"

namespace restride {
namespace {

Result<int64_t> measured(const Shape& shape, int64_t Extents::*field) {
  auto extents = measure(shape, {});
  if (!extents) return extents.error();
  return (*extents).*field;
}

const std::vector<int64_t>& padded_or_not(const Shape& shape) {
  const auto& padded = shape.layout.padded_dimensions;
  return padded.empty() ? shape.dimensions : padded;
}

}  // namespace

Result<Shape> make_shape(ElementType type, std::vector<int64_t> dimensions) {
  Layout layout = default_layout(static_cast<int>(dimensions.size()));
  return make_shape_with_layout(type, std::move(dimensions), std::move(layout));
}

Result<Shape> make_shape_with_layout(ElementType type, std::vector<int64_t> dimensions,
                                     Layout layout) {
  Shape shape{type, std::move(dimensions), std::move(layout)};
  if (auto valid = validate(shape); !valid) return valid.error();
  return shape;
}

Result<Shape> make_shape_with_descending_layout_and_same_physical_layout(const Shape& shape) {
  if (auto valid = validate(shape); !valid) return valid.error();
  const auto& order = shape.layout.minor_to_major;
  return permute_dimensions(shape, {order.rbegin(), order.rend()});
}

Result<int64_t> element_count(const Shape& shape) { return measured(shape, &Extents::elements); }

Result<int64_t> buffer_elements(const Shape& shape) {
  return measured(shape, &Extents::buffer_elements);
}

Result<int64_t> buffer_bytes(const Shape& shape) { return measured(shape, &Extents::buffer_bytes); }

Result<std::vector<int64_t>> byte_strides(const Shape& shape) {
  if (auto valid = validate(shape); !valid) return valid.error();
  if (!shape.layout.tiles.empty()) {
    return Error{ErrorCode::unsupported, "tiles: a tiled layout has no byte strides"};
  }
  if (shape.layout.element_size_in_bits != 0) {
    return Error{ErrorCode::unsupported,
                 "element_size_in_bits: packed elements have no byte strides"};
  }
  const auto& sizes = padded_or_not(shape);
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = storage_bytes(shape.element_type);
  for (const int64_t dimension : shape.layout.minor_to_major) {
    strides[dimension] = stride;
    stride *= std::max<int64_t>(sizes[dimension], 1);
  }
  return strides;
}

int rank(const Shape& shape) { return static_cast<int>(shape.dimensions.size()); }

int true_rank(const Shape& shape) {
  const auto& sizes = shape.dimensions;
  return static_cast<int>(
      std::count_if(sizes.begin(), sizes.end(), [](int64_t size) { return size > 1; }));
}

bool is_scalar(const Shape& shape) { return shape.dimensions.empty(); }

bool is_effective_scalar(const Shape& shape) {
  const auto& sizes = shape.dimensions;
  return std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size == 1; });
}

bool is_zero_element(const Shape& shape) {
  return std::find(shape.dimensions.begin(), shape.dimensions.end(), 0) != shape.dimensions.end();
}

Result<int> dimension_number(int64_t dimension, int rank) {
  if (dimension >= -rank && dimension < rank) {
    return static_cast<int>(dimension < 0 ? dimension + rank : dimension);
  }
  const std::string rule =
      rank == 0 ? "a scalar has no dimensions"
                : "must be " + std::to_string(-rank) + ".." + std::to_string(rank - 1);
  return invalid_value({{}, "dimension"}, std::to_string(dimension), rule);
}

Result<int64_t> dimension_size(const Shape& shape, int64_t dimension) {
  const auto number = dimension_number(dimension, rank(shape));
  if (!number) return number.error();
  return shape.dimensions[*number];
}

Result<int64_t> padded_dimension(const Shape& shape, int64_t dimension) {
  const auto number = dimension_number(dimension, rank(shape));
  if (!number) return number.error();
  return padded_or_not(shape)[*number];
}

std::vector<int64_t> padded_dimensions(const Shape& shape) { return padded_or_not(shape); }

}  // namespace restride
