// Other views of the same bytes: shapes with dimensions permuted, removed or inserted, and when two
// shapes are such views of each other. Moves nothing.
#include <algorithm>
#include <utility>

#include "base/message.hpp"
#include "model/tiles.hpp"
#include "restride/shape.hpp"

namespace restride {
namespace {

Result<void> check_permutation(const std::vector<int64_t>& permutation, size_t rank) {
  const Field field{{}, "permutation"};
  if (permutation.size() != rank) {
    return invalid(field, "has " + std::to_string(permutation.size()) + " entries: must have " +
                              std::to_string(rank) + ", one per dimension");
  }
  std::vector<bool> seen(rank);
  for (size_t i = 0; i < rank; ++i) {
    if (permutation[i] < 0 || permutation[i] >= static_cast<int64_t>(rank)) {
      return invalid_entry(field, i, permutation[i], "must be 0.." + std::to_string(rank - 1));
    }
    if (seen[permutation[i]]) return invalid_entry(field, i, permutation[i], "stands there twice");
    seen[permutation[i]] = true;
  }
  return {};
}

/// Whether a dimension at a place in memory order, 0 the most major, stands clear of all tiles.
Result<void> check_clear_of_tiles(const Layout& layout, int64_t place, int64_t dimension) {
  if (layout.tiles.empty() || place < untiled_dimensions(layout)) return {};
  return Error{ErrorCode::unsupported,
               "dimension = " + std::to_string(dimension) + ": is cut by a tile"};
}

/// Precondition: 0 <= dimension < rank.
Result<Shape> without(Shape shape, int64_t dimension) {
  Layout& layout = shape.layout;
  const int64_t place = logical_to_physical(layout)[dimension];
  if (auto clear = check_clear_of_tiles(layout, place, dimension); !clear) return clear.error();
  if (!layout.padded_dimensions.empty()) {
    if (layout.padded_dimensions[dimension] != shape.dimensions[dimension]) {
      return Error{ErrorCode::unsupported,
                   "dimension = " + std::to_string(dimension) + ": is padded"};
    }
    layout.padded_dimensions.erase(layout.padded_dimensions.begin() + dimension);
  }
  shape.dimensions.erase(shape.dimensions.begin() + dimension);
  std::erase(layout.minor_to_major, dimension);
  for (int64_t& entry : layout.minor_to_major) entry -= entry > dimension ? 1 : 0;
  return shape;
}

/// A digit of the row-major count of all elements: how many, and how far apart in the buffer.
struct Digit {
  int64_t extent, stride;
  bool operator==(const Digit&) const = default;
};

/// Where the elements of an untiled array lie, in row-major order of their indices: the shortest
/// list of digits, which is the same for two arrays exactly if the places are.
std::vector<Digit> places(const Shape& shape) {
  std::vector<int64_t> strides(shape.dimensions.size());
  const auto sizes = padded_dimensions(shape);
  int64_t stride = 1;
  for (const int64_t dimension : shape.layout.minor_to_major) {
    strides[dimension] = stride;
    stride *= std::max<int64_t>(sizes[dimension], 1);
  }
  std::vector<Digit> out;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Digit next{shape.dimensions[i], strides[i]};
    if (next.extent == 1) continue;
    if (!out.empty() && out.back().stride == next.stride * next.extent) {
      out.back() = {out.back().extent * next.extent, next.stride};
    } else {
      out.push_back(next);
    }
  }
  return out;
}

/// Whether two buffers are as large and hold elements of the same type in the same way.
bool same_buffer(const Shape& a, const Shape& b) {
  return a.element_type == b.element_type && a.layout.tiles == b.layout.tiles &&
         a.layout.element_size_in_bits == b.layout.element_size_in_bits &&
         a.layout.packing_order == b.layout.packing_order &&
         *buffer_elements(a) == *buffer_elements(b);
}

}  // namespace

Result<Shape> permute_dimensions(const Shape& shape, const std::vector<int64_t>& permutation) {
  const size_t rank = shape.dimensions.size();
  if (auto valid = check_permutation(permutation, rank); !valid) return valid.error();
  Shape out = shape;
  std::vector<int64_t> new_number(rank);
  for (size_t i = 0; i < rank; ++i) {
    new_number[permutation[i]] = static_cast<int64_t>(i);
    out.dimensions[i] = shape.dimensions[permutation[i]];
    if (!shape.layout.padded_dimensions.empty()) {
      out.layout.padded_dimensions[i] = shape.layout.padded_dimensions[permutation[i]];
    }
  }
  for (int64_t& entry : out.layout.minor_to_major) entry = new_number[entry];
  return out;
}

Result<Shape> drop_degenerate_dimensions(const Shape& shape) {
  Shape out = shape;
  for (int i = rank(shape) - 1; i >= 0; --i) {
    if (shape.dimensions[i] != 1) continue;
    auto smaller = without(std::move(out), i);
    if (!smaller) return smaller.error();
    out = *std::move(smaller);
  }
  return out;
}

Result<Shape> delete_dimension(const Shape& shape, int64_t dimension) {
  const auto number = dimension_number(dimension, rank(shape));
  if (!number) return number.error();
  return without(shape, *number);
}

Result<Shape> insert_dimension(const Shape& shape, int64_t dimension, int64_t size) {
  const auto number = dimension_number(dimension, rank(shape) + 1);
  if (!number) return number.error();
  Shape out = shape;
  auto& order = out.layout.minor_to_major;
  auto place = std::find(order.begin(), order.end(), *number);
  const bool at_end = place == order.end();
  for (int64_t& entry : order) entry += entry >= *number ? 1 : 0;
  order.insert(at_end ? order.begin() : place + 1, *number);
  out.dimensions.insert(out.dimensions.begin() + *number, size);
  if (!out.layout.padded_dimensions.empty()) {
    out.layout.padded_dimensions.insert(out.layout.padded_dimensions.begin() + *number, size);
  }
  if (auto valid = validate(out); !valid) return valid.error();
  const int64_t physical = logical_to_physical(out.layout)[*number];
  if (auto clear = check_clear_of_tiles(out.layout, physical, *number); !clear) {
    return clear.error();
  }
  return out;
}

bool compatible(const Shape& a, const Shape& b) {
  return a.element_type == b.element_type && a.dimensions == b.dimensions;
}

bool transpose_is_bitcast(const Shape& input, const Shape& output,
                          const std::vector<int64_t>& permutation) {
  const auto moved = permute_dimensions(input, permutation);
  if (!moved || !compatible(*moved, output) || !same_buffer(*moved, output)) return false;
  if (!output.layout.tiles.empty()) return minor_to_major_equal(moved->layout, output.layout);
  return is_zero_element(output) || places(*moved) == places(output);
}

bool reshape_is_bitcast(const Shape& input, const Shape& output) {
  if (!same_buffer(input, output) || *element_count(input) != *element_count(output)) return false;
  if (!output.layout.tiles.empty()) {
    return compatible(input, output) && minor_to_major_equal(input.layout, output.layout);
  }
  return is_zero_element(output) || places(input) == places(output);
}

std::optional<std::vector<int64_t>> transpose_dimensions_for_bitcast(const Shape& input,
                                                                     const Shape& output) {
  const size_t rank = input.dimensions.size();
  if (output.dimensions.size() != rank) return std::nullopt;
  std::vector<int64_t> permutation(rank);
  for (size_t k = 0; k < rank; ++k) {
    permutation[output.layout.minor_to_major[k]] = input.layout.minor_to_major[k];
  }
  if (!transpose_is_bitcast(input, output, permutation)) return std::nullopt;
  return permutation;
}

}  // namespace restride
