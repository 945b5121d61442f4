// Element types against the list of the specification and the encodings of the formats.
#include "restride/element_type.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace restride {
namespace {

struct Row {
  const char* name;
  ElementType type;
  int bits;
  int64_t bytes;
  const char* kind;  // p: predicate, s/u: integers, f: float, c: complex
};

// The list of the specification with its bits; the numbers are those of the C API.
constexpr Row rows[] = {
    {"pred", ElementType::pred, 1, 1, "p"},
    {"s1", ElementType::s1, 1, 1, "s"},
    {"s2", ElementType::s2, 2, 1, "s"},
    {"s4", ElementType::s4, 4, 1, "s"},
    {"s8", ElementType::s8, 8, 1, "s"},
    {"s16", ElementType::s16, 16, 2, "s"},
    {"s32", ElementType::s32, 32, 4, "s"},
    {"s64", ElementType::s64, 64, 8, "s"},
    {"u1", ElementType::u1, 1, 1, "u"},
    {"u2", ElementType::u2, 2, 1, "u"},
    {"u4", ElementType::u4, 4, 1, "u"},
    {"u8", ElementType::u8, 8, 1, "u"},
    {"u16", ElementType::u16, 16, 2, "u"},
    {"u32", ElementType::u32, 32, 4, "u"},
    {"u64", ElementType::u64, 64, 8, "u"},
    {"f16", ElementType::f16, 16, 2, "f"},
    {"bf16", ElementType::bf16, 16, 2, "f"},
    {"f32", ElementType::f32, 32, 4, "f"},
    {"f64", ElementType::f64, 64, 8, "f"},
    {"f8e5m2", ElementType::f8e5m2, 8, 1, "f"},
    {"f8e4m3", ElementType::f8e4m3, 8, 1, "f"},
    {"f8e4m3fn", ElementType::f8e4m3fn, 8, 1, "f"},
    {"f8e4m3b11fnuz", ElementType::f8e4m3b11fnuz, 8, 1, "f"},
    {"f8e3m4", ElementType::f8e3m4, 8, 1, "f"},
    {"f8e5m2fnuz", ElementType::f8e5m2fnuz, 8, 1, "f"},
    {"f8e4m3fnuz", ElementType::f8e4m3fnuz, 8, 1, "f"},
    {"f8e8m0fnu", ElementType::f8e8m0fnu, 8, 1, "f"},
    {"f4e2m1fn", ElementType::f4e2m1fn, 4, 1, "f"},
    {"c64", ElementType::c64, 64, 8, "c"},
    {"c128", ElementType::c128, 128, 16, "c"},
};

TEST(ElementType, NamesBitsAndBytesAreThoseOfTheSpecification) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto parsed = parse_element_type(row.name);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, row.type);
    EXPECT_EQ(to_string(row.type), row.name);
    EXPECT_EQ(bits(row.type), row.bits);
    EXPECT_EQ(storage_bytes(row.type), row.bytes);
    EXPECT_EQ(is_integer(row.type), row.kind[0] == 's' || row.kind[0] == 'u');
    EXPECT_EQ(is_float(row.type), row.kind[0] == 'f');
    EXPECT_EQ(is_complex(row.type), row.kind[0] == 'c');
  }
}

TEST(ElementType, SignednessFollowsTheFormat) {
  for (const Row& row : rows) {
    const bool is_unsigned =
        row.kind[0] == 'u' || row.kind[0] == 'p' || row.type == ElementType::f8e8m0fnu;
    EXPECT_EQ(is_signed(row.type), !is_unsigned) << row.name;
  }
}

TEST(ElementType, NumbersAreThoseOfTheInterface) {
  EXPECT_EQ(static_cast<int>(ElementType::pred), 1);
  EXPECT_EQ(static_cast<int>(ElementType::c128), 30);
  EXPECT_EQ(static_cast<int>(PaddingValue::zero), 1);
  EXPECT_EQ(static_cast<int>(PaddingValue::one), 2);
  EXPECT_EQ(static_cast<int>(PaddingValue::lowest), 3);
  EXPECT_EQ(static_cast<int>(PaddingValue::highest), 4);
  EXPECT_EQ(static_cast<int>(PaddingValue::unknown), 5);
}

