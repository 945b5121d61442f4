// Explicit byte strides: what can be wrong with them.
#include "model/strides.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/checked.hpp"
#include "base/message.hpp"

namespace restride {
namespace {

/// Where the elements of a dimension with more than one of them lie.
struct Extent {
  int64_t distance;  // bytes between neighbours
  int64_t reach;     // bytes from the first to the last
  size_t dimension;
};

}  // namespace

Result<void> check_strides(const Shape& shape, const std::vector<int64_t>& byte_strides,
                           std::string_view name) {
  if (byte_strides.empty()) return {};
  const Field field{name, "byte_strides"};
  if (byte_strides.size() != shape.dimensions.size()) {
    return invalid(field, "has " + std::to_string(byte_strides.size()) + " entries: must have " +
                              std::to_string(shape.dimensions.size()) + ", one per dimension");
  }
  if (!is_default(shape.layout)) {
    return invalid({name, "layout"},
                   "is " + to_string(shape.layout) + ": must be the default one beside strides");
  }
  int64_t reach = storage_bytes(shape.element_type);
  for (size_t i = 0; i < byte_strides.size(); ++i) {
    int64_t distance = byte_strides[i];
    const int64_t steps = std::max<int64_t>(shape.dimensions[i], 1) - 1;
    if (multiply(distance, steps) == Checked::fits && distance > -max_buffer_bytes &&
        distance < max_buffer_bytes) {
      reach += std::abs(distance);
      if (reach <= max_buffer_bytes) continue;
    }
    return invalid_entry(field, static_cast<int64_t>(i), byte_strides[i],
                         "elements would lie beyond any memory");
  }
  return {};
}

Result<void> check_distinct_addresses(const Shape& shape, const std::vector<int64_t>& byte_strides,
                                      std::string_view name) {
  if (is_zero_element(shape)) return {};
  std::vector<Extent> extents;
  for (size_t i = 0; i < byte_strides.size(); ++i) {
    const int64_t steps = shape.dimensions[i] - 1;
    if (steps == 0) continue;
    const int64_t distance = std::abs(byte_strides[i]);
    extents.push_back({distance, distance * steps, i});
  }
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.distance < b.distance; });
  int64_t span = storage_bytes(shape.element_type);
  for (const Extent& extent : extents) {
    if (extent.distance < span) {
      return invalid_entry({name, "byte_strides"}, static_cast<int64_t>(extent.dimension),
                           byte_strides[extent.dimension],
                           "elements overlap: must step over " + std::to_string(span) + " bytes");
    }
    span += extent.reach;
  }
  return {};
}

}  // namespace restride
