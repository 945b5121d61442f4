// The scalar meaning of conversions and binary operations: the rules of the specification, one row
// each. Everything else is compared with the reference in element_reference_test.
#include "element/element_math.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace restride {
namespace {

using enum ElementType;
using Bytes = std::array<uint8_t, 16>;

Bytes bytes_of(uint64_t bits) {
  Bytes bytes{};
  std::memcpy(bytes.data(), &bits, sizeof bits);
  return bytes;
}

uint64_t bits_of(const Bytes& bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), sizeof bits);
  return bits;
}

uint64_t converted(ElementType from, ElementType to, uint64_t bits,
                   Rounding rounding = Rounding::toward_zero) {
  const Bytes in = bytes_of(bits);
  Bytes out{};
  element_converter(from, to, rounding)(in.data(), out.data());
  return bits_of(out);
}

uint64_t computed(Operation operation, ElementType type, uint64_t a, uint64_t b) {
  const Bytes x = bytes_of(a), y = bytes_of(b);
  Bytes out{};
  element_operation(operation, type)(x.data(), y.data(), out.data());
  return bits_of(out);
}

uint64_t f(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t d(double value) { return std::bit_cast<uint64_t>(value); }

TEST(Conversion, FollowsTheRules) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const struct {
    ElementType from, to;
    uint64_t value, expected;
  } rows[] = {
      {f32, s8, f(-1.9f), 0xff},
      {f32, s8, f(300), 0x7f},
      {f32, s8, f(-infinity), 0x80},
      {f32, u8, f(-3), 0},
      {f32, u64, f(infinity), ~uint64_t{0}},
      {f32, s64, f(infinity), ~uint64_t{0} >> 1},
      {f32, s32, 0x7fc00001, 0},
      {f32, s1, f(1), 0},  // the numbers of s1 are -1 and 0
      {f32, s1, f(-7), 1},
      {s32, s8, 0x1234, 0x34},
      {s8, u32, 0x80, 0xffffff80},
      {s4, s8, 0xf8, 0xf8},  // the high bits are ignored: -8
      {u4, s8, 0xf8, 0x08},
      {s8, u4, 0x7b, 0x0b},
      {f32, pred, f(-0.0f), 0},
      {f32, pred, 0x7fc00000, 1},
      {pred, f32, 7, f(1)},
      {pred, s4, 2, 1},
      {f64, bf16, d(1 + 0x1p-8 + 0x1p-40), 0x3f81},  // through f32 it would be a tie
      {s32, bf16, (1 << 24) + (1 << 16) + 1, 0x4b81},
      {s64, f32, (uint64_t{1} << 62) + (uint64_t{1} << 38) + 1, f(0x1p62f + 0x1p39f)},
      {f32, f16, f(65520), 0x7c00},
      {f32, f8e4m3fn, f(464), 0x7e},
      {f32, f8e4m3fn, f(-465), 0xff},
      {f32, f8e5m2fnuz, f(-0.0f), 0},
      {f32, f8e5m2fnuz, f(infinity), 0x80},
      {f32, f4e2m1fn, f(-infinity), 0xf},
      {f32, f4e2m1fn, 0x7fc00000, 0x8},
      {f32, f8e8m0fnu, f(1.5f), 0x80},
      {f32, f8e8m0fnu, f(0), 0xff},
      {f32, f8e8m0fnu, f(-1), 0xff},
      {f32, f8e8m0fnu, 1, 0},
      {f32, bf16, 0xff812345, 0xffc1},
      {f16, f32, 0x7c01, 0x7fc02000},
      {f32, f64, 0x7f800001, 0x7ff8000020000000},
      {f8e4m3fn, f32, 0xff, 0xffc00000},
      {u16, c64, 3, f(3)},
      {c64, pred, uint64_t{0x80000000} << 32 | 0x80000000, 0},
      {c64, pred, uint64_t{1} << 32, 1},
      {f32, f32, 0x7f800001, 0x7f800001},  // a copy
  };
  for (const auto& row : rows) {
    EXPECT_EQ(converted(row.from, row.to, row.value), row.expected)
        << to_string(row.from) << " -> " << to_string(row.to) << " of 0x" << std::hex << row.value;
  }
}

