// Digits that do not nest: the numerals that operands walk for themselves, the boxes they are cut
// into, the loops of problems whose tiles do not nest, and what programs make of them.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "restride/problem.hpp"
#include "select/unnested_box.hpp"
#include "space/iteration_space.hpp"
#include "space/own_digits.hpp"
#include "support/random.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

/// A numeral as an odometer: the finest digit counts, a digit that is full starts again and moves
/// the next one.
struct Odometer {
  std::vector<int64_t> radix, stride;  // the finest first; the last digit has no radix
  std::vector<int64_t> digits = std::vector<int64_t>(stride.size(), 0);

  int64_t position() const {
    int64_t sum = 0;
    for (size_t k = 0; k < digits.size(); ++k) sum += digits[k] * stride[k];
    return sum;
  }
  void count() {
    size_t k = 0;
    while (k < radix.size() && digits[k] + 1 == radix[k]) digits[k++] = 0;
    ++digits[k];
  }
};

/// An operand with up to three own digits, among others with some of their own.
struct Numeral {
  Strides stride{};
  OwnDigits own;
  Odometer odometer;
};

Numeral random_numeral(Random& random, int operand) {
  Numeral numeral;
  for (int k = 0; k < max_operands; ++k) {
    numeral.stride[static_cast<size_t>(k)] = random.between(-9, 9);
    for (int64_t digits = random.between(0, 3); digits > 0; --digits) {
      numeral.own.push_back({k, random.between(2, 5), random.between(-99, 99)});
    }
  }
  std::vector<int64_t> radix, stride{numeral.stride[static_cast<size_t>(operand)]};
  for (const OwnDigit& digit : numeral.own) {
    if (digit.operand != operand) continue;
    radix.push_back(digit.every);
    stride.push_back(digit.stride);
  }
  numeral.odometer = {radix, stride};
  return numeral;
}

/// The offsets of a box's counts, in order.
std::vector<int64_t> offsets(const NumeralBox& box) {
  std::vector<int64_t> result{box.offset};
  for (const WeightedDigit& digit : box.digits) {
    std::vector<int64_t> repeated;
    for (const int64_t from : result) {
      for (int64_t i = 0; i < digit.extent; ++i) repeated.push_back(from + i * digit.stride);
    }
    result = std::move(repeated);
  }
  return result;
}

TEST(OwnDigits, CountAsAnOdometerDoes) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const int operand = static_cast<int>(random.between(0, max_operands - 1));
    Numeral numeral = random_numeral(random, operand);
    for (int64_t i = 0; i < 200; ++i, numeral.odometer.count()) {
      const auto k = static_cast<size_t>(operand);
      ASSERT_EQ(positions(numeral.stride, numeral.own, i)[k], numeral.odometer.position()) << seed;
    }
  }
}

TEST(NumeralBoxes, AreWhatAnOdometerVisits) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const int operand = static_cast<int>(random.between(0, max_operands - 1));
    Numeral numeral = random_numeral(random, operand);
    const int64_t first = random.between(0, 60), last = first + random.between(0, 90);
    std::vector<int64_t> visited;
    for (int64_t i = 0; i < last; ++i, numeral.odometer.count()) {
      if (i >= first) visited.push_back(numeral.odometer.position());
    }
    std::vector<int64_t> boxed;
    for (const NumeralBox& box :
         numeral_boxes(numeral_of(numeral.stride, numeral.own, static_cast<size_t>(operand), last),
                       first, last)) {
      ASSERT_EQ(box.first, first + static_cast<int64_t>(boxed.size())) << "seed " << seed;
      for (const int64_t offset : offsets(box)) boxed.push_back(offset);
    }
    EXPECT_EQ(boxed, visited) << "seed " << seed;
  }
}

TEST(NumeralBoxes, AreAtMostTwoForEachDigitButOne) {
  const std::vector<WeightedDigit> tiles{{12, 9, 1000}, {4, 3, 100}, {1, 4, 10}};
  EXPECT_EQ(numeral_boxes(tiles, 0, 108).size(), 1u);
  EXPECT_EQ(numeral_boxes(tiles, 0, 24).size(), 1u);
  EXPECT_EQ(numeral_boxes(tiles, 3, 5).size(), 2u);
  EXPECT_EQ(numeral_boxes(tiles, 1, 107).size(), 5u);
  EXPECT_EQ(numeral_boxes(tiles, 7, 7).size(), 0u);
}

IterationSpace space_of(std::string_view text) {
  const Result<Problem> problem = parse_problem(text);
  EXPECT_TRUE(problem) << text << ": " << problem.error().message;
  Result<IterationSpace> space = iteration_space(*problem);
  EXPECT_TRUE(space) << text << ": " << space.error().message;
  return *space;
}

