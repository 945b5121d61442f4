// Indices: the place of an element in the buffer and back, for every layout. These walk the
// definition, one element at a time; moving arrays is the business of Plan.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "restride/result.hpp"
#include "restride/shape.hpp"

namespace restride {

/// The place of an element in the buffer, counted in elements.
/// Precondition: a valid shape; one entry per dimension, 0 <= index[i] < padded dimension i.
int64_t multidimensional_index_to_linear_index(const Shape& shape, std::span<const int64_t> index);

/// The index of the element at a place; none where padding, the fill of a tile or tail alignment
/// stands. Precondition: a valid shape.
std::optional<std::vector<int64_t>> linear_index_to_multidimensional_index(const Shape& shape,
                                                                           int64_t linear);

/// The next index, last dimension fastest. False after the last one, when all entries are back at
/// 0. Precondition: index_in_bounds(shape, index).
bool bump_indices(const Shape& shape, std::span<int64_t> index);

/// Whether there is one entry per dimension, each 0..size-1.
bool index_in_bounds(const Shape& shape, std::span<const int64_t> index);

/// Elements between neighbours along a dimension; -rank..-1 count from the last one. Errors: those
/// of validate(shape), no such dimension, `unsupported` for tiles.
Result<int64_t> dimension_stride(const Shape& shape, int64_t dimension);

}  // namespace restride
