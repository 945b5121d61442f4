// Tiles applied to physical dimensions, one after the other: what sizes and linear indices of tiled
// layouts follow from. Plans nothing: the digits of a layout are the business of digits.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "restride/shape.hpp"

namespace restride {

/// A physical dimension and an index along it.
struct PhysicalDimension {
  int64_t size;
  int64_t index;
};

/// The dimensions from most major to most minor, with their padding. `index` is empty for an index
/// of zeros.
std::vector<PhysicalDimension> physical_dimensions(const Shape& shape,
                                                   std::span<const int64_t> index);

/// Cuts the last dimensions by a tile: first all quotients, then all remainders. Linear in the
/// length of the tile. Precondition: the tile is not longer than the list, its entries are positive
/// or `combine`, the last is positive.
Checked apply_tile(std::span<const int64_t> tile, std::vector<PhysicalDimension>& dimensions);

/// How many dimensions a tile leaves for the next one, when it is given `count` of them.
int64_t dimensions_after(std::span<const int64_t> tile, int64_t count);

/// How many of the most major physical dimensions no tile reaches.
int64_t untiled_dimensions(const Layout& layout);

}  // namespace restride