TEST(AxisLoops, ShareLoopsAbovePeriodsAndBelowCommonDivisors) {
  // 15 rows: a period is 12, which is 4 rows of 4 tiles of 60 bytes here, 3 of 5 of 64 bytes there.
  EXPECT_EQ(space_of("f32[15,20]{1,0:T(3,5)} -> f32[15,20]{1,0:T(4,4)}").loops,
            (std::vector<Loop>{
                {0, 12, 2, {960, 960}},
                {0, 1, 12, {16, 20}, {{0, 4, 320}, {1, 3, 240}}},
                {1, 1, 20, {4, 4}, {{0, 4, 64}, {1, 5, 60}}},
            }));
  // Tiles of 12 and of 8 in steps of 4.
  EXPECT_EQ(space_of("u8[2,48]{1,0:T(2,12)} -> u8[2,48]{1,0:T(2,8)}").loops,
            (std::vector<Loop>{
                {0, 1, 2, {8, 12}},
                {1, 24, 2, {48, 48}},
                {1, 4, 6, {4, 4}, {{0, 2, 16}, {1, 3, 24}}},
                {1, 1, 4, {1, 1}},
            }));
  // A second source that nests with everything.
  EXPECT_EQ(space_of("add(f32[2,12]{1,0:T(2,4)}, f32[2,12]) -> f32[2,12]{1,0:T(2,3)}").loops,
            (std::vector<Loop>{
                {0, 1, 2, {12, 16, 48}},
                {1, 1, 12, {4, 4, 4}, {{0, 3, 24}, {1, 4, 32}}},
            }));
}

TEST(AxisLoops, OfTilesWithoutCommonDivisorsEndWhereTheAxisDoes) {
  const IterationSpace space = space_of("f32[2,5000]{1,0:T(2,997)} -> f32[2,5000]{1,0:T(2,1009)}");
  ASSERT_EQ(space.loops.size(), 2u) << to_string(space);
  EXPECT_EQ(space.loops[1].extent, 5045);
  EXPECT_TRUE(verify(space));
  // Primes whose product does not fit 64 bits.
  const IterationSpace huge = space_of(
      "add(u8[2,5000000000]{1,0:T(2,2147483647)}, u8[2,5000000000]{1,0:T(2,2147483629)}) -> "
      "u8[2,5000000000]{1,0:T(2,2147483587)}");
  ASSERT_EQ(huge.loops.size(), 2u) << to_string(huge);
  EXPECT_EQ(huge.loops[1].own, (OwnDigits{{0, 2147483587, 2 * int64_t{2147483587}},
                                          {1, 2147483647, 2 * int64_t{2147483647}},
                                          {2, 2147483629, 2 * int64_t{2147483629}}}));
}

TEST(IterationSpace, RefusesPackedElementsThatAreCutWithinAByte) {
  const Result<Problem> problem =
      parse_problem("u4[6,9]{1,0:T(2,3)E(4)} -> u4[6,9]{1,0:T(3,2)E(4)}");
  ASSERT_TRUE(problem);
  const Result<IterationSpace> space = iteration_space(*problem);
  ASSERT_FALSE(space);
  EXPECT_EQ(space.error().code, ErrorCode::unsupported);
  EXPECT_EQ(space.error().message,
            "tiles of source and target do not nest, and 1 elements between their cuts are no "
            "whole bytes");
}

TEST(IterationSpace, VerifiesOwnDigits) {
  IterationSpace space = space_of("f32[15,20]{1,0:T(3,5)} -> f32[15,20]{1,0:T(4,4)}");
  ASSERT_TRUE(verify(space));
  for (const OwnDigits& wrong : {OwnDigits{{1, 3, 4}, {0, 4, 4}}, OwnDigits{{0, 1, 4}},
                                 OwnDigits{{max_operands, 2, 4}}, OwnDigits(9, {0, 2, 4})}) {
    space.loops[1].own = wrong;
    EXPECT_FALSE(verify(space));
  }
}

TEST(UnnestedBox, GathersWhatCountsForItself) {
  // 8 elements from tiles of 3, 24 bytes apart, to tiles of 4 side by side.
  const nest::Tile box{nest::Work::compute, {{8, {4, 4}, {{1, 3, 24}}, 0}}};
  const UnnestedBox steps = unnested_box(box, {.bytes = 4});
  ASSERT_EQ(steps.gathered[1].size(), 2u);
  EXPECT_EQ(steps.gathered[1][0].tile.sides, (std::vector<nest::Side>{{2, {12, 24}}, {3, {4, 4}}}));
  EXPECT_EQ(steps.gathered[1][1].tile.sides, (std::vector<nest::Side>{{2, {4, 4}}}));
  EXPECT_EQ(steps.gathered[1][1].at, (Strides{24, 48}));
  EXPECT_EQ(steps.scratch_bytes, 64);
  ASSERT_EQ(steps.made.size(), 1u);
  EXPECT_EQ(steps.made[0].tile.sides, (std::vector<nest::Side>{{8, {4, 4}}}));
}

