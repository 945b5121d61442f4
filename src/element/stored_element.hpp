// Elements as numbers: loads and stores by type, at compile time. What element_math is made of.
#pragma once

#include <array>
#include <cstring>
#include <type_traits>

#include "element/float_format.hpp"

namespace restride::stored {

/// The element types by number from 0, for tables.
constexpr size_t type_count = static_cast<size_t>(ElementType::c128);
constexpr ElementType type_at(size_t place) { return static_cast<ElementType>(place + 1); }
constexpr size_t place_of(ElementType type) { return static_cast<size_t>(type) - 1; }

constexpr bool is_signed_integer(ElementType type) {
  return type >= ElementType::s1 && type <= ElementType::s64;
}
constexpr bool is_unsigned_integer(ElementType type) {
  return type >= ElementType::u1 && type <= ElementType::u64;
}
constexpr bool is_any_integer(ElementType type) {
  return type >= ElementType::s1 && type <= ElementType::u64;
}
constexpr bool is_real_float(ElementType type) {
  return type >= ElementType::f16 && type <= ElementType::f4e2m1fn;
}
constexpr bool is_narrow_float(ElementType type) {
  return is_real_float(type) && type != ElementType::f32 && type != ElementType::f64;
}
constexpr bool is_any_complex(ElementType type) { return type >= ElementType::c64; }

/// Bits of an integer type: s1, s2, ... and u1, u2, ... double from one to the next.
constexpr int integer_bits(ElementType type) {
  const auto first = is_signed_integer(type) ? ElementType::s1 : ElementType::u1;
  return 1 << (static_cast<int>(type) - static_cast<int>(first));
}

/// storage_bytes, for constants.
constexpr size_t stored_bytes(ElementType type) {
  if (type == ElementType::pred) return 1;
  if (is_any_integer(type)) return (static_cast<size_t>(integer_bits(type)) + 7) / 8;
  if (is_narrow_float(type)) return static_cast<size_t>(float_format(type).storage_bytes());
  if (type == ElementType::f32) return 4;
  return type == ElementType::c128 ? 16 : 8;
}

template <class Real>
struct Complex {
  Real re, im;
};

/// What an element is computed as: bool, 64-bit integers, float (narrower ones too), double,
/// Complex.
template <ElementType type>
struct ValueOf {
  using Real =
      std::conditional_t<type == ElementType::f64 || type == ElementType::c128, double, float>;
  using Integer = std::conditional_t<is_signed_integer(type), int64_t, uint64_t>;
  using Number = std::conditional_t<is_any_integer(type), Integer, Real>;
  using Scalar = std::conditional_t<is_any_complex(type), Complex<Real>, Number>;
  using Value = std::conditional_t<type == ElementType::pred, bool, Scalar>;
};
template <ElementType type>
using Value = typename ValueOf<type>::Value;

template <class T>
T read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// The unsigned integer of an element's bytes.
template <size_t bytes>
uint64_t read_bits(const void* from) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) {
    value |= uint64_t{static_cast<const uint8_t*>(from)[i]} << (8 * i);
  }
  return value;
}

template <size_t bytes>
void write_bits(uint64_t value, void* to) {
  for (size_t i = 0; i < bytes; ++i) {
    static_cast<uint8_t*>(to)[i] = static_cast<uint8_t>(value >> (8 * i));
  }
}

template <ElementType type>
Value<type> load(const void* from) {
  if constexpr (type == ElementType::pred) {
    return read<uint8_t>(from) != 0;
  } else if constexpr (is_any_integer(type)) {
    constexpr int unused = 64 - integer_bits(type);
    const uint64_t shifted = read_bits<stored_bytes(type)>(from) << unused;
    return static_cast<Value<type>>(shifted) >> unused;  // of the sign where there is one
  } else if constexpr (is_narrow_float(type)) {
    constexpr FloatFormat format = float_format(type);
    return static_cast<float>(
        decode(format, static_cast<uint32_t>(read_bits<stored_bytes(type)>(from))));
  } else {
    return read<Value<type>>(from);
  }
}

template <ElementType type>
void store(Value<type> value, void* to) {
  if constexpr (is_any_integer(type)) {
    constexpr int bits = integer_bits(type);
    write_bits<stored_bytes(type)>(static_cast<uint64_t>(value) & (~uint64_t{0} >> (64 - bits)),
                                   to);
  } else if constexpr (is_narrow_float(type)) {
    constexpr FloatFormat format = float_format(type);
    write_bits<stored_bytes(type)>(encode(format, value), to);
  } else {
    std::memcpy(to, &value, sizeof value);  // a bool is a byte of 0 or 1
  }
}

}  // namespace restride::stored
