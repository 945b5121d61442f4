// Tiles applied to physical dimensions.
#include "model/tiles.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"

namespace restride {

std::vector<PhysicalDimension> physical_dimensions(const Shape& shape,
                                                   std::span<const int64_t> index) {
  const Layout& layout = shape.layout;
  const auto& sizes =
      layout.padded_dimensions.empty() ? shape.dimensions : layout.padded_dimensions;
  std::vector<PhysicalDimension> out;
  out.reserve(sizes.size());
  for (auto it = layout.minor_to_major.rbegin(); it != layout.minor_to_major.rend(); ++it) {
    out.push_back({sizes[*it], index.empty() ? 0 : index[*it]});
  }
  return out;
}

Checked apply_tile(std::span<const int64_t> tile, std::vector<PhysicalDimension>& dimensions) {
  const size_t first = dimensions.size() - tile.size();
  std::vector<PhysicalDimension> remainders;
  size_t at = first;
  PhysicalDimension merged{1, 0};
  for (size_t k = 0; k < tile.size(); ++k) {
    const PhysicalDimension next = dimensions[first + k];
    if (multiply(merged.size, next.size) == Checked::overflows) return Checked::overflows;
    if (multiply(merged.index, next.size) == Checked::overflows) return Checked::overflows;
    merged.index += next.index;
    if (tile[k] == Layout::combine) continue;
    dimensions[at++] = {ceil_div(merged.size, tile[k]), merged.index / tile[k]};
    remainders.push_back({tile[k], merged.index % tile[k]});
    merged = {1, 0};
  }
  dimensions.resize(at);
  dimensions.insert(dimensions.end(), remainders.begin(), remainders.end());
  return Checked::fits;
}

int64_t dimensions_after(std::span<const int64_t> tile, int64_t count) {
  const auto merged = std::count(tile.begin(), tile.end(), Layout::combine);
  return count + static_cast<int64_t>(tile.size()) - 2 * merged;
}

int64_t untiled_dimensions(const Layout& layout) {
  auto count = static_cast<int64_t>(layout.minor_to_major.size());
  int64_t untouched = count;
  for (const auto& tile : layout.tiles) {
    untouched = std::min(untouched, count - static_cast<int64_t>(tile.size()));
    count = dimensions_after(tile, count);
  }
  return untouched;
}

}  // namespace restride
