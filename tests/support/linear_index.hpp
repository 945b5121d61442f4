// The textbook index formula of a layout, written from the specification and sharing nothing with
// the library.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "restride/shape.hpp"

namespace restride::testing {

/// From a logical index to the number of the element in its buffer, and back.
/// Precondition of all: the shape is valid, and small enough to be enumerated.
class LinearIndex {
 public:
  explicit LinearIndex(const Shape& shape);

  /// Elements of the buffer without the tail alignment.
  int64_t elements() const { return elements_; }
  int64_t operator()(std::span<const int64_t> index) const;

  enum class Place {
    logical,  ///< an element of the array
    fill,     ///< an index beyond the array: padding, or what fills up an incomplete tile
    hole,     ///< no index leads here: a tile that does not divide the tile it was cut from
  };
  Place place(int64_t element) const;

 private:
  static constexpr int max_positions = 96;
  /// The first `count` are set, no others: indices are too many for clearing them all each time.
  struct Positions {
    int count = 0;
    std::array<int64_t, max_positions> at;
  };
  /// Dimensions [first, last] of the level merge into one, which is cut by `tile`.
  struct Cut {
    int first, last;
    int64_t tile;
  };
  /// Physical dimensions, most major first, and the tile that leads to the next level.
  struct Level {
    std::vector<int64_t> sizes;
    std::vector<bool> remainder;  ///< the index is a remainder and cannot reach past the size
    int untouched = 0;            ///< dimensions before those the tile applies to
    std::vector<Cut> cuts;
  };

  static Level tiled(Level& from, const std::vector<int64_t>& tile);
  static bool undo(const Level& level, Positions& positions);

  std::vector<int64_t> logical_sizes_;  ///< by dimension number
  std::vector<int64_t> major_to_minor_;
  std::vector<Level> levels_;  ///< the last one is linearised
  int64_t elements_ = 1;
};

}  // namespace restride::testing
