// The narrow floating-point formats, 16 bits and below, as numbers: a code to a double, which holds
// all of them exactly, and back with one rounding. Integer arithmetic only: the floating-point
// environment of the caller has no part in it.
#pragma once

#include <cstdint>

#include "restride/element_type.hpp"

namespace restride {

/// What stands at the end of a format's range, and what becomes of what lies beyond.
enum class Ending : uint8_t {
  infinite,    ///< the largest exponent holds infinities and NaNs, as in IEEE 754; beyond: infinity
  one_nan,     ///< no infinity; all ones is NaN of either sign; beyond: NaN
  unsigned_0,  ///< no infinity, no -0: the code of -0 is the only NaN; beyond: NaN
  finite,      ///< neither infinity nor NaN; beyond: the largest value
  power,       ///< exponents only: no sign, no zero, all ones is NaN; beyond, zero, negative: NaN
};

struct FloatFormat {
  int exponent_bits, mantissa_bits, bias;
  Ending ending;

  /// Also the place of the sign.
  constexpr int magnitude_bits() const { return exponent_bits + mantissa_bits; }
  constexpr int storage_bytes() const { return magnitude_bits() > 8 ? 2 : 1; }

  /// The first code of one sign that is no finite number.
  constexpr uint32_t end_of_finite() const {
    const uint32_t codes = 1u << magnitude_bits();
    if (ending == Ending::infinite) return codes - (1u << mantissa_bits);
    return ending == Ending::one_nan || ending == Ending::power ? codes - 1 : codes;
  }
};

/// Precondition: a float of at most 16 bits.
constexpr FloatFormat float_format(ElementType type) {
  switch (type) {
    case ElementType::bf16:
      return {8, 7, 127, Ending::infinite};
    case ElementType::f8e5m2:
      return {5, 2, 15, Ending::infinite};
    case ElementType::f8e4m3:
      return {4, 3, 7, Ending::infinite};
    case ElementType::f8e4m3fn:
      return {4, 3, 7, Ending::one_nan};
    case ElementType::f8e4m3b11fnuz:
      return {4, 3, 11, Ending::unsigned_0};
    case ElementType::f8e3m4:
      return {3, 4, 3, Ending::infinite};
    case ElementType::f8e5m2fnuz:
      return {5, 2, 16, Ending::unsigned_0};
    case ElementType::f8e4m3fnuz:
      return {4, 3, 8, Ending::unsigned_0};
    case ElementType::f8e8m0fnu:
      return {8, 0, 127, Ending::power};
    case ElementType::f4e2m1fn:
      return {2, 1, 1, Ending::finite};
    default:
      return {5, 10, 15, Ending::infinite};  // f16
  }
}

/// What generated code that goes through f32 knows of its bits.
namespace binary32 {
constexpr int mantissa_bits = 23, bias = 127;
constexpr uint32_t sign = 0x80000000, infinity = 0x7f800000, quiet_bit = 0x400000,
                   mantissa = 0x7fffff, quiet_nan = infinity | quiet_bit;

/// Precondition: a normal number.
constexpr uint32_t power_of_two(int exponent) { return uint32_t(exponent + bias) << mantissa_bits; }

/// What is added to a code's exponent, the code shifted to the top.
constexpr uint32_t rebias(const FloatFormat& format) {
  return uint32_t(bias - format.bias) << mantissa_bits;
}
}  // namespace binary32

/// Floats of 8 bits and less.
inline bool is_byte_float(ElementType type) { return is_float(type) && storage_bytes(type) == 1; }

/// Complex numbers are pairs of these; others are themselves.
inline ElementType part_type(ElementType type) {
  if (!is_complex(type)) return type;
  return type == ElementType::c64 ? ElementType::f32 : ElementType::f64;
}

/// The value of a code. A NaN keeps its sign and has its payload at the top, quiet.
double decode(const FloatFormat& format, uint32_t code);

/// The code nearest to a value, ties to the even significand. A NaN keeps its sign and what fits of
/// its payload, quiet; where the format has no NaN it becomes zero of the opposite sign.
uint32_t encode(const FloatFormat& format, double value);

}  // namespace restride
