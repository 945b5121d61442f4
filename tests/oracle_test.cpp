// The oracle against the worked examples of the specification: who checks the checker.
#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "support/cases.hpp"
#include "support/guarded_buffer.hpp"
#include "support/linear_index.hpp"

namespace restride::testing {
namespace {

using Sizes = std::vector<int64_t>;
constexpr int64_t combine = Layout::combine;

Shape tiled(ElementType type, Sizes sizes, Sizes minor_to_major, std::vector<Sizes> tiles) {
  Shape shape{type, std::move(sizes), {}};
  shape.layout.minor_to_major = std::move(minor_to_major);
  shape.layout.tiles = std::move(tiles);
  return shape;
}

TEST(LinearIndex, GivesTheNumbersOfTheSpecification) {
  struct Row {
    Shape shape;
    Sizes index;
    int64_t linear, elements;
  };
  using enum ElementType;
  const Row rows[] = {
      {tiled(f32, {3, 5}, {1, 0}, {{2, 2}}), {2, 3}, 17, 24},
      {tiled(f32, {3, 5}, {0, 1}, {{2, 2}}), {2, 3}, 14, 24},
      {tiled(f32, {8, 8}, {1, 0}, {{2, 4}, {2, 1, 1, 1}}), {6, 5}, 51, 64},
      {tiled(f32, {2, 7, 8, 11, 10}, {4, 3, 2, 1, 0}, {{combine, combine, 2, combine, 3}}),
       {1, 6, 7, 10, 9},
       12430,
       12432},
      {tiled(bf16, {3, 5}, {1, 0}, {{8, 128}, {2, 1}}), {2, 3}, 262, 1024},
      {tiled(s8, {5, 6}, {1, 0}, {{8, 128}, {4, 1}}), {4, 5}, 532, 1024},
      {tiled(f32, {4, 3, 5}, {2, 1, 0}, {{2, 4}}), {3, 2, 4}, 120, 128},
  };
  for (const Row& row : rows) {
    const LinearIndex linear(row.shape);
    EXPECT_EQ(linear(row.index), row.linear);
    EXPECT_EQ(linear.elements(), row.elements);
  }
}

TEST(LinearIndex, GivesTheRowsOfTheTwoLevelTile) {
  const LinearIndex linear(tiled(ElementType::f32, {4, 8}, {1, 0}, {{2, 4}, {2, 1}}));
  const int64_t first[] = {0, 1, 16, 17};
  for (int64_t y = 0; y < 4; ++y) {
    for (int64_t x = 0; x < 8; ++x) EXPECT_EQ(linear(Sizes{y, x}), first[y] + 2 * x);
  }
}

TEST(LinearIndex, TellsElementsFromFillAndHoles) {
  using Place = LinearIndex::Place;
  // T(4)(3) holds 0 1 2 | 3 . . of every four: the two positions behind are reached by no index.
  const LinearIndex linear(tiled(ElementType::u8, {6}, {0}, {{4}, {3}}));
  const Place expected[] = {Place::logical, Place::logical, Place::logical, Place::logical,
                            Place::hole,    Place::hole,    Place::logical, Place::logical,
                            Place::fill,    Place::fill,    Place::hole,    Place::hole};
  ASSERT_EQ(linear.elements(), 12);
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(linear.place(i), expected[i]) << i;
}

TEST(LinearIndex, ReachesEveryElementItCallsLogicalOnce) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Shape shape = random_problem(seed).target;
    const LinearIndex linear(shape);
    int64_t logical = 0, expected = 1;
    for (int64_t i = 0; i < linear.elements(); ++i) {
      logical += linear.place(i) == LinearIndex::Place::logical ? 1 : 0;
    }
    for (const int64_t size : shape.dimensions) expected *= size;
    EXPECT_EQ(logical, expected) << seed;
  }
}

/// The target as letters: `a` is source byte 1, a dot a byte left alone, a question mark a free
/// one.
std::string image(const Problem& problem) {
  std::vector<std::byte> source(static_cast<size_t>(source_extent(problem, 0).bytes()));
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>('a' + i);
  const std::span<const std::byte> sources[] = {source};
  const Expectation expectation = expect(problem, sources);
  std::string text;
  for (size_t i = 0; i < expectation.bytes.size(); ++i) {
    const char value = static_cast<char>(expectation.bytes[i]);
    const bool written = expectation.written[i] != std::byte{0};
    const bool free = expectation.free[i] != std::byte{0};
    text += free ? '?' : !written ? '.' : value == 0 ? '0' : value == 1 ? '1' : value;
  }
  return text;
}

Shape bytes(Sizes sizes, Sizes minor_to_major) {
  return tiled(ElementType::u8, std::move(sizes), std::move(minor_to_major), {});
}

Problem relayout(Source source, Shape target) {
  return {Operation::copy, {std::move(source)}, std::move(target), {}};
}

