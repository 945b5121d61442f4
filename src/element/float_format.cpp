// The narrow floating-point formats as numbers. A finite code is a count of the smallest spacing,
// shifted by its exponent:
//
//     code   exponent field E | mantissa M            value   (2^m + M) 2^(E - bias - m), E > 0
//                                                                      M 2^(1 - bias - m), E = 0
//
// so that codes of one sign are in the order of their values, and a significand that rounds up
// carries into the exponent by itself.
#include "element/float_format.hpp"

#include <algorithm>
#include <bit>

namespace restride {
namespace {

constexpr int wide_mantissa_bits = 52, wide_bias = 1023;
constexpr uint64_t wide_hidden_bit = uint64_t{1} << wide_mantissa_bits;
constexpr uint64_t wide_quiet_bit = wide_hidden_bit >> 1;
constexpr uint64_t wide_exponent = uint64_t{0x7ff} << wide_mantissa_bits;

/// A double of these bits and, if set, this sign.
double wide(uint64_t magnitude, uint32_t sign) {
  return std::bit_cast<double>(magnitude | uint64_t{sign} << 63);
}

/// Precondition: the exponent is that of a normal double.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + wide_bias) << wide_mantissa_bits);
}

/// The first code of one sign that is no finite number.
uint32_t end_of_finite(const FloatFormat& format) {
  const uint32_t all = uint32_t{1} << format.magnitude_bits();
  switch (format.ending) {
    case Ending::infinite:
      return all - (uint32_t{1} << format.mantissa_bits);
    case Ending::one_nan:
    case Ending::power:
      return all - 1;
    default:
      return all;
  }
}

/// The quiet NaN of this sign that keeps the top bits of a double's mantissa.
uint32_t encode_nan(const FloatFormat& format, uint32_t sign, uint64_t mantissa) {
  const uint32_t sign_bit = uint32_t{1} << format.magnitude_bits();
  switch (format.ending) {
    case Ending::infinite: {
      const auto payload = static_cast<uint32_t>((mantissa | wide_quiet_bit) >>
                                                 (wide_mantissa_bits - format.mantissa_bits));
      return sign * sign_bit + end_of_finite(format) + payload;
    }
    case Ending::unsigned_0:
      return sign_bit;
    case Ending::finite:
      return (1 - sign) * sign_bit;
    default:
      return (format.ending == Ending::power ? 0 : sign * sign_bit) + end_of_finite(format);
  }
}

/// What a finite number or infinity beyond the largest code becomes.
uint32_t encode_beyond(const FloatFormat& format, uint32_t sign) {
  const uint32_t sign_bit = uint32_t{1} << format.magnitude_bits();
  switch (format.ending) {
    case Ending::infinite:
      return sign * sign_bit + end_of_finite(format);
    case Ending::finite:
      return sign * sign_bit + end_of_finite(format) - 1;
    default:
      return encode_nan(format, sign, 0);
  }
}

/// value / 2^shift, to nearest, ties to even. Precondition: value < 2^53, shift >= 1.
uint64_t round_shift(uint64_t value, int shift) {
  if (shift > wide_mantissa_bits + 2) return 0;
  const uint64_t half = uint64_t{1} << (shift - 1);
  const uint64_t odd = value >> shift & 1;
  return (value + half - 1 + odd) >> shift;
}

/// The code of a positive normal double without its sign; may be past the finite ones.
uint64_t round_magnitude(const FloatFormat& format, uint64_t bits) {
  const int exponent = static_cast<int>(bits >> wide_mantissa_bits) - wide_bias;
  const uint64_t significand = (bits & (wide_hidden_bit - 1)) | wide_hidden_bit;
  const bool has_zero = format.ending != Ending::power;
  const int least = (has_zero ? 1 : 0) - format.bias;
  const int place = std::max(exponent, least);
  const int shift = wide_mantissa_bits - format.mantissa_bits + place - exponent;
  const uint64_t rounded = round_shift(significand, shift);
  const uint64_t base = static_cast<uint64_t>(place - least) << format.mantissa_bits;
  return has_zero ? base + rounded : base + std::max<uint64_t>(rounded, 1) - 1;
}

}  // namespace

double decode(const FloatFormat& format, uint32_t code) {
  const bool has_sign = format.ending != Ending::power;
  const uint32_t magnitude = code & ((uint32_t{1} << format.magnitude_bits()) - 1);
  const uint32_t sign = has_sign ? code >> format.magnitude_bits() & 1 : 0;
  const uint32_t end = end_of_finite(format);
  if (format.ending == Ending::unsigned_0 && sign == 1 && magnitude == 0) {
    return wide(wide_exponent | wide_quiet_bit, 0);
  }
  if (magnitude >= end) {
    const uint64_t payload = uint64_t{magnitude - end}
                             << (wide_mantissa_bits - format.mantissa_bits);
    const bool is_infinity = format.ending == Ending::infinite && payload == 0;
    return wide(wide_exponent | payload | (is_infinity ? 0 : wide_quiet_bit), sign);
  }
  const int field = static_cast<int>(magnitude >> format.mantissa_bits);
  const uint32_t mantissa = magnitude & ((uint32_t{1} << format.mantissa_bits) - 1);
  const uint32_t hidden = !has_sign || field > 0 ? uint32_t{1} << format.mantissa_bits : 0;
  const int exponent = (has_sign ? std::max(field, 1) : field) - format.bias - format.mantissa_bits;
  const double value = static_cast<double>(hidden | mantissa) * power_of_two(exponent);
  return sign == 1 ? -value : value;
}

uint32_t encode(const FloatFormat& format, double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint32_t>(bits >> 63);
  const uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  if (magnitude > wide_exponent) {
    return encode_nan(format, sign, magnitude & (wide_hidden_bit - 1));
  }
  const bool is_power = format.ending == Ending::power;
  if (is_power && (sign == 1 || magnitude == 0)) return encode_nan(format, 0, 0);
  const bool is_tiny = magnitude < wide_hidden_bit;  // zero and what every format rounds to it
  const uint64_t code = is_tiny ? 0 : round_magnitude(format, magnitude);
  if (code >= end_of_finite(format)) return encode_beyond(format, sign);
  // The code of -0 is taken where zero has no sign.
  if (code == 0 && format.ending == Ending::unsigned_0) return 0;
  return (is_power ? 0 : sign << format.magnitude_bits()) + static_cast<uint32_t>(code);
}

}  // namespace restride
