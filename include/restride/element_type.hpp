// Element types, their text names, sizes and padding values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "restride/result.hpp"

namespace restride {

/// The element types of an array. The numbers are part of the C API and never change.
// clang-format off
enum class ElementType : uint8_t {
  pred = 1,
  s1, s2, s4, s8, s16, s32, s64,
  u1, u2, u4, u8, u16, u32, u64,
  f16, bf16, f32, f64,
  f8e5m2, f8e4m3, f8e4m3fn, f8e4m3b11fnuz, f8e3m4, f8e5m2fnuz, f8e4m3fnuz, f8e8m0fnu,
  f4e2m1fn,
  c64, c128,
};
// clang-format on

/// What stands in padding and in the fill of incomplete tiles. Numbered as XLA's PaddingType.
enum class PaddingValue : uint8_t { zero = 1, one = 2, lowest = 3, highest = 4, unknown = 5 };

/// Whether a number from outside is one of the enumerators.
bool is_element_type(ElementType type);
bool is_padding_value(PaddingValue value);

/// The text name: `f32`; `invalid` for what is no enumerator.
std::string_view to_string(ElementType type);
std::string_view to_string(PaddingValue value);

/// Bits of one element's value: 1 for pred and s1, 4 for f4e2m1fn, 128 for c128.
int bits(ElementType type);

/// Bytes of one element stored unpacked: types under 8 bits take one byte.
int64_t storage_bytes(ElementType type);

bool is_integer(ElementType type);  // pred is not
bool is_signed(ElementType type);
bool is_float(ElementType type);  // complex is not
bool is_complex(ElementType type);

/// `f32` -> ElementType::f32. Names `token`, `opaque` and tuples in its error as what they are: no
/// arrays.
Result<ElementType> parse_element_type(std::string_view text);
Result<PaddingValue> parse_padding_value(std::string_view text);

/// The bytes of one element of padding, in memory order; the first storage_bytes(type) are
/// meaningful. Values of types under 8 bits stand in the low bits of a byte whose high bits are
/// zero. `unknown` gives zeros. Errors: lowest and highest of a complex type, zero of f8e8m0fnu.
Result<std::array<std::byte, 16>> padding_bytes(ElementType type, PaddingValue value);

}  // namespace restride
