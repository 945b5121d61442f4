// The ways of conversions:
//
//     pred ─► u8          s8 u8 s16 u16 ─► s32 ─► f32 ─► f16, bf16, f8, f4
//     s1 s2 s4 ─► s8                        └───► f64
//     f4e2m1fn ─► f16
//     u1 u2 u4 ─► u8      s16 u16 s32 u32 s64 u64 ─► u8 ─► s1 s2 s4 u1 u2 u4
//     f16, bf16, f8 ─► f32 ─► any                 any ─► pred
//     f64 ─► f32, to odd ─► f16, bf16, f8, f4
//     any ─► f32 ─► c64                           any ─► f64 ─► c128
//
// Everything else is one step. A way is taken only where all of its steps but the last are exact,
// or where rounding twice cannot be told from rounding once: what is rounded to odd keeps on which
// side of a tie it was, and an integer that f32 must round is beyond f16 and what has its range
// anyway.
#include "xbyak/coverage.hpp"

#include <algorithm>

#include "element/float_format.hpp"

namespace restride::xbyak {

using namespace program;
using enum ElementType;

namespace {

/// Floats that f32 holds.
bool is_narrow_float(ElementType type) { return is_float(type) && storage_bytes(type) < 4; }

/// Integers of at least a byte.
bool is_byte_integer(ElementType type) {
  return (type >= s8 && type <= s64) || (type >= u8 && type <= u64);
}

/// Conversions between f64 or f32 and 64-bit integers that AVX2 lacks.
bool needs_avx512(ElementType from, ElementType to) {
  const bool from_wide = from == s64 || from == u64, to_wide = to == s64 || to == u64;
  return (from_wide && is_float(to) && to != f64) || (to_wide && is_float(from));
}

/// To the range of f32 with fewer bits.
bool rounds_twice(ElementType from, ElementType to) {
  return (to == bf16 || to == f8e8m0fnu) && is_byte_integer(from) && storage_bytes(from) >= 4;
}

bool translates_conversion(ElementType from, ElementType to, InstructionSet set) {
  if (from == to || (is_complex(from) && (is_complex(to) || to == pred))) return true;
  if (is_complex(from) || rounds_twice(from, to)) return false;
  if (is_complex(to)) return translates_conversion(from, part_type(to), set);
  return set >= InstructionSet::avx512 || !needs_avx512(from, to);
}

bool translates_arithmetic(Operation operation, ElementType type) {
  if (is_complex(type)) {
    return operation == Operation::add || operation == Operation::subtract ||
           operation == Operation::multiply || is_comparison(operation);
  }
  switch (operation) {
    case Operation::divide:
      return type == f32 || type == f64 || (is_byte_integer(type) && storage_bytes(type) < 8);
    case Operation::copy:
    case Operation::convert:
    case Operation::remainder:
    case Operation::power:
      return false;
    default:
      return type == pred || is_byte_integer(type) || type == f32 || type == f64;
  }
}

}  // namespace

bool is_small_integer(ElementType type) { return is_integer(type) && bits(type) < 8; }

ElementType next_type(ElementType from, ElementType to) {
  if (from == to || is_complex(from)) return to;
  if (is_complex(to)) return from == part_type(to) ? to : next_type(from, part_type(to));
  if (from == f4e2m1fn) return f16;
  if (is_byte_float(from)) return f32;
  if (is_small_integer(from)) return is_signed(from) ? s8 : u8;
  if (to == pred) return to;
  if (from == pred) return u8;
  if (is_small_integer(to) && is_integer(from) && storage_bytes(from) > 1) return u8;
  if (is_narrow_float(from)) return f32;
  if (is_byte_integer(from) && storage_bytes(from) < 4 && is_float(to)) return s32;
  return is_narrow_float(to) && from != f32 ? f32 : to;
}

int widest_bytes(ElementType from, ElementType to) {
  int64_t bytes = storage_bytes(from);
  while (from != to) {
    from = next_type(from, to);
    bytes = std::max(bytes, storage_bytes(from));
  }
  return static_cast<int>(bytes);
}

bool translates(const Op& op, InstructionSet set) {
  if (!is_computation(op.code)) return true;
  if (set == InstructionSet::sse2) return false;
  if (op.code == Code::round || op.code >= Code::spread) return true;
  if (op.code == Code::compute) return translates_arithmetic(op.operation(), op.type);
  return translates_conversion(op.from, op.type, set);
}

}  // namespace restride::xbyak
