// Explicit byte strides: what can be wrong with them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "restride/result.hpp"
#include "restride/shape.hpp"

namespace restride {

/// Bytes beyond this are refused, so that counts of bits fit 64 bits as well.
constexpr int64_t max_buffer_bytes = int64_t{1} << 59;

/// One stride per dimension or none at all, next to a default layout; no element further than
/// max_buffer_bytes off.
Result<void> check_strides(const Shape& shape, const std::vector<int64_t>& byte_strides,
                           std::string_view name);

/// Every element has bytes of its own: sorted by size, each stride steps over all that the smaller
/// ones span. Sharp for slices and permutations of arrays; refuses strides that interleave without
/// being multiples of each other. Precondition: check_strides.
Result<void> check_distinct_addresses(const Shape& shape, const std::vector<int64_t>& byte_strides,
                                      std::string_view name);

}  // namespace restride
