// Integer arithmetic that several rooms need.
#pragma once

#include <bit>
#include <cstdint>

namespace restride {

/// Precondition: a >= 0, b > 0.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// What a is more than a multiple of b, 0 and more. Precondition: b > 0.
constexpr int64_t remainder_above(int64_t a, int64_t b) { return (a % b + b) % b; }

/// Largest divisor of n that is not more than most. Precondition: n > 0, most > 0.
constexpr int64_t largest_divisor(int64_t n, int64_t most) {
  int64_t divisor = most < n ? most : n;
  while (n % divisor != 0) --divisor;
  return divisor;
}

/// Largest power of two that divides n; n != 0.
constexpr int64_t power_of_two_divisor(int64_t n) { return n & -n; }

/// Precondition: 0 < n <= 2^62.
constexpr int64_t round_up_to_power_of_two(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n)));
}

}  // namespace restride
