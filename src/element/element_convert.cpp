// Conversions of one element. Each rounds once, from the exact value: what passes through a double
// on its way to a narrow float is exact there, or rounded to odd, which a later rounding to fewer
// bits cannot tell from exact.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "element/element_math.hpp"
#include "element/stored_element.hpp"

namespace restride {
namespace {

using namespace stored;

/// A magnitude as a double: exact up to 53 bits, else the neighbour with the odd significand.
double round_to_odd(uint64_t magnitude) {
  const int excess = std::max(static_cast<int>(std::bit_width(magnitude)) - 53, 0);
  const uint64_t kept = magnitude >> excess;
  const bool is_exact = kept << excess == magnitude;
  return static_cast<double>((is_exact ? kept : kept | 1) << excess);
}

/// The same with the sign of an integer.
double odd_double(uint64_t value) { return round_to_odd(value); }
double odd_double(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  return value < 0 ? -round_to_odd(0 - bits) : round_to_odd(bits);
}

template <Rounding rounding>
double to_integral(double value) {
  return rounding == Rounding::toward_zero ? std::trunc(value) : std::nearbyint(value);
}

/// NaN gives 0. Precondition: the value is integral, infinite or NaN.
template <ElementType to>
Value<to> saturate(double value) {
  constexpr int bits = integer_bits(to);
  constexpr bool is_signed = is_signed_integer(to);
  constexpr auto highest =
      static_cast<Value<to>>((~uint64_t{0} >> (64 - bits)) >> (is_signed ? 1 : 0));
  constexpr Value<to> lowest = is_signed ? ~highest : 0;
  // One past the highest: of 64 bits the highest itself is no double and rounds up to this.
  constexpr double end = static_cast<double>(highest) + 1;
  if (std::isnan(value)) return 0;
  if (value >= end) return highest;
  if (value <= static_cast<double>(lowest)) return lowest;
  return static_cast<Value<to>>(value);
}

template <ElementType to>
void store_narrow(double value, void* p) {
  constexpr FloatFormat format = float_format(to);
  write_bits<stored_bytes(to)>(encode(format, value), p);
}

/// Stores a number that is not complex as a type that is not complex.
template <ElementType to, Rounding rounding, class Number>
void store_number(Number value, void* p) {
  constexpr bool is_integral = std::is_integral_v<Number>;
  if constexpr (to == ElementType::pred) {
    store<to>(value != 0, p);
  } else if constexpr (is_any_integer(to) && is_integral) {
    store<to>(static_cast<Value<to>>(value), p);
  } else if constexpr (is_any_integer(to)) {
    store<to>(saturate<to>(to_integral<rounding>(value)), p);
  } else if constexpr (!is_narrow_float(to)) {
    store<to>(static_cast<Value<to>>(value), p);
  } else if constexpr (is_integral) {
    store_narrow<to>(odd_double(value), p);
  } else {
    store_narrow<to>(value, p);
  }
}

template <ElementType from, ElementType to, Rounding rounding>
void convert(const void* p, void* q) {
  const Value<from> value = load<from>(p);
  if constexpr (is_any_complex(from) && to == ElementType::pred) {
    store<to>(value.re != 0 || value.im != 0, q);
  } else if constexpr (is_any_complex(from)) {
    using Real = typename ValueOf<to>::Real;
    store<to>({static_cast<Real>(value.re), static_cast<Real>(value.im)}, q);
  } else if constexpr (is_any_complex(to)) {
    using Real = typename ValueOf<to>::Real;
    store<to>({static_cast<Real>(value), 0}, q);
  } else if constexpr (from == ElementType::pred) {
    store_number<to, rounding>(static_cast<uint64_t>(value), q);
  } else {
    store_number<to, rounding>(value, q);
  }
}

/// From a type to itself.
template <ElementType type>
void copy(const void* p, void* q) {
  std::memmove(q, p, stored_bytes(type));
}

constexpr bool is_refused(ElementType from, ElementType to) {
  return is_any_complex(from) && !is_any_complex(to) && to != ElementType::pred;
}

template <Rounding rounding, size_t pair>
constexpr ConvertElement make_converter() {
  constexpr ElementType from = type_at(pair / type_count), to = type_at(pair % type_count);
  if constexpr (from == to) {
    return copy<to>;
  } else if constexpr (is_refused(from, to)) {
    return nullptr;
  } else if constexpr (is_real_float(from) && is_any_integer(to)) {
    return convert<from, to, rounding>;
  } else {
    return convert<from, to, Rounding::toward_zero>;  // rounds nothing: one function for both
  }
}

using Converters = std::array<ConvertElement, type_count * type_count>;

template <Rounding rounding, size_t... pair>
constexpr Converters make_converters(std::index_sequence<pair...> /*all*/) {
  return {make_converter<rounding, pair>()...};
}

template <Rounding rounding>
constexpr Converters converters =
    make_converters<rounding>(std::make_index_sequence<std::tuple_size_v<Converters>>());

}  // namespace

ConvertElement element_converter(ElementType from, ElementType to, Rounding rounding) {
  if (!is_element_type(from) || !is_element_type(to)) return nullptr;
  const size_t pair = place_of(from) * type_count + place_of(to);
  return rounding == Rounding::toward_zero ? converters<Rounding::toward_zero>[pair]
                                           : converters<Rounding::nearest_even>[pair];
}

}  // namespace restride
