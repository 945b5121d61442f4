// Integer arithmetic that says when it overflows.
#pragma once

#include <cstdint>

namespace restride {

enum class [[nodiscard]] Checked : uint8_t{fits, overflows};

/// value *= factor, unless that overflows.
inline Checked multiply(int64_t& value, int64_t factor) {
  return __builtin_mul_overflow(value, factor, &value) ? Checked::overflows : Checked::fits;
}

/// value += term, unless that overflows.
inline Checked add(int64_t& value, int64_t term) {
  return __builtin_add_overflow(value, term, &value) ? Checked::overflows : Checked::fits;
}

}  // namespace restride