TEST(ElementType, WhatIsNoEnumeratorIsRecognised) {
  for (const int number : {0, 31, 255}) {
    const auto type = static_cast<ElementType>(number);
    EXPECT_FALSE(is_element_type(type));
    EXPECT_EQ(to_string(type), "invalid");
    EXPECT_FALSE(padding_bytes(type, PaddingValue::zero));
  }
  for (const int number : {0, 6, 255}) {
    const auto value = static_cast<PaddingValue>(number);
    EXPECT_FALSE(is_padding_value(value));
    EXPECT_EQ(to_string(value), "invalid");
    EXPECT_FALSE(padding_bytes(ElementType::f32, value));
  }
}

TEST(ElementType, WhatIsNoNameIsRefused) {
  const struct {
    std::string text, message;
  } cases[] = {
      {"token", "'token' is not an array: it has no elements to move"},
      {"opaque", "'opaque' is not an array: it has no elements to move"},
      {"tuple", "a tuple is not an array: move its parts one by one"},
      {"(f32[2], s8[])", "a tuple is not an array: move its parts one by one"},
      {"F32", "'F32' is not an element type"},
      {"f33", "'f33' is not an element type"},
      {"", "'' is not an element type"},
      {"f32 ", "'f32 ' is not an element type"},
      {std::string("f\0x", 3), "'f\\x00x' is not an element type"},
      {std::string(100, 'q'), "'" + std::string(32, 'q') + "...' is not an element type"},
  };
  for (const auto& row : cases) {
    const auto parsed = parse_element_type(row.text);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().message, row.message);
  }
}

TEST(PaddingValue, NamesAreThoseOfTheSpecification) {
  const char* const names[] = {"zero", "one", "lowest", "highest", "unknown"};
  for (int i = 0; i < 5; ++i) {
    const auto parsed = parse_padding_value(names[i]);
    ASSERT_TRUE(parsed) << names[i];
    EXPECT_EQ(*parsed, static_cast<PaddingValue>(i + 1));
    EXPECT_EQ(to_string(*parsed), names[i]);
  }
  EXPECT_EQ(parse_padding_value("null").error().message,
            "'null' is not a padding value: zero, one, lowest, highest, unknown");
}

uint64_t pattern(ElementType type, PaddingValue value) {
  const auto bytes = padding_bytes(type, value);
  if (!bytes) return 0xdead;
  uint64_t out = 0;
  std::memcpy(&out, bytes->data(), 8);
  return out;
}

struct PaddingRow {
  ElementType type;
  uint64_t one, lowest, highest;
};

// Worked out from the definition of each format: sign, exponent and fraction bits, bias,
// infinities.
constexpr PaddingRow padding_rows[] = {
    {ElementType::pred, 1, 0, 1},
    {ElementType::s1, 1, 1, 0},  // -1 and 0 are all it holds; one is its only other pattern
    {ElementType::s2, 1, 2, 1},
    {ElementType::s4, 1, 8, 7},
    {ElementType::s8, 1, 0x80, 0x7f},
    {ElementType::s16, 1, 0x8000, 0x7fff},
    {ElementType::s32, 1, 0x80000000, 0x7fffffff},
    {ElementType::s64, 1, 0x8000000000000000, 0x7fffffffffffffff},
    {ElementType::u1, 1, 0, 1},
    {ElementType::u2, 1, 0, 3},
    {ElementType::u4, 1, 0, 15},
    {ElementType::u8, 1, 0, 0xff},
    {ElementType::u16, 1, 0, 0xffff},
    {ElementType::u32, 1, 0, 0xffffffff},
    {ElementType::u64, 1, 0, 0xffffffffffffffff},
    {ElementType::f16, 15 << 10, 0xfc00, 0x7c00},   // infinities
    {ElementType::bf16, 127 << 7, 0xff80, 0x7f80},  // infinities
    {ElementType::f8e5m2, 15 << 2, 0xfc, 0x7c},     // infinities
    {ElementType::f8e4m3, 7 << 3, 0xf8, 0x78},      // infinities
    {ElementType::f8e3m4, 3 << 4, 0xf0, 0x70},      // infinities
    {ElementType::f8e4m3fn, 7 << 3, 0xfe, 0x7e},    // 448; 0x7f is NaN
    {ElementType::f8e4m3b11fnuz, 11 << 3, 0xff, 0x7f},
    {ElementType::f8e5m2fnuz, 16 << 2, 0xff, 0x7f},
    {ElementType::f8e4m3fnuz, 8 << 3, 0xff, 0x7f},
    {ElementType::f8e8m0fnu, 127, 0, 254},      // 2^-127 to 2^127
    {ElementType::f4e2m1fn, 1 << 1, 0xf, 0x7},  // 6
};

