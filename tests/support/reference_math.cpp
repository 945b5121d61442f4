// One operation at a time: read exact numbers, compute exactly or in more bits than twice those of
// the result, round once.
#include "support/reference_math.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace restride::testing {
namespace {

using enum ElementType;
using enum Operation;

/// At least 113 bits of significand: twice those of f64 and more, so that rounding to f64
/// afterwards rounds the exact result.
#ifdef __SIZEOF_FLOAT128__
__extension__ using Quad = __float128;
#else
using Quad = long double;
static_assert(std::numeric_limits<Quad>::digits >= 113);
#endif

ElementType part_type(ElementType type) { return type == c64 ? f32 : f64; }

/// Part 0 or 1 of a complex element.
Element part(ElementType type, const Element& element, int which) {
  Element out{};
  const auto bytes = static_cast<size_t>(storage_bytes(part_type(type)));
  std::memcpy(out.data(), element.data() + static_cast<size_t>(which) * bytes, bytes);
  return out;
}

Element join(ElementType type, const Element& re, const Element& im) {
  Element out{};
  const auto bytes = static_cast<size_t>(storage_bytes(part_type(type)));
  std::memcpy(out.data(), re.data(), bytes);
  std::memcpy(out.data() + bytes, im.data(), bytes);
  return out;
}

bool is_zero(ElementType type, const Element& element) {
  if (is_complex(type)) {
    return is_zero(part_type(type), part(type, element, 0)) &&
           is_zero(part_type(type), part(type, element, 1));
  }
  const Number number = read_number(type, element);
  return !number.is_nan && number.value == 0;
}

/// Saturates.
Element to_integer(ElementType to, const Number& number, ToInteger rounding) {
  if (number.is_nan) return element_of(0);
  const __int128 count = __int128{1} << bits(to);
  const __int128 least = is_signed(to) ? -count / 2 : 0, most = least + count - 1;
  if (number.value <= static_cast<long double>(least)) return write_integer(to, least);
  if (number.value >= static_cast<long double>(most)) return write_integer(to, most);
  const long double below = std::floor(number.value), rest = number.value - below;
  const auto low = static_cast<__int128>(below);
  bool up = number.value < 0 && rest > 0;
  if (rounding == ToInteger::nearest_even) up = rest > 0.5L || (rest == 0.5L && low % 2 != 0);
  return write_integer(to, up ? low + 1 : low);
}

/// The canonical NaN for any NaN.
Element result(ElementType type, long double value) {
  return std::isnan(value) ? canonical_nan(type) : write_float(type, {value});
}

template <class Wide>
Wide arithmetic(Operation operation, Wide a, Wide b) {
  if (operation == add) return a + b;
  if (operation == subtract) return a - b;
  if (operation == multiply) return a * b;
  return a / b;
}

/// add, subtract, multiply, divide of f32 or f64 values, rounded once to that type.
long double rounded(Operation operation, ElementType type, long double a, long double b) {
  if (type != f64) return static_cast<float>(arithmetic<long double>(operation, a, b));
  return static_cast<double>(arithmetic<Quad>(operation, a, b));
}

/// |a| modulo |b| bit by bit, with the sign of a: a = significand * 2^exponent.
long double float_remainder(long double a, long double b) {
  if (std::isnan(a) || std::isnan(b) || std::isinf(a) || b == 0) return NAN;
  if (std::isinf(b) || a == 0) return a;
  int a_exponent = 0, b_exponent = 0;
  constexpr int digits = 53;
  const auto significand = [](long double value, int& exponent) {
    const long double fraction = std::frexp(std::abs(value), &exponent);
    exponent -= digits;
    return static_cast<__int128>(std::ldexp(fraction, digits));
  };
  __int128 rest = significand(a, a_exponent);
  __int128 divisor = significand(b, b_exponent);
  if (a_exponent < b_exponent - digits) return a;
  for (; b_exponent > a_exponent; --b_exponent) divisor *= 2;
  for (rest %= divisor; a_exponent > b_exponent; --a_exponent) rest = rest * 2 % divisor;
  return std::copysign(std::ldexp(static_cast<long double>(rest), a_exponent), a);
}

/// Where a float stands among all of its type, -0 below +0. Precondition: no NaN.
int64_t order(ElementType type, const Element& element) {
  const int sign = bits(type) - 1;
  const uint64_t code = bits_of(element) & (~uint64_t{0} >> (63 - sign));
  const uint64_t magnitude = code & ~(uint64_t{1} << sign);
  if (type == f8e8m0fnu || code == magnitude) return static_cast<int64_t>(code);
  return -1 - static_cast<int64_t>(magnitude);
}

bool compare(Operation operation, int order) {
  if (operation == equal) return order == 0;
  if (operation == not_equal) return order != 0;
  if (operation == less) return order < 0;
  if (operation == less_equal) return order <= 0;
  return operation == greater ? order > 0 : order >= 0;
}

bool compare_floats(Operation operation, const Number& a, const Number& b) {
  if (a.is_nan || b.is_nan) return operation == not_equal;
  return compare(operation, (a.value > b.value) - (a.value < b.value));
}

Element compute_floats(Operation operation, ElementType type, const Element& x, const Element& y) {
  const Number first = read_number(type, x), second = read_number(type, y);
  const long double a = first.is_nan ? NAN : first.value, b = second.is_nan ? NAN : second.value;
  if (operation == maximum || operation == minimum) {
    if (first.is_nan || second.is_nan) return canonical_nan(type);
    const bool takes_first = (order(type, x) > order(type, y)) == (operation == maximum);
    return write_float(type, takes_first ? first : second);
  }
  if (operation == remainder) return result(type, float_remainder(a, b));
  if (operation == power) {
    // The rule names this function. (That of long double errs in glibc: -infinity to -2^63.)
    const double value = std::pow(static_cast<double>(a), static_cast<double>(b));
    return result(type, type == f64 ? value : static_cast<float>(value));
  }
  return result(type, rounded(operation, type, a, b));
}

/// Wraps at 128 bits, of which every type keeps the lowest.
__int128 product(__int128 a, __int128 b) {
  return static_cast<__int128>(static_cast<unsigned __int128>(a) *
                               static_cast<unsigned __int128>(b));
}

__int128 integer_power(__int128 base, __int128 exponent) {
  if (exponent < 0) return base == 1 || (base == -1 && exponent % 2 == 0) ? 1 : base == -1 ? -1 : 0;
  __int128 value = 1;
  for (int bit = 63; bit >= 0; --bit) {
    value = product(value, value);
    if ((exponent >> bit) % 2 != 0) value = product(value, base);
  }
  return value;
}

__int128 compute_integers(Operation operation, __int128 a, __int128 b) {
  switch (operation) {
    case add:
      return a + b;
    case subtract:
      return a - b;
    case multiply:
      return product(a, b);
    case divide:
      return b == 0 ? -1 : a / b;
    case remainder:
      return b == 0 ? a : a % b;
    case power:
      return integer_power(a, b);
    case maximum:
      return std::max(a, b);
    case minimum:
      return std::min(a, b);
    case bit_and:
      return a & b;
    case bit_or:
      return a | b;
    default:
      return a ^ b;
  }
}

/// A predicate is an integer that never leaves 0 and 1.
Element compute_predicates(Operation operation, __int128 a, __int128 b) {
  const __int128 value = compute_integers(operation, a, b);
  return element_of(value != 0 ? 1 : 0);
}

/// Arithmetic of one part type, rounding each operation.
struct Parts {
  ElementType type;