TEST(Conversion, RoundsToNearestEvenWhenAsked) {
  const struct {
    float value;
    uint64_t expected;
  } rows[] = {{2.5f, 2}, {3.5f, 4}, {-2.5f, 0xfe}, {126.5f, 126}, {127.5f, 127}, {-128.6f, 0x80}};
  for (const auto& row : rows) {
    EXPECT_EQ(converted(f32, s8, f(row.value), Rounding::nearest_even), row.expected) << row.value;
  }
  EXPECT_EQ(converted(f64, s8, 0x7ff0000000000001, Rounding::nearest_even), 0);
}

TEST(Conversion, OfComplexToRealIsRefused) {
  EXPECT_EQ(element_converter(c64, f32), nullptr);
  EXPECT_EQ(element_converter(c128, s8), nullptr);
  EXPECT_NE(element_converter(c128, c64), nullptr);
  EXPECT_EQ(element_converter(static_cast<ElementType>(0), f32), nullptr);
  EXPECT_EQ(element_converter(f32, static_cast<ElementType>(99)), nullptr);
}

TEST(BinaryOperation, FollowsTheRules) {
  using enum Operation;
  const uint64_t nan = 0x7fc00000, low = 0x80000000;
  const struct {
    Operation operation;
    ElementType type;
    uint64_t a, b, expected;
  } rows[] = {
      {add, u8, 0xff, 2, 1},
      {divide, s32, 7, 0, 0xffffffff},
      {divide, u16, 7, 0, 0xffff},
      {divide, s32, low, 0xffffffff, low},
      {divide, s64, uint64_t{1} << 63, ~uint64_t{0}, uint64_t{1} << 63},
      {divide, s4, 8, 15, 8},
      {remainder, s32, 7, 0, 7},
      {remainder, s32, low, 0xffffffff, 0},
      {remainder, s8, 0xf9, 3, 0xff},  // -7 by 3: -1
      {power, s32, 3, 5, 243},
      {power, s8, 2, 7, 0x80},
      {power, s32, 2, 0xffffffff, 0},
      {power, s32, 0xffffffff, 0xfffffffd, 0xffffffff},
      {power, s32, 0, 0, 1},
      {power, s32, 0, 0xffffffff, 0},
      {power, u8, 3, 255, 171},
      {maximum, f32, f(-0.0f), f(0), f(0)},
      {minimum, f32, f(0), f(-0.0f), f(-0.0f)},
      {maximum, f32, 0xff812345, f(3), nan},
      {minimum, f32, f(3), 0x7f800001, nan},
      {add, f32, 0xffc12345, f(1), nan},
      {divide, f32, f(0), f(0), nan},
      {remainder, f32, f(-7), f(3), f(-1)},
      {power, f32, f(2), f(0.5f), f(1.41421356f)},
      {add, f16, 0x7bff, 0x4c00, 0x7c00},       // 65504 + 16 is a tie that goes to infinity
      {add, f8e4m3fn, 0x7e, 0x7e, 0x7f},        // 448 + 448: no infinity
      {subtract, f8e8m0fnu, 0x7f, 0x7f, 0xff},  // no zero
      {divide, f4e2m1fn, 2, 0, 7},
      {divide, f4e2m1fn, 0, 0, 8},
      {equal, f32, nan, nan, 0},
      {not_equal, f32, nan, nan, 1},
      {less, f32, f(-0.0f), f(0), 0},
      {less, s8, 0x80, 0x7f, 1},
      {less, u8, 0x80, 0x7f, 0},
      {less, pred, 0, 1, 1},
      {add, pred, 1, 1, 1},
      {bit_and, pred, 2, 1, 1},
      {bit_xor, u1, 3, 1, 0},
      {less_equal, s2, 0xfe, 1, 1},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(computed(row.operation, row.type, row.a, row.b), row.expected)
        << to_string(row.operation) << ' ' << to_string(row.type) << std::hex << " 0x" << row.a
        << ", 0x" << row.b;
  }
}

TEST(BinaryOperation, IsRefusedWhereTheTypeHasNone) {
  EXPECT_EQ(element_operation(Operation::subtract, pred), nullptr);
  EXPECT_EQ(element_operation(Operation::bit_or, f32), nullptr);
  EXPECT_EQ(element_operation(Operation::less, c64), nullptr);
  EXPECT_EQ(element_operation(Operation::remainder, c64), nullptr);
  EXPECT_EQ(element_operation(Operation::copy, f32), nullptr);
  EXPECT_EQ(element_operation(static_cast<Operation>(77), f32), nullptr);
  EXPECT_EQ(element_operation(Operation::add, static_cast<ElementType>(0)), nullptr);
}

}  // namespace
}  // namespace restride
