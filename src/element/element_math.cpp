// Binary operations on one element, one function template for each kind of number.
//
// Every NaN that comes out is the positive quiet one without payload, whatever went in: processors
// disagree about all others.
#include "element/element_math.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "element/stored_element.hpp"

namespace restride {
namespace {

using namespace stored;

template <Operation operation>
bool compare(auto a, auto b) {
  if constexpr (operation == Operation::equal) return a == b;
  if constexpr (operation == Operation::not_equal) return a != b;
  if constexpr (operation == Operation::less) return a < b;
  if constexpr (operation == Operation::less_equal) return a <= b;
  if constexpr (operation == Operation::greater) return a > b;
  if constexpr (operation == Operation::greater_equal) return a >= b;
}

template <Operation operation, class Real>
bool compare(const Complex<Real>& a, const Complex<Real>& b) {
  const bool is_equal = a.re == b.re && a.im == b.im;
  return is_equal == (operation == Operation::equal);
}

template <class Real>
Real canonical(Real value) {
  return std::isnan(value) ? std::numeric_limits<Real>::quiet_NaN() : value;
}

/// By zero: all ones. The lowest number by -1: itself, because negation wraps.
template <class Integer>
Integer divide(Integer a, Integer b) {
  if (b == 0) return static_cast<Integer>(~uint64_t{0});
  if (std::is_signed_v<Integer> && b == static_cast<Integer>(-1)) {
    return static_cast<Integer>(0 - static_cast<uint64_t>(a));
  }
  return a / b;
}

/// By zero: the dividend. By -1: 0.
template <class Integer>
Integer remainder(Integer a, Integer b) {
  if (b == 0) return a;
  if (std::is_signed_v<Integer> && b == static_cast<Integer>(-1)) return 0;
  return a % b;
}

/// Wraps. To a negative power: 1 or -1 of these, 0 of all others, 0 among them.
template <class Integer>
Integer power(Integer base, Integer exponent) {
  const bool is_odd = (exponent & 1) != 0;
  if (std::is_signed_v<Integer> && exponent < 0) {
    if (base == static_cast<Integer>(-1)) return is_odd ? base : 1;
    return base == 1 ? 1 : 0;
  }
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (auto rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) result *= factor;
    factor *= factor;
  }
  return static_cast<Integer>(result);
}

template <Operation operation>
bool compute(bool a, bool b) {
  constexpr bool is_any = operation == Operation::add || operation == Operation::maximum ||
                          operation == Operation::bit_or;
  if constexpr (operation == Operation::bit_xor) return a != b;
  return is_any ? a || b : a && b;
}

template <Operation operation, class Integer>
Integer compute_integers(Integer a, Integer b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  const auto wrapped = [](uint64_t value) { return static_cast<Integer>(value); };
  if constexpr (operation == Operation::add) return wrapped(x + y);
  if constexpr (operation == Operation::subtract) return wrapped(x - y);
  if constexpr (operation == Operation::multiply) return wrapped(x * y);
  if constexpr (operation == Operation::divide) return divide(a, b);
  if constexpr (operation == Operation::remainder) return remainder(a, b);
  if constexpr (operation == Operation::power) return power(a, b);
  if constexpr (operation == Operation::maximum) return a > b ? a : b;
  if constexpr (operation == Operation::minimum) return a < b ? a : b;
  if constexpr (operation == Operation::bit_and) return a & b;
  if constexpr (operation == Operation::bit_or) return a | b;
  return a ^ b;
}

template <Operation operation>
int64_t compute(int64_t a, int64_t b) {
  return compute_integers<operation>(a, b);
}
template <Operation operation>
uint64_t compute(uint64_t a, uint64_t b) {
  return compute_integers<operation>(a, b);
}

/// -0 is less than +0.
template <Operation operation, class Real>
Real choose(Real a, Real b) {
  if (std::isnan(a)) return a;
  if (std::isnan(b)) return b;
  const bool is_less = a == b ? std::signbit(a) && !std::signbit(b) : a < b;
  return is_less == (operation == Operation::minimum) ? a : b;
}

template <Operation operation, class Real>
Real compute_floats(Real a, Real b) {
  if constexpr (operation == Operation::add) return a + b;
  if constexpr (operation == Operation::subtract) return a - b;
  if constexpr (operation == Operation::multiply) return a * b;
  if constexpr (operation == Operation::divide) return a / b;
  if constexpr (operation == Operation::remainder) return std::fmod(a, b);
  if constexpr (operation == Operation::power) {
    return static_cast<Real>(std::pow(static_cast<double>(a), static_cast<double>(b)));
  }
  return choose<operation>(a, b);
}

template <Operation operation>
float compute(float a, float b) {
  return canonical(compute_floats<operation>(a, b));
}
template <Operation operation>
double compute(double a, double b) {
  return canonical(compute_floats<operation>(a, b));
}

/// Smith's method: by the quotient of the smaller part of the divisor and the larger one.
template <class Real>
Complex<Real> divide(const Complex<Real>& a, const Complex<Real>& b) {
  if (std::abs(b.re) >= std::abs(b.im)) {
    if (b.re == 0 && b.im == 0) return {a.re / std::abs(b.re), a.im / std::abs(b.re)};
    const Real ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
    return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
  }
  const Real ratio = b.re / b.im, scale = 1 / (b.im + b.re * ratio);
  return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}

/// In polar form: (r e^it)^(c + id) = r^c e^-dt e^i(ct + d ln r).
Complex<double> power(const Complex<double>& a, const Complex<double>& b) {
  if (b.re == 0 && b.im == 0) return {1, 0};
  if (a.re == 0 && a.im == 0) {
    const double value = b.re > 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
    return {value, value};
  }
  const double logarithm = std::log(std::hypot(a.re, a.im)), angle = std::atan2(a.im, a.re);
  const double length = std::exp(b.re * logarithm - b.im * angle);
  const double turn = b.im * logarithm + b.re * angle;
  return {length * std::cos(turn), length * std::sin(turn)};
}

template <Operation operation, class Real>
Complex<Real> compute_complex(const Complex<Real>& a, const Complex<Real>& b) {
  if constexpr (operation == Operation::add) return {a.re + b.re, a.im + b.im};
  if constexpr (operation == Operation::subtract) return {a.re - b.re, a.im - b.im};
  if constexpr (operation == Operation::multiply) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  if constexpr (operation == Operation::divide) return divide(a, b);
  const Complex<double> wide = power(Complex<double>{a.re, a.im}, Complex<double>{b.re, b.im});
  return {static_cast<Real>(wide.re), static_cast<Real>(wide.im)};
}

template <Operation operation, class Real>
Complex<Real> compute(const Complex<Real>& a, const Complex<Real>& b) {
  const Complex<Real> result = compute_complex<operation>(a, b);
  return {canonical(result.re), canonical(result.im)};
}

template <Operation operation, ElementType type>
void run(const void* a, const void* b, void* to) {
  const Value<type> x = load<type>(a), y = load<type>(b);
  if constexpr (is_comparison(operation)) {
    store<ElementType::pred>(compare<operation>(x, y), to);
  } else {
    store<type>(compute<operation>(x, y), to);
  }
}

constexpr bool takes(Operation operation, ElementType type) {
  switch (operation) {
    case Operation::copy:
    case Operation::convert:
      return false;
    case Operation::subtract:
    case Operation::divide:
    case Operation::power:
      return type != ElementType::pred;
    case Operation::remainder:
      return type != ElementType::pred && !is_any_complex(type);
    case Operation::bit_and:
    case Operation::bit_or:
    case Operation::bit_xor:
      return type == ElementType::pred || is_any_integer(type);
    case Operation::maximum:
    case Operation::minimum:
    case Operation::less:
    case Operation::less_equal:
    case Operation::greater:
    case Operation::greater_equal:
      return !is_any_complex(type);
    default:
      return true;
  }
}

constexpr size_t operation_count = static_cast<size_t>(Operation::greater_equal) + 1;

template <size_t pair>
constexpr BinaryElement make_operation() {
  constexpr auto operation = static_cast<Operation>(pair / type_count);
  constexpr ElementType type = type_at(pair % type_count);
  if constexpr (takes(operation, type)) {
    return run<operation, type>;
  } else {
    return nullptr;
  }
}

using Operations = std::array<BinaryElement, operation_count * type_count>;

template <size_t... pair>
constexpr Operations make_operations(std::index_sequence<pair...> /*all*/) {
  return {make_operation<pair>()...};
}

constexpr Operations operations =
    make_operations(std::make_index_sequence<std::tuple_size_v<Operations>>());

}  // namespace

BinaryElement element_operation(Operation operation, ElementType type) {
  if (operation > Operation::greater_equal || !is_element_type(type)) return nullptr;
  return operations[static_cast<size_t>(operation) * type_count + place_of(type)];
}

}  // namespace restride
