// Indices: a tiled layout is applied to an index tile by tile, and undone from the last tile to the
// first.
#include "restride/index.hpp"

#include <algorithm>

#include "base/message.hpp"
#include "model/extents.hpp"
#include "model/tiles.hpp"

namespace restride {
namespace {

/// The part of the physical dimensions that a tile cut, as it was before.
struct Cut {
  std::vector<PhysicalDimension> before;
  std::span<const int64_t> tile;
};

/// Replaces the quotients and remainders at the end of `index` by the indices they came from.
/// False where the tile overhangs its dimensions: no element stands there.
bool undo(const Cut& cut, std::vector<int64_t>& index) {
  const size_t count = cut.tile.size();
  const auto merged =
      static_cast<size_t>(std::count(cut.tile.begin(), cut.tile.end(), Layout::combine));
  size_t remainder = index.size(), quotient = remainder - (count - merged);
  std::vector<int64_t> whole(count);
  for (size_t k = count; k > 0;) {
    int64_t rest = index[--quotient] * cut.tile[--k] + index[--remainder];
    whole[k] = rest % std::max<int64_t>(cut.before[k].size, 1);
    rest /= std::max<int64_t>(cut.before[k].size, 1);
    for (; k > 0 && cut.tile[k - 1] == Layout::combine; rest /= cut.before[k].size) {
      --k;
      whole[k] = rest % cut.before[k].size;
    }
    if (rest != 0) return false;
  }
  index.resize(quotient);
  index.insert(index.end(), whole.begin(), whole.end());
  return true;
}

}  // namespace

int64_t multidimensional_index_to_linear_index(const Shape& shape, std::span<const int64_t> index) {
  auto physical = physical_dimensions(shape, index);
  for (const auto& tile : shape.layout.tiles) {
    if (apply_tile(tile, physical) == Checked::overflows) return 0;
  }
  int64_t linear = 0;
  for (const PhysicalDimension& dimension : physical) {
    linear = linear * dimension.size + dimension.index;
  }
  return linear;
}

std::optional<std::vector<int64_t>> linear_index_to_multidimensional_index(const Shape& shape,
                                                                           int64_t linear) {
  const auto extents = measure(shape, {});
  if (!extents || linear < 0 || linear >= extents->tiled_elements) return std::nullopt;
  auto physical = physical_dimensions(shape, {});
  std::vector<Cut> cuts;
  for (const auto& tile : shape.layout.tiles) {
    cuts.push_back(
        {{physical.end() - static_cast<std::ptrdiff_t>(tile.size()), physical.end()}, tile});
    if (apply_tile(tile, physical) == Checked::overflows) return std::nullopt;
  }
  std::vector<int64_t> index(physical.size());
  for (size_t k = physical.size(); k-- > 0; linear /= physical[k].size) {
    index[k] = linear % physical[k].size;
  }
  for (size_t i = cuts.size(); i-- > 0;) {
    if (!undo(cuts[i], index)) return std::nullopt;
  }
  std::vector<int64_t> logical(index.size());
  for (size_t k = 0; k < index.size(); ++k) {
    logical[major_dimension(shape.layout, static_cast<int>(k))] = index[k];
  }
  if (!index_in_bounds(shape, logical)) return std::nullopt;
  return logical;
}

bool bump_indices(const Shape& shape, std::span<int64_t> index) {
  for (size_t i = index.size(); i-- > 0;) {
    if (++index[i] < shape.dimensions[i]) return true;
    index[i] = 0;
  }
  return false;
}

bool index_in_bounds(const Shape& shape, std::span<const int64_t> index) {
  if (index.size() != shape.dimensions.size()) return false;
  for (size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0 || index[i] >= shape.dimensions[i]) return false;
  }
  return true;
}

Result<int64_t> dimension_stride(const Shape& shape, int64_t dimension) {
  if (auto valid = validate(shape); !valid) return valid.error();
  const auto number = dimension_number(dimension, rank(shape));
  if (!number) return number.error();
  if (!shape.layout.tiles.empty()) {
    return Error{ErrorCode::unsupported, "tiles: a tiled dimension has no single stride"};
  }
  const auto sizes = padded_dimensions(shape);
  int64_t stride = 1;
  for (const int64_t faster : shape.layout.minor_to_major) {
    if (faster == *number) break;
    stride *= std::max<int64_t>(sizes[faster], 1);
  }
  return stride;
}

}  // namespace restride