TEST(PaddingBytes, AreTheEncodingsOfTheFormats) {
  for (const PaddingRow& row : padding_rows) {
    SCOPED_TRACE(to_string(row.type));
    EXPECT_EQ(pattern(row.type, PaddingValue::one), row.one);
    EXPECT_EQ(pattern(row.type, PaddingValue::lowest), row.lowest);
    EXPECT_EQ(pattern(row.type, PaddingValue::highest), row.highest);
  }
}

template <class T>
T value_of(ElementType type, PaddingValue value, size_t at = 0) {
  T out;
  std::memcpy(&out, padding_bytes(type, value)->data() + at, sizeof out);
  return out;
}

TEST(PaddingBytes, OfFloatsAreOneAndTheInfinities) {
  constexpr float infinity32 = std::numeric_limits<float>::infinity();
  constexpr double infinity64 = std::numeric_limits<double>::infinity();
  EXPECT_EQ(value_of<float>(ElementType::f32, PaddingValue::one), 1.0f);
  EXPECT_EQ(value_of<float>(ElementType::f32, PaddingValue::lowest), -infinity32);
  EXPECT_EQ(value_of<float>(ElementType::f32, PaddingValue::highest), infinity32);
  EXPECT_EQ(value_of<double>(ElementType::f64, PaddingValue::one), 1.0);
  EXPECT_EQ(value_of<double>(ElementType::f64, PaddingValue::lowest), -infinity64);
  EXPECT_EQ(value_of<double>(ElementType::f64, PaddingValue::highest), infinity64);
}

TEST(PaddingBytes, OfComplexOneIsReal) {
  EXPECT_EQ(value_of<float>(ElementType::c64, PaddingValue::one), 1.0f);
  EXPECT_EQ(value_of<float>(ElementType::c64, PaddingValue::one, 4), 0.0f);
  EXPECT_EQ(value_of<double>(ElementType::c128, PaddingValue::one), 1.0);
  EXPECT_EQ(value_of<double>(ElementType::c128, PaddingValue::one, 8), 0.0);
}

TEST(PaddingBytes, OfZeroAndUnknownAreZeros) {
  for (const Row& row : rows) {
    EXPECT_EQ(pattern(row.type, PaddingValue::unknown), 0u) << row.name;
    if (row.type == ElementType::f8e8m0fnu) continue;
    EXPECT_EQ(pattern(row.type, PaddingValue::zero), 0u) << row.name;
  }
}

TEST(PaddingBytes, OfWhatDoesNotExistAreErrors) {
  const struct {
    ElementType type;
    PaddingValue value;
    const char* message;
  } cases[] = {
      {ElementType::c64, PaddingValue::lowest, "padding_value = lowest: c64 has no order"},
      {ElementType::c64, PaddingValue::highest, "padding_value = highest: c64 has no order"},
      {ElementType::c128, PaddingValue::lowest, "padding_value = lowest: c128 has no order"},
      {ElementType::c128, PaddingValue::highest, "padding_value = highest: c128 has no order"},
      {ElementType::f8e8m0fnu, PaddingValue::zero, "padding_value = zero: f8e8m0fnu has no zero"},
  };
  for (const auto& row : cases) {
    const auto bytes = padding_bytes(row.type, row.value);
    ASSERT_FALSE(bytes) << row.message;
    EXPECT_EQ(bytes.error().message, row.message);
  }
}

}  // namespace
}  // namespace restride
