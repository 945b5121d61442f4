// Elements as exact numbers, for the reference arithmetic. By other means than the library: formats
// of 16 bits and less are lists of all their values, and rounding is a search in the list.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "restride/element_type.hpp"

namespace restride::testing {

/// One element as it lies in memory; unused bytes are zero.
using Element = std::array<std::byte, 16>;

uint64_t bits_of(const Element& element);
Element element_of(uint64_t bits);

/// A real number: every value of every real type is one.
struct Number {
  long double value = 0;  ///< exact: 64 bits of significand
  bool is_nan = false;
  bool nan_sign = false;
  uint64_t nan_payload = 0;  ///< the highest bit is the one that makes it quiet
};

/// The number of an element. Precondition: no complex type.
Number read_number(ElementType type, const Element& element);

/// The nearest element of a float type, ties to even; section 6 and "What arithmetic means".
Element write_float(ElementType type, const Number& number);

/// The quiet positive NaN without payload of a float type.
Element canonical_nan(ElementType type);

/// The integer of an integer type's element or a pred's.
__int128 read_integer(ElementType type, const Element& element);
/// Wraps.
Element write_integer(ElementType type, __int128 value);

}  // namespace restride::testing