TEST(Oracle, GivesTheImagesOfTheSpecification) {
  const Source source{bytes({2, 3}, {1, 0}), {}, {}};
  EXPECT_EQ(image(relayout(source, bytes({2, 3}, {0, 1}))), "adbecf");
  EXPECT_EQ(image(relayout(source, bytes({2, 3}, {1, 0}))), "abcdef");
  Shape padded = bytes({2, 3}, {0, 1});
  padded.layout.padded_dimensions = {3, 5};
  EXPECT_EQ(image(relayout(source, padded)), "ad0be0cf0000000");
  padded.layout.minor_to_major = {1, 0};
  EXPECT_EQ(image(relayout(source, padded)), "abc00def0000000");
  padded.layout.padding_value = PaddingValue::one;
  EXPECT_EQ(image(relayout(source, padded)), "abc11def1111111");
  padded.layout.padding_value = PaddingValue::unknown;
  EXPECT_EQ(image(relayout(source, padded)), "abc..def.......");
  const Source matrix{bytes({3, 5}, {1, 0}), {}, {}};
  EXPECT_EQ(image(relayout(matrix, tiled(ElementType::u8, {3, 5}, {1, 0}, {{2, 2}}))),
            "abfgcdhie0j0kl00mn00o000");
}

TEST(Oracle, FillsTailsAndLeavesHolesFree) {
  const Source source{bytes({3}, {0}), {}, {}};
  Shape aligned = bytes({3}, {0});
  aligned.layout.tail_padding_alignment_in_elements = 4;
  EXPECT_EQ(image(relayout(source, aligned)), "abc0");
  EXPECT_EQ(image(relayout(source, tiled(ElementType::u8, {3}, {0}, {{4}, {3}}))), "abc0??");
}

TEST(Oracle, Broadcasts) {
  const Source row{bytes({3}, {0}), {1}, {}};
  EXPECT_EQ(image(relayout(row, bytes({2, 3}, {0, 1}))), "aabbcc");
  const Source transposing{bytes({1, 3}, {1, 0}), {2, 1}, {}};
  EXPECT_EQ(image(relayout(transposing, bytes({2, 3, 2}, {2, 1, 0}))), "aabbccaabbcc");
  const Source degenerate{bytes({2, 1}, {1, 0}), {}, {}};
  EXPECT_EQ(image(relayout(degenerate, bytes({2, 3}, {1, 0}))), "aaabbb");
  const Source scalar{bytes({}, {}), {}, {}};
  EXPECT_EQ(image(relayout(scalar, bytes({2, 2}, {1, 0}))), "aaaa");
}

TEST(Oracle, FollowsByteStrides) {
  const Source backwards{bytes({2, 3}, {1, 0}), {}, {-3, -1}};
  EXPECT_EQ(image(relayout(backwards, bytes({2, 3}, {1, 0}))), "fedcba");
  const Source repeated{bytes({2, 3}, {1, 0}), {}, {0, 1}};
  EXPECT_EQ(image(relayout(repeated, bytes({2, 3}, {1, 0}))), "abcabc");
  Problem scattered = relayout({bytes({2, 3}, {1, 0}), {}, {}}, bytes({2, 3}, {1, 0}));
  scattered.target_byte_strides = {-8, 2};
  EXPECT_EQ(image(scattered), "d.e.f...a.b.c");
}

/// The result of a problem over numbers of T, the target's fastest dimension first.
template <class T, class Result = T>
std::vector<Result> results(const char* text, const std::vector<std::vector<T>>& sources) {
  const auto problem = parse_problem(text);
  EXPECT_TRUE(problem) << text << ": " << problem.error().message;
  std::vector<std::span<const std::byte>> spans;
  for (const auto& source : sources) spans.push_back(std::as_bytes(std::span(source)));
  const Expectation expectation = expect(*problem, spans);
  std::vector<Result> values(expectation.bytes.size() / sizeof(Result));
  std::copy(expectation.bytes.begin(), expectation.bytes.end(),
            std::as_writable_bytes(std::span(values)).begin());
  return values;
}

