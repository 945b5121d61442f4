// How much memory a shape takes: the one place where sizes are multiplied.
#pragma once

#include <cstdint>
#include <string_view>

#include "restride/result.hpp"
#include "restride/shape.hpp"

namespace restride {

struct Extents {
  int64_t elements = 0;         ///< of the array
  int64_t tiled_elements = 0;   ///< places in the buffer without tail alignment
  int64_t buffer_elements = 0;  ///< places in the buffer
  int64_t buffer_bytes = 0;
};

/// Checks everything a shape can have wrong, and measures it on the way. `name` stands before the
/// fields.
Result<Extents> measure(const Shape& shape, std::string_view name);

}  // namespace restride
