// Views of a Work that several peers need.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "peer.hpp"

namespace restride::bench {

/// A dense array in row-major order and the order of its dimensions in the result.
struct Permutation {
  std::vector<int64_t> extents;      ///< of the source, slowest first
  std::vector<int> source_position;  ///< of each target dimension, slowest first
};

/// None where a byte is skipped or used twice: padding and broadcasts.
inline std::optional<Permutation> dense_permutation(const Work& work) {
  std::vector<Dimension> by_source = work.dimensions;
  std::stable_sort(by_source.begin(), by_source.end(),
                   [](const auto& a, const auto& b) { return a.source_stride > b.source_stride; });
  const auto is_dense = [&](const std::vector<Dimension>& dimensions, auto stride, int64_t bytes) {
    int64_t expected = work.element_bytes;
    for (auto it = dimensions.rbegin(); it != dimensions.rend(); ++it) {
      if ((*it).*stride != expected) return false;
      expected *= it->extent;
    }
    return expected == bytes;
  };
  if (!is_dense(by_source, &Dimension::source_stride, work.source_bytes) ||
      !is_dense(work.dimensions, &Dimension::target_stride, work.target_bytes))
    return std::nullopt;
  Permutation permutation;
  for (const Dimension& dimension : by_source) permutation.extents.push_back(dimension.extent);
  for (const Dimension& dimension : work.dimensions) {
    const auto found = std::find(by_source.begin(), by_source.end(), dimension);
    permutation.source_position.push_back(static_cast<int>(found - by_source.begin()));
  }
  return permutation;
}

/// Matrix transposes inside of loops: for those who know two dimensions.
struct BatchedTranspose {
  Dimension row, column;  ///< column: contiguous in the source; row: in the target
  std::vector<Dimension> outer;
};

/// None where the fastest dimension is the same on both sides, or one has none.
inline std::optional<BatchedTranspose> batched_transpose(const Work& work) {
  BatchedTranspose transpose = {{0, 0, 0}, {0, 0, 0}, {}};
  for (const Dimension& dimension : work.dimensions) {
    if (dimension.source_stride <= 0) return std::nullopt;
    if (dimension.source_stride == work.element_bytes) {
      transpose.column = dimension;
    } else if (dimension.target_stride == work.element_bytes) {
      transpose.row = dimension;
    } else {
      transpose.outer.push_back(dimension);
    }
  }
  const bool found = transpose.row.extent > 0 && transpose.column.extent > 0 &&
                     transpose.column.target_stride != work.element_bytes;
  if (!found) return std::nullopt;
  return transpose;
}

/// Calls `inner(source, target)` for each iteration of the loops from `first` on.
template <class Inner>
void for_each(const std::vector<Dimension>& loops, const std::byte* source, std::byte* target,
              const Inner& inner, size_t first = 0) {
  if (first == loops.size()) return inner(source, target);
  const Dimension& loop = loops[first];
  for (int64_t i = 0; i < loop.extent; ++i)
    for_each(loops, source + i * loop.source_stride, target + i * loop.target_stride, inner,
             first + 1);
}

}  // namespace restride::bench
