// Elements as exact numbers.
#include "support/reference_number.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

namespace restride::testing {
namespace {

using enum ElementType;

/// A format of 16 bits or less. Codes of one sign are in the order of their values.
struct Narrow {
  ElementType type;
  int mantissa_bits;
  int least_exponent;  ///< the least positive number is 2 to this
  int finite;          ///< how many codes of one sign are finite, zero among them
  int sign;            ///< the bit of the sign as a number; 0: none
  int beyond;          ///< what a number past the finite ones becomes, without its sign
  int nan;             ///< the canonical NaN
  bool has_negative_zero = true;
  bool nan_has_sign = true;
  bool has_payload = false;
};

// From the papers that define the formats.
constexpr Narrow formats[] = {
    {f16, 10, -24, 0x7c00, 0x8000, 0x7c00, 0x7e00, true, true, true},
    {bf16, 7, -133, 0x7f80, 0x8000, 0x7f80, 0x7fc0, true, true, true},
    {f8e5m2, 2, -16, 0x7c, 0x80, 0x7c, 0x7e, true, true, true},
    {f8e4m3, 3, -9, 0x78, 0x80, 0x78, 0x7c, true, true, true},
    {f8e3m4, 4, -6, 0x70, 0x80, 0x70, 0x78, true, true, true},
    {f8e4m3fn, 3, -9, 0x7f, 0x80, 0x7f, 0x7f},
    {f8e4m3b11fnuz, 3, -13, 0x80, 0x80, 0x80, 0x80, false, false},
    {f8e5m2fnuz, 2, -17, 0x80, 0x80, 0x80, 0x80, false, false},
    {f8e4m3fnuz, 3, -10, 0x80, 0x80, 0x80, 0x80, false, false},
    {f8e8m0fnu, 0, -127, 0xff, 0, 0xff, 0xff, false, false},
    {f4e2m1fn, 1, -1, 8, 8, 7, 8},
};

const Narrow* find_narrow(ElementType type) {
  const auto* const row =
      std::ranges::find_if(formats, [type](const Narrow& format) { return format.type == type; });
  return row == std::end(formats) ? nullptr : row;
}

/// All finite values of one sign, and one more, where the format would go on. Neighbours are one
/// spacing apart; it doubles after each 2^mantissa_bits codes, but not after the first ones, which
/// have no leading bit.
std::vector<long double> values_of(const Narrow& format) {
  std::vector<long double> values;
  long double spacing = std::ldexp(1.0L, format.least_exponent);
  if (format.type == f8e8m0fnu) {
    for (int code = 0; code <= format.finite; ++code) values.push_back(std::ldexp(spacing, code));
    return values;
  }
  const int block = 1 << format.mantissa_bits;
  long double value = 0;
  for (int code = 0; code <= format.finite; ++code) {
    values.push_back(value);
    if (code >= 2 * block && code % block == 0) spacing *= 2;
    value = values.back() + spacing;
  }
  return values;
}

const std::vector<long double>& values(const Narrow& format) {
  static const std::map<ElementType, std::vector<long double>> lists = [] {
    std::map<ElementType, std::vector<long double>> all;
    for (const Narrow& row : formats) all[row.type] = values_of(row);
    return all;
  }();
  return lists.at(format.type);
}

Number nan_number(bool sign, uint64_t payload) { return {0, true, sign, payload}; }

Number read_narrow(const Narrow& format, int code) {
  const bool negative = (code & format.sign) != 0;
  const int magnitude = code & ((format.sign != 0 ? format.sign : 0x100) - 1);
  if (!format.nan_has_sign && code == format.nan) return nan_number(false, 0);
  if (magnitude < format.finite) {
    const long double value = values(format)[static_cast<size_t>(magnitude)];
    return {negative ? -value : value};
  }
  if (format.has_payload && magnitude == format.beyond) {
    constexpr long double infinity = std::numeric_limits<long double>::infinity();
    return {negative ? -infinity : infinity};
  }
  const auto payload = static_cast<uint64_t>(magnitude - format.finite);
  return nan_number(negative, format.has_payload ? payload << (64 - format.mantissa_bits) : 0);
}

int write_narrow_nan(const Narrow& format, const Number& number) {
  if (format.type == f4e2m1fn) return number.nan_sign ? 0 : 8;
  int code = format.nan;
  if (format.has_payload)
    code |= static_cast<int>(number.nan_payload >> (64 - format.mantissa_bits));
  return format.nan_has_sign && number.nan_sign ? code | format.sign : code;
}

/// The place of the value nearest to a magnitude; format.finite for one past the finite ones.
int nearest(const Narrow& format, long double magnitude) {
  const std::vector<long double>& list = values(format);
  const auto above = std::ranges::upper_bound(list, magnitude);
  if (above == list.end()) return format.finite;
  if (above == list.begin()) return 0;
  const auto place = static_cast<int>(above - list.begin());
  const long double low = above[-1], high = above[0];
  const long double from_low = magnitude - low, from_high = high - magnitude;
  if (from_low != from_high) return from_low < from_high ? place - 1 : place;
  // A significand of one bit is always odd, and so the tie goes up.
  if (format.mantissa_bits == 0) return place;
  return place % 2 == 0 ? place : place - 1;
}

int write_narrow(const Narrow& format, const Number& number) {
  if (number.is_nan) return write_narrow_nan(format, number);
  const bool negative = std::signbit(number.value);
  if (format.type == f8e8m0fnu && (negative || number.value == 0)) return format.nan;
  const int place = nearest(format, std::abs(number.value));
  const int code = place < format.finite ? place : format.beyond;
  if (code == 0 && !format.has_negative_zero) return 0;
  return negative ? code | format.sign : code;
}

template <class Real, class Bits, int mantissa_bits>
Number read_wide(const Element& element) {
  const auto bits = static_cast<Bits>(bits_of(element));
  const auto value = std::bit_cast<Real>(bits);
  constexpr Bits infinity = std::bit_cast<Bits>(std::numeric_limits<Real>::infinity());
  const Bits sign_bit = Bits{1} << (8 * sizeof(Bits) - 1);
  const Bits magnitude = bits & ~sign_bit;
  if (magnitude <= infinity) return {static_cast<long double>(value)};
  return nan_number((bits & sign_bit) != 0, uint64_t{magnitude} << (64 - mantissa_bits));
}

template <class Real, class Bits, int mantissa_bits>
Element write_wide(const Number& number) {
  if (!number.is_nan) return element_of(std::bit_cast<Bits>(static_cast<Real>(number.value)));
  const Bits quiet = std::bit_cast<Bits>(std::numeric_limits<Real>::quiet_NaN());
  const Bits sign = Bits{number.nan_sign ? 1u : 0u} << (8 * sizeof(Bits) - 1);
  return element_of(quiet | sign | static_cast<Bits>(number.nan_payload >> (64 - mantissa_bits)));
}

}  // namespace

uint64_t bits_of(const Element& element) {
  uint64_t bits = 0;
  std::memcpy(&bits, element.data(), sizeof bits);
  return bits;
}

Element element_of(uint64_t bits) {
  Element element{};
  std::memcpy(element.data(), &bits, sizeof bits);
  return element;
}

Number read_number(ElementType type, const Element& element) {
  if (type == f32) return read_wide<float, uint32_t, 23>(element);
  if (type == f64) return read_wide<double, uint64_t, 52>(element);
  const Narrow* const format = find_narrow(type);
  if (format == nullptr) return {static_cast<long double>(read_integer(type, element))};
  const int mask = type == f4e2m1fn ? 15 : 0xffff;
  return read_narrow(*format, static_cast<int>(bits_of(element)) & mask);
}

Element write_float(ElementType type, const Number& number) {
  if (type == f32) return write_wide<float, uint32_t, 23>(number);
  if (type == f64) return write_wide<double, uint64_t, 52>(number);
  return element_of(static_cast<uint64_t>(write_narrow(*find_narrow(type), number)));
}

Element canonical_nan(ElementType type) { return write_float(type, nan_number(false, 0)); }

__int128 read_integer(ElementType type, const Element& element) {
  if (type == pred) return bits_of(element) != 0 ? 1 : 0;
  const __int128 modulus = __int128{1} << bits(type);
  const __int128 value = static_cast<__int128>(bits_of(element)) % modulus;
  return is_signed(type) && 2 * value >= modulus ? value - modulus : value;
}

Element write_integer(ElementType type, __int128 value) {
  const __int128 modulus = __int128{1} << bits(type);
  const __int128 rest = value % modulus;
  return element_of(static_cast<uint64_t>(rest < 0 ? rest + modulus : rest));
}

}  // namespace restride::testing