  long double operator()(Operation operation, long double a, long double b) const {
    return rounded(operation, type, a, b);
  }
};

struct Pair {
  long double re, im;
};

Pair complex_divide(const Parts& of, Pair a, Pair b) {
  if (b.re == 0 && b.im == 0) {
    return {of(divide, a.re, 0.0L), of(divide, a.im, 0.0L)};
  }
  // The rule is written for a divisor whose real part is the larger one; else both are turned by
  // a quarter: (a.re + a.im i) / i = a.im - a.re i.
  const bool turned = !(std::abs(b.re) >= std::abs(b.im));
  const long double large = turned ? b.im : b.re, small = turned ? b.re : b.im;
  const long double ratio = of(divide, small, large);
  const long double scale = of(divide, 1, of(add, large, of(multiply, small, ratio)));
  const long double re_ratio = of(multiply, a.re, ratio), im_ratio = of(multiply, a.im, ratio);
  if (turned) {
    return {of(multiply, of(add, re_ratio, a.im), scale),
            of(multiply, of(subtract, im_ratio, a.re), scale)};
  }
  return {of(multiply, of(add, a.re, im_ratio), scale),
          of(multiply, of(subtract, a.im, re_ratio), scale)};
}

/// By the same calls of the C library in f64 that the rule names: there is no other meaning.
Pair complex_power(Pair base, Pair exponent) {
  const auto a = static_cast<double>(base.re), b = static_cast<double>(base.im);
  const auto c = static_cast<double>(exponent.re), d = static_cast<double>(exponent.im);
  if (c == 0 && d == 0) return {1, 0};
  if (a == 0 && b == 0) return c > 0 ? Pair{0, 0} : Pair{NAN, NAN};
  const double length = std::log(std::hypot(a, b)), angle = std::atan2(b, a);
  const double real_part = std::exp(c * length - d * angle), turn = d * length + c * angle;
  return {real_part * std::cos(turn), real_part * std::sin(turn)};
}

Pair complex_result(Operation operation, const Parts& of, Pair a, Pair b) {
  if (operation == power) return complex_power(a, b);
  if (operation == divide) return complex_divide(of, a, b);
  if (operation == multiply) {
    return {of(subtract, of(multiply, a.re, b.re), of(multiply, a.im, b.im)),
            of(add, of(multiply, a.re, b.im), of(multiply, a.im, b.re))};
  }
  return {of(operation, a.re, b.re), of(operation, a.im, b.im)};
}

Element compute_complex(Operation operation, ElementType type, const Element& x, const Element& y) {
  const ElementType real = part_type(type);
  const auto pair = [&](const Element& element) {
    const auto value = [&](int which) {
      const Number number = read_number(real, part(type, element, which));
      return number.is_nan ? NAN : number.value;
    };
    return Pair{value(0), value(1)};
  };
  const Pair a = pair(x), b = pair(y);
  if (operation == equal || operation == not_equal) {
    return element_of((a.re == b.re && a.im == b.im) == (operation == equal) ? 1 : 0);
  }
  const Pair value = complex_result(operation, {real}, a, b);
  return join(type, result(real, value.re), result(real, value.im));
}

}  // namespace