TEST(Oracle, ComputesTheBroadcastsOfTheSpecification) {
  const std::vector<uint8_t> matrix = {1, 2, 3, 4, 5, 6}, row = {7, 8, 9}, square(9, 10);
  const struct {
    const char* problem;
    std::vector<std::vector<uint8_t>> sources;
    std::vector<uint8_t> expected;
  } rows[] = {
      {"add(u8[2,3], u8[]) -> u8[2,3]", {matrix, {7}}, {8, 9, 10, 11, 12, 13}},
      {"add(u8[2,3], u8[3] dims={1}) -> u8[2,3]", {matrix, row}, {8, 10, 12, 11, 13, 15}},
      {"subtract(u8[3] dims={1}, u8[2,3]) -> u8[2,3]", {row, matrix}, {6, 6, 6, 3, 3, 3}},
      {"add(u8[3,3], u8[3] dims={1}) -> u8[3,3]",
       {square, row},
       {17, 18, 19, 17, 18, 19, 17, 18, 19}},
      {"add(u8[3,3], u8[3] dims={0}) -> u8[3,3]",
       {square, row},
       {17, 17, 17, 18, 18, 18, 19, 19, 19}},
      {"add(u8[2,1], u8[2,3]) -> u8[2,3]", {{10, 20}, matrix}, {11, 12, 13, 24, 25, 26}},
      {"add(u8[2,1], u8[1,3]) -> u8[2,3]", {{10, 20}, row}, {17, 18, 19, 27, 28, 29}},
      {"add(u8[4] dims={0}, u8[1,2]) -> u8[4,2]",
       {{1, 2, 3, 4}, {5, 6}},
       {6, 7, 7, 8, 8, 9, 9, 10}},
      {"add(u8[1,2] dims={1,2}, u8[2,3,1]) -> u8[2,3,2]",
       {{10, 20}, matrix},
       {11, 21, 12, 22, 13, 23, 14, 24, 15, 25, 16, 26}},
      {"add(u8[2,3], u8[3] dims={1}) -> u8[2,3]{0,1:PAD(3,3;one)}",
       {matrix, row},
       {8, 11, 1, 10, 13, 1, 12, 15, 1}},
      {"less(u8[2,3], u8[3] dims={1}) -> pred[2,3]", {matrix, {1, 3, 6}}, {0, 1, 1, 0, 0, 0}},
      {"add(u4[4]{0:E(4)}, u4[]) -> u4[4]", {{0x21, 0xf3}, {2}}, {3, 4, 5, 1}},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(results<uint8_t>(row.problem, row.sources), row.expected) << row.problem;
  }
}

TEST(Oracle, ConvertsWithScales) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ((results<uint8_t, float>(
                "convert(u8[1,2,3]) -> f32[1,2,3]{1,0,2} scale={0.5,1,2} bias={1,-1,0} dim=2",
                {{0, 1, 2, 10, 20, 30}})),
            (std::vector<float>{1, 6, 0, 19, 4, 60}));
  EXPECT_EQ((results<uint8_t, float>("convert(u8[3]) -> f32[3] scale={0.5} zero_point={128}",
                                     {{0, 128, 255}})),
            (std::vector<float>{-64, 0, 63.5f}));
  EXPECT_EQ((results<float, int8_t>("convert(f32[8]) -> s8[8] scale={2} zero_point={3}",
                                    {{1, 3, 5, -1, -5, 1000, -1000, nan}})),
            (std::vector<int8_t>{3, 5, 5, 3, 1, 127, -128, 0}));
  EXPECT_EQ((results<float, uint8_t>("convert(f32[2,2]) -> u8[2,2] scale={1,0.5} dim=0",
                                     {{-1, 2.5f, 2.5f, 300}})),
            (std::vector<uint8_t>{0, 2, 5, 255}));
  // Two roundings: 16777217 is no f32, and 3 * 0.1f rounds before the bias is added.
  EXPECT_EQ((results<int32_t, float>("convert(s32[2]) -> f32[2] scale={0.1} bias={-0.3}",
                                     {{3, 16777217}})),
            (std::vector<float>{3 * 0.1f - 0.3f, 16777216 * 0.1f - 0.3f}));
  EXPECT_EQ((results<int32_t, double>("convert(s32[1]) -> f64[1] scale={0.1}", {{16777217}})),
            (std::vector<double>{16777217 * 0.1}));
}

TEST(Oracle, MovesPackedElementsLeastSignificantFirst) {
  Shape row_major = tiled(ElementType::u4, {2, 2}, {1, 0}, {});
  row_major.layout.element_size_in_bits = 4;
  Shape column_major = row_major;
  column_major.layout.minor_to_major = {0, 1};
  const std::byte source[] = {std::byte{0x21}, std::byte{0x43}};
  const std::span<const std::byte> sources[] = {source};
  const std::vector<std::byte> expected = {std::byte{0x31}, std::byte{0x42}};
  EXPECT_EQ(expect(relayout({row_major, {}, {}}, column_major), sources).bytes, expected);
}

TEST(GuardedBuffer, PlacesDataAtEitherEnd) {
  using Placement = GuardedBuffer::Placement;
  for (const int64_t size : {0, 1, 5, 4096, 5000}) {
    GuardedBuffer begin(size, Placement::at_begin);
    GuardedBuffer end(size, Placement::at_end);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(begin.data()) % 4096, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(end.data() + size) % 4096, 0u);
    GuardedBuffer odd(size, Placement::at_end, 64, 3);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(odd.data()) % 64, 3u);
    EXPECT_TRUE(odd.canary_intact());
    odd.data()[size] = std::byte{0};
    EXPECT_FALSE(odd.canary_intact());
  }
}

TEST(GuardedBufferDeathTest, FaultsOutside) {
  GuardedBuffer end(5, GuardedBuffer::Placement::at_end);
  GuardedBuffer begin(5, GuardedBuffer::Placement::at_begin);
  volatile std::byte* const behind = end.data() + 5;
  volatile std::byte* const before = begin.data() - 1;
  EXPECT_DEATH(*behind = std::byte{0}, "");
  EXPECT_DEATH(*before = std::byte{0}, "");
}

}  // namespace
}  // namespace restride::testing