TEST(UnnestedBox, BeginsAtAnyCount) {
  // Counts 5 to 9: of tiles of 3 the last of one, a whole one, the first of another; of tiles of 4,
  // 20 bytes apart, three and two.
  const nest::Tile box{nest::Work::compute, {{5, {4, 4}, {{0, 4, 20}, {1, 3, 24}}, 5}}};
  const UnnestedBox steps = unnested_box(box, {.bytes = 4});
  ASSERT_EQ(steps.gathered[1].size(), 3u);
  EXPECT_EQ(steps.gathered[1][0].at, (Strides{0, 24 + 8}));
  EXPECT_EQ(steps.gathered[1][1].at, (Strides{4, 48}));
  EXPECT_EQ(steps.gathered[1][1].tile.sides, (std::vector<nest::Side>{{1, {12, 24}}, {3, {4, 4}}}));
  EXPECT_EQ(steps.gathered[1][2].at, (Strides{16, 72}));
  ASSERT_EQ(steps.made.size(), 2u);
  EXPECT_EQ(steps.made[0].at, (Strides{20 + 4, 0}));
  EXPECT_EQ(steps.made[0].tile.sides, (std::vector<nest::Side>{{3, {4, 4}}}));
  EXPECT_EQ(steps.made[1].at, (Strides{40, 12}));
}

void expect_conforms(const std::string& text, const Setup& setup) {
  const Report report = run_in(setup, text);
  ASSERT_EQ(report.outcome, Outcome::passed) << report.text;
}

class Unnested : public ::testing::TestWithParam<Setup> {};

INSTANTIATE_TEST_SUITE_P(Every, Unnested, ::testing::ValuesIn(setups()),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(Unnested, MovesTiles) {
  struct Tiles {
    const char *source, *target;
  };
  for (const char* type : {"u8", "u16", "f32", "f64", "c128"}) {
    for (const Tiles& tiles :
         {Tiles{"T(3,5)", "T(4,4)"}, Tiles{"T(4,4)", "T(3,5)"}, Tiles{"T(4,6)", "T(6,4)"},
          Tiles{"T(7,9)", "T(8,8)"}, Tiles{"T(3,16)", "T(4,16)"}, Tiles{"T(2,3)(2,1)", "T(4,5)"}}) {
      for (const std::vector<int>& size :
           {std::vector<int>{56, 72}, {57, 90}, {23, 17}, {3, 131}, {2, 25, 31}}) {
        const std::string from = array(type, size);
        const char* order = size.size() == 2 ? "{1,0:" : "{2,1,0:";
        const char* other = size.size() == 2 ? "{0,1:" : "{1,0,2:";
        const char* orders[] = {order, other};
        for (const char* to : orders) {
          expect_conforms(from + order + tiles.source + "} -> " + from + to + tiles.target + "}",
                          GetParam());
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

/// A layout of two dimensions, with tiles of 1 to 9.
std::string random_tiles(Random& random) {
  const auto side = [&] { return std::to_string(random.between(1, 9)); };
  std::string text = random.one_in(3) ? "{0,1" : "{1,0";
  if (random.one_in(9)) return text + "}";
  text += ":T(" + side() + "," + side() + ")";
  if (random.one_in(9)) text += "L(" + side() + ")";
  return text + "}";
}

TEST_P(Unnested, MovesAndComputesRandomTiles) {
  constexpr uint64_t problems = 150;
  for (uint64_t seed = 0; seed < problems; ++seed) {
    Random random(seed);
    const std::vector<int> size{static_cast<int>(random.between(1, 70)),
                                static_cast<int>(random.between(1, 70))};
    constexpr const char* all[] = {"u8", "u16", "f32", "f64"};
    const char* type = random.choose(std::span<const char* const>(all));
    const std::string from = array(type, size) + random_tiles(random);
    const std::string to = random_tiles(random);
    std::string text = from + " -> " + array(type, size) + to;
    if (random.one_in(4)) text = "convert(" + from + ") -> " + array("s32", size) + to;
    if (random.one_in(4)) {
      text = "add(" + from + ", " + array(type, size) + random_tiles(random) + ") -> " +
             array(type, size) + to;
    }
    expect_conforms(text, GetParam());
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace restride::testing