bool reference_converts(ElementType from, ElementType to) {
  return !is_complex(from) || is_complex(to) || to == pred;
}

bool reference_computes(Operation operation, ElementType type) {
  static constexpr std::string_view of_complex =
      "add subtract multiply divide power equal not_equal";
  static constexpr std::string_view not_of_pred = "subtract divide remainder power";
  static constexpr std::string_view not_of_floats = "and or xor";
  const auto in = [&](std::string_view names) {
    return (' ' + std::string(names) + ' ').find(' ' + std::string(to_string(operation)) + ' ') !=
           std::string::npos;
  };
  if (!is_binary(operation)) return false;
  if (is_complex(type)) return in(of_complex);
  if (type == pred) return !in(not_of_pred);
  return is_integer(type) || !in(not_of_floats);
}

Element reference_convert(ElementType from, ElementType to, const Element& element,
                          ToInteger rounding) {
  if (from == to) return element;
  if (to == pred) return element_of(is_zero(from, element) ? 0 : 1);
  if (is_complex(to)) {
    const ElementType real = part_type(to);
    const ElementType from_real = is_complex(from) ? part_type(from) : from;
    const auto converted = [&](const Element& value) {
      return reference_convert(from_real, real, value);
    };
    if (!is_complex(from)) return join(to, converted(element), Element{});
    return join(to, converted(part(from, element, 0)), converted(part(from, element, 1)));
  }
  if (is_float(to)) return write_float(to, read_number(from, element));
  if (is_float(from)) return to_integer(to, read_number(from, element), rounding);
  return write_integer(to, read_integer(from, element));
}

Element reference_affine(ElementType from, ElementType to, const Element& element,
                         const AffineNumbers& numbers) {
  const Parts of{from == f64 || to == f64 ? f64 : f32};
  const auto in_type = [&](long double value) {
    return of.type == f64 ? static_cast<double>(value) : static_cast<float>(value);
  };
  const Number source = read_number(from, element);
  const long double scale = in_type(numbers.scale);
  long double value = source.is_nan ? NAN : in_type(source.value);
  if (is_float(to)) {
    if (numbers.zero_point) value = of(subtract, value, in_type(*numbers.zero_point));
    value = of(multiply, value, scale);
    if (numbers.bias) value = of(add, value, in_type(*numbers.bias));
    return result(to, value);
  }
  value = of(divide, value, scale);
  if (!std::isnan(value) && !std::isinf(value)) {
    const long double below = std::floor(value), rest = value - below;
    const bool up = rest > 0.5L || (rest == 0.5L && std::fmod(below, 2.0L) != 0);
    value = up ? below + 1 : below;
  }
  if (numbers.zero_point) value = of(add, value, in_type(*numbers.zero_point));
  return to_integer(to, {value, std::isnan(value)}, ToInteger::truncated);
}

Element reference_compute(Operation operation, ElementType type, const Element& a,
                          const Element& b) {
  if (is_complex(type)) return compute_complex(operation, type, a, b);
  if (is_float(type)) {
    if (!is_comparison(operation)) return compute_floats(operation, type, a, b);
    const bool holds = compare_floats(operation, read_number(type, a), read_number(type, b));
    return element_of(holds ? 1 : 0);
  }
  const __int128 x = read_integer(type, a), y = read_integer(type, b);
  if (is_comparison(operation)) {
    return element_of(compare(operation, (x > y) - (x < y)) ? 1 : 0);
  }
  if (type == pred) return compute_predicates(operation, x, y);
  return write_integer(type, compute_integers(operation, x, y));
}

}  // namespace restride::testing
