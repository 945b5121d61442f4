// A shape: element type, dimension sizes and a layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "restride/element_type.hpp"
#include "restride/layout.hpp"
#include "restride/result.hpp"

namespace restride {

/// Plain data. A default-constructed Shape is the scalar f32[].
struct Shape {
  ElementType element_type = ElementType::f32;
  std::vector<int64_t> dimensions;  ///< sizes in elements, >= 0, by dimension number
  Layout layout;

  bool operator==(const Shape&) const = default;
};

}  // namespace restride
