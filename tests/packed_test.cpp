// Packed elements, byte by byte: what is written, what is left alone, and where images in scratch
// lie. Expected bytes are worked out by hand from the specification.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend/interpreter.hpp"
#include "microkernel/packed/packed_image.hpp"
#include "restride/plan.hpp"

namespace restride {
namespace {

using Bytes = std::vector<uint8_t>;

struct Row {
  const char* problem;
  Bytes source, before, after;
};

Bytes carried_out(const Problem& problem, const Bytes& source, Bytes target) {
  KernelCache cache;
  const Result<Plan> plan = Plan::create(problem, {BackendChoice::interpreter, "host", &cache});
  if (!plan) return {};
  plan->execute(source.data(), target.data());
  return target;
}

TEST(PackedElements, AreWrittenWithoutTheirNeighbours) {
  const Row rows[] = {
      // abcdef, in rows of 3 and of 2.
      {"u4[2,3]{1,0:E(4)} -> u4[2,3]{0,1:E(4)}", {0xba, 0xdc, 0xfe}, {0, 0, 0}, {0xda, 0xeb, 0xfc}},
      // The bits behind the last element stay.
      {"u4[3]{0:E(4)} -> u4[3]{0:E(4)}", {0x21, 0xf3}, {0xff, 0x90}, {0x21, 0x93}},
      {"u2[3] -> u2[3]{0:E(2)}", {1, 2, 3}, {0xc0}, {0xf9}},
      // Unpacking clears the high bits, packing ignores them.
      {"s4[2]{0:E(4)} -> s4[2]", {0xf8}, {0xff, 0xff}, {0x08, 0x0f}},
      {"s4[2] -> s4[2]{0:E(4)}", {0x58, 0x7f}, {0}, {0xf8}},
      // A padding that is left alone, within a byte and beyond it.
      {"u4[2,1]{1,0:E(4)} -> u4[2,1]{1,0:E(4)PAD(2,3;unknown)}",
       {0x21},
       {0xba, 0xdc, 0xfe},
       {0xb1, 0x2c, 0xfe}},
      {"u4[2,1]{1,0:E(4)} -> u4[2,1]{1,0:E(4)PAD(2,3;one)}",
       {0x21},
       {0xba, 0xdc, 0xfe},
       {0x11, 0x21, 0x11}},
      // An aligned tail begins within a byte.
      {"u4[3]{0:E(4)} -> u4[3]{0:L(8)E(4)PAD(;highest)}",
       {0x21, 0x03},
       {0, 0, 0, 0},
       {0x21, 0xf3, 0xff, 0xff}},
      {"pred[3]{0:E(1)} -> pred[3]", {0x05}, {9, 9, 9}, {1, 0, 1}},
      {"u1[] -> u1[5]{0:E(1)}", {1}, {0x40}, {0x5f}},
      {"convert(s4[3]{0:E(4)}) -> s8[3]", {0x7f, 0x08}, {0, 0, 0}, {0xff, 0x07, 0xf8}},
      {"convert(s8[3]) -> s4[3]{0:E(4)}", {0xff, 0x17, 0xf8}, {0, 0x50}, {0x7f, 0x58}},
  };
  for (const Row& row : rows) {
    const Result<Problem> problem = parse_problem(row.problem);
    ASSERT_TRUE(problem) << row.problem << ": " << problem.error().message;
    EXPECT_EQ(carried_out(*problem, row.source, row.before), row.after) << row.problem;
  }
}

TEST(PackedElements, MayLieTheOtherWayRound) {
  Result<Problem> problem = parse_problem("u4[3]{0:E(4)} -> u4[3]{0:E(4)}");
  ASSERT_TRUE(problem);
  problem->target.layout.packing_order = PackingOrder::most_significant_first;
  EXPECT_EQ(carried_out(*problem, {0x21, 0xf3}, {0, 0x05}), (Bytes{0x12, 0x35}));
  problem->sources[0].shape.layout.packing_order = PackingOrder::most_significant_first;
  EXPECT_EQ(carried_out(*problem, {0x21, 0xf3}, {0, 0x05}), (Bytes{0x21, 0xf5}));
}

TEST(BytePeriod, CountsIterationsToAWholeByte) {
  EXPECT_EQ(byte_period(8), 1);
  EXPECT_EQ(byte_period(4), 2);
  EXPECT_EQ(byte_period(20), 2);
  EXPECT_EQ(byte_period(2), 4);
  EXPECT_EQ(byte_period(3), 8);
  EXPECT_EQ(byte_period(0), 1);
}

/// Rows of `count` elements of 4 bits, `distance` elements apart.
PackedImage image_of(int64_t rows, int64_t distance, int64_t count) {
  return PackedImage({{rows, {4 * distance}}, {count, {4}}}, 0, {4});
}

TEST(PackedImage, JoinsWhatLiesSideBySide) {
  const PackedImage joined = image_of(5, 7, 7);
  EXPECT_TRUE(joined.is_dense());
  ASSERT_EQ(joined.rows(0).size(), 1u);
  EXPECT_EQ(joined.rows(0)[0].bytes, 18);
  EXPECT_FALSE(joined.rows(0)[0].shares_first);
  EXPECT_TRUE(joined.rows(0)[0].shares_last);
  EXPECT_EQ(joined.stride(0), 7);
}

TEST(PackedImage, HasARowForEveryPlaceInAByte) {
  const PackedImage apart = image_of(5, 1001, 16);
  const std::vector<PackedRow> rows = apart.rows(8);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].memory_at, 1);
  EXPECT_EQ(rows[0].image_at, PackedImage::first_element);
  EXPECT_EQ(rows[0].bytes, 8);
  EXPECT_EQ(rows[0].sides[0].extent, 3);
  EXPECT_EQ(rows[0].sides[0].stride[1], 1001);
  EXPECT_EQ(rows[1].memory_at, 1 + 500);
  EXPECT_EQ(rows[1].image_at, apart.stride(0) + PackedImage::first_element - 1);
  EXPECT_EQ(rows[1].bytes, 9);
  EXPECT_TRUE(rows[1].shares_first && rows[1].shares_last);
  EXPECT_EQ(rows[1].sides[0].extent, 2);
}

TEST(PackedImage, TakesRowsTogetherThatShareAByte) {
  const PackedImage near = PackedImage({{100, {3 * 2}}, {2, {2}}}, 0, {2});
  EXPECT_FALSE(near.is_dense());
  EXPECT_EQ(near.rows(0).size(), 1u);
  EXPECT_EQ(near.stride(0), 3);
}

}  // namespace
}  // namespace restride
