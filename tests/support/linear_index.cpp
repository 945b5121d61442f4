// Tiles are applied one after another to explicit lists of positions: slow, and easy to check
// against the text.
#include "support/linear_index.hpp"

#include <algorithm>
#include <cstdlib>

namespace restride::testing {

LinearIndex::LinearIndex(const Shape& shape) : logical_sizes_(shape.dimensions) {
  const Layout& layout = shape.layout;
  major_to_minor_.assign(layout.minor_to_major.rbegin(), layout.minor_to_major.rend());
  const bool padded = !layout.padded_dimensions.empty();
  Level level;
  for (int64_t dimension : major_to_minor_) {
    const auto d = static_cast<size_t>(dimension);
    level.sizes.push_back(padded ? layout.padded_dimensions[d] : shape.dimensions[d]);
    level.remainder.push_back(false);
  }
  for (const std::vector<int64_t>& tile : layout.tiles) {
    Level next = tiled(level, tile);
    levels_.push_back(std::move(level));
    level = std::move(next);
  }
  for (int64_t size : level.sizes) elements_ *= size;
  if (level.sizes.size() > max_positions) std::abort();
  levels_.push_back(std::move(level));
}

LinearIndex::Level LinearIndex::tiled(Level& from, const std::vector<int64_t>& tile) {
  Level next;
  from.untouched = static_cast<int>(from.sizes.size() - tile.size());
  const auto untouched = static_cast<size_t>(from.untouched);
  next.sizes.assign(from.sizes.begin(), from.sizes.begin() + from.untouched);
  next.remainder.assign(from.remainder.begin(), from.remainder.begin() + from.untouched);
  int64_t merged = 1;
  size_t first = 0;
  for (size_t i = 0; i < tile.size(); ++i) {
    merged *= from.sizes[untouched + i];
    if (tile[i] == Layout::combine) continue;
    from.cuts.push_back(
        {static_cast<int>(untouched + first), static_cast<int>(untouched + i), tile[i]});
    next.sizes.push_back((merged + tile[i] - 1) / tile[i]);
    next.remainder.push_back(false);
    merged = 1;
    first = i + 1;
  }
  for (const Cut& cut : from.cuts) {
    next.sizes.push_back(cut.tile);
    next.remainder.push_back(true);
  }
  return next;
}

int64_t LinearIndex::operator()(std::span<const int64_t> index) const {
  const std::vector<int64_t>& sizes = levels_.back().sizes;
  int64_t linear = 0;
  if (levels_.size() == 1) {  // no tiles
    for (size_t d = 0; d < sizes.size(); ++d) {
      linear = linear * sizes[d] + index[static_cast<size_t>(major_to_minor_[d])];
    }
    return linear;
  }
  Positions now;
  for (int64_t dimension : major_to_minor_) {
    now.at[static_cast<size_t>(now.count++)] = index[static_cast<size_t>(dimension)];
  }
  for (const Level& level : levels_) {
    if (level.cuts.empty()) continue;
    Positions next;
    next.count = level.untouched;
    std::copy_n(now.at.begin(), level.untouched, next.at.begin());
    const int tiles = static_cast<int>(level.cuts.size());
    for (const Cut& cut : level.cuts) {
      int64_t merged = 0;
      for (int d = cut.first; d <= cut.last; ++d) {
        merged = merged * level.sizes[static_cast<size_t>(d)] + now.at[static_cast<size_t>(d)];
      }
      next.at[static_cast<size_t>(next.count)] = merged / cut.tile;
      next.at[static_cast<size_t>(next.count + tiles)] = merged % cut.tile;
      ++next.count;
    }
    next.count += tiles;
    now = next;
  }
  for (size_t d = 0; d < sizes.size(); ++d) linear = linear * sizes[d] + now.at[d];
  return linear;
}

/// From the positions after the tile of `level` to those before. False: nothing leads there.
bool LinearIndex::undo(const Level& level, Positions& positions) {
  const Positions after = positions;
  positions.count = static_cast<int>(level.sizes.size());
  int quotient = level.untouched;
  for (const Cut& cut : level.cuts) {
    const int remainder = quotient + static_cast<int>(level.cuts.size());
    int64_t merged = after.at[static_cast<size_t>(quotient++)] * cut.tile +
                     after.at[static_cast<size_t>(remainder)];
    for (int d = cut.last; d > cut.first; --d) {
      positions.at[static_cast<size_t>(d)] = merged % level.sizes[static_cast<size_t>(d)];
      merged /= level.sizes[static_cast<size_t>(d)];
    }
    const auto first = static_cast<size_t>(cut.first);
    positions.at[first] = merged;
    if (level.remainder[first] && merged >= level.sizes[first]) return false;
  }
  return true;
}

LinearIndex::Place LinearIndex::place(int64_t element) const {
  Positions now;
  const std::vector<int64_t>& sizes = levels_.back().sizes;
  now.count = static_cast<int>(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    now.at[d] = element % sizes[d];
    element /= sizes[d];
  }
  for (size_t i = levels_.size() - 1; i-- > 0;) {
    if (!levels_[i].cuts.empty() && !undo(levels_[i], now)) return Place::hole;
  }
  for (size_t d = 0; d < major_to_minor_.size(); ++d) {
    const auto dimension = static_cast<size_t>(major_to_minor_[d]);
    if (now.at[d] >= logical_sizes_[dimension]) return Place::fill;
  }
  return Place::logical;
}

}  // namespace restride::testing
