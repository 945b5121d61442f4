// Element types: one table of facts, and the few functions that read it. Converts and computes
// nothing.
#include "restride/element_type.hpp"

#include <algorithm>

#include "base/message.hpp"

namespace restride {
namespace {

enum class Kind : uint8_t { predicate, signed_integer, unsigned_integer, floating, complex };

/// What padding is made of: the bits of one element (of its real part for complex types).
struct Facts {
  std::string_view name;
  int bits;
  Kind kind;
  uint64_t one, lowest, highest;
};

constexpr uint64_t low_bits(int count) {
  return count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

constexpr Facts signed_integer(std::string_view name, int bits) {
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return {name, bits, Kind::signed_integer, 1, sign, sign - 1};
}

constexpr Facts unsigned_integer(std::string_view name, int bits) {
  return {name, bits, Kind::unsigned_integer, 1, 0, low_bits(bits)};
}

constexpr Facts floating(std::string_view name, int bits, uint64_t one, uint64_t lowest,
                         uint64_t highest) {
  return {name, bits, Kind::floating, one, lowest, highest};
}

/// In the order of ElementType, from 1. Formats with infinities end in them, the others in their
/// largest finite value.
constexpr Facts table[] = {
    {"pred", 1, Kind::predicate, 1, 0, 1},
    signed_integer("s1", 1),
    signed_integer("s2", 2),
    signed_integer("s4", 4),
    signed_integer("s8", 8),
    signed_integer("s16", 16),
    signed_integer("s32", 32),
    signed_integer("s64", 64),
    unsigned_integer("u1", 1),
    unsigned_integer("u2", 2),
    unsigned_integer("u4", 4),
    unsigned_integer("u8", 8),
    unsigned_integer("u16", 16),
    unsigned_integer("u32", 32),
    unsigned_integer("u64", 64),
    floating("f16", 16, 0x3c00, 0xfc00, 0x7c00),
    floating("bf16", 16, 0x3f80, 0xff80, 0x7f80),
    floating("f32", 32, 0x3f800000, 0xff800000, 0x7f800000),
    floating("f64", 64, 0x3ff0000000000000, 0xfff0000000000000, 0x7ff0000000000000),
    floating("f8e5m2", 8, 0x3c, 0xfc, 0x7c),
    floating("f8e4m3", 8, 0x38, 0xf8, 0x78),
    floating("f8e4m3fn", 8, 0x38, 0xfe, 0x7e),
    floating("f8e4m3b11fnuz", 8, 0x58, 0xff, 0x7f),
    floating("f8e3m4", 8, 0x30, 0xf0, 0x70),
    floating("f8e5m2fnuz", 8, 0x40, 0xff, 0x7f),
    floating("f8e4m3fnuz", 8, 0x40, 0xff, 0x7f),
    floating("f8e8m0fnu", 8, 0x7f, 0x00, 0xfe),  // 2^0, 2^-127, 2^127: neither sign nor zero
    floating("f4e2m1fn", 4, 0x2, 0xf, 0x7),
    {"c64", 64, Kind::complex, 0x3f800000, 0, 0},
    {"c128", 128, Kind::complex, 0x3ff0000000000000, 0, 0},
};
constexpr int first_type = static_cast<int>(ElementType::pred);
constexpr int type_count = static_cast<int>(std::size(table));
static_assert(first_type + type_count - 1 == static_cast<int>(ElementType::c128));

constexpr std::string_view padding_names[] = {"zero", "one", "lowest", "highest", "unknown"};

/// The row of a type; of pred for a number that is no type, which validate(Shape) reports.
const Facts& facts(ElementType type) {
  const int row = static_cast<int>(type) - first_type;
  return table[row >= 0 && row < type_count ? row : 0];
}

Error padding_error(ElementType type, PaddingValue value, std::string_view reason) {
  return {ErrorCode::invalid_argument, "padding_value = " + std::string(to_string(value)) + ": " +
                                           std::string(to_string(type)) + ' ' +
                                           std::string(reason)};
}

}  // namespace

bool is_element_type(ElementType type) {
  const int row = static_cast<int>(type) - first_type;
  return row >= 0 && row < type_count;
}

bool is_padding_value(PaddingValue value) {
  return value >= PaddingValue::zero && value <= PaddingValue::unknown;
}

std::string_view to_string(ElementType type) {
  return is_element_type(type) ? facts(type).name : "invalid";
}

std::string_view to_string(PaddingValue value) {
  return is_padding_value(value) ? padding_names[static_cast<int>(value) - 1] : "invalid";
}

int bits(ElementType type) { return facts(type).bits; }

int64_t storage_bytes(ElementType type) { return std::max(1, bits(type) / 8); }

bool is_integer(ElementType type) {
  const Kind kind = facts(type).kind;
  return kind == Kind::signed_integer || kind == Kind::unsigned_integer;
}

bool is_signed(ElementType type) {
  const Kind kind = facts(type).kind;
  return kind == Kind::signed_integer || kind == Kind::complex ||
         (kind == Kind::floating && type != ElementType::f8e8m0fnu);
}

bool is_float(ElementType type) { return facts(type).kind == Kind::floating; }

bool is_complex(ElementType type) { return facts(type).kind == Kind::complex; }

Result<ElementType> parse_element_type(std::string_view text) {
  for (int row = 0; row < type_count; ++row) {
    if (table[row].name == text) return static_cast<ElementType>(row + first_type);
  }
  if (text == "token" || text == "opaque") {
    return Error{ErrorCode::invalid_argument,
                 quoted(text) + " is not an array: it has no elements to move"};
  }
  if (text == "tuple" || text.starts_with('(')) {
    return Error{ErrorCode::invalid_argument, "a tuple is not an array: move its parts one by one"};
  }
  return Error{ErrorCode::invalid_argument, quoted(text) + " is not an element type"};
}

Result<PaddingValue> parse_padding_value(std::string_view text) {
  for (int i = 0; i < static_cast<int>(std::size(padding_names)); ++i) {
    if (padding_names[i] == text) return static_cast<PaddingValue>(i + 1);
  }
  return Error{ErrorCode::invalid_argument,
               quoted(text) + " is not a padding value: zero, one, lowest, highest, unknown"};
}

Result<std::array<std::byte, 16>> padding_bytes(ElementType type, PaddingValue value) {
  if (!is_element_type(type)) {
    return Error{
        ErrorCode::invalid_argument,
        "element_type = " + std::to_string(static_cast<int>(type)) + ": is no element type"};
  }
  const Facts& row = facts(type);
  const bool is_limit = value == PaddingValue::lowest || value == PaddingValue::highest;
  if (is_limit && row.kind == Kind::complex) return padding_error(type, value, "has no order");
  if (value == PaddingValue::zero && type == ElementType::f8e8m0fnu)
    return padding_error(type, value, "has no zero");

  uint64_t pattern = 0;
  switch (value) {
    case PaddingValue::one:
      pattern = row.one;
      break;
    case PaddingValue::lowest:
      pattern = row.lowest;
      break;
    case PaddingValue::highest:
      pattern = row.highest;
      break;
    case PaddingValue::zero:
    case PaddingValue::unknown:
      break;
    default:
      return Error{ErrorCode::invalid_argument,
                   "padding_value = " + std::to_string(static_cast<int>(value)) + ": must be 1..5"};
  }
  std::array<std::byte, 16> bytes{};
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<std::byte>(pattern >> (8 * i));
  return bytes;
}

}  // namespace restride
