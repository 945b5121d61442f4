// Step numerals and the hull of the positions they reach, against walking them.
#include "program/stream_range.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/random.hpp"

namespace restride {
namespace {

using namespace program;

TEST(Step, IsANumeral) {
  struct Row {
    Step step;
    std::vector<int64_t> positions;
  };
  const Row rows[] = {
      {{0, 64}, {0, 64, 128, 192}},
      {{0, 64, 8}, {8, 72, 136}},
      {{0, 64, 0, 1}, {64, 128, 192}},
      {{0, 512, 0, 0, {{2, 0}}}, {0, 512, 0, 512}},
      {{0, 64, 0, 0, {{3, 1000}}}, {0, 64, 128, 1000, 1064, 1128, 2000}},
      {{0, 1, 0, 2, {{2, 10}, {2, 100}}}, {10, 11, 100, 101, 110, 111, 200}},
      {{0, -4}, {0, -4, -8}},
  };
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.positions.size(); ++i) {
      EXPECT_EQ(row.step(int64_t(i)), row.positions[i]) << to_string(row.step) << " at " << i;
    }
  }
}

TEST(StreamRange, IsTheExactHullOfThePositions) {
  for (uint64_t seed = 1; seed <= 20000; ++seed) {
    testing::Random random(seed);
    Step step{0, random.between(-9, 9), random.between(-9, 9), random.between(0, 20)};
    for (int64_t k = random.between(0, 4); k > 0; --k) {
      step.wraps.push_back({random.between(1, 4), random.between(-40, 40)});
    }
    const int64_t extent = random.between(1, 60);
    StreamRange range;
    ASSERT_TRUE(widen(range, step, extent));
    int64_t low = step(0), high = step(0);
    for (int64_t i = 0; i < extent; ++i) {
      low = std::min(low, step(i));
      high = std::max(high, step(i));
      for (const int64_t alignment : {2, 4, 8}) {
        ASSERT_TRUE(!range.aligned(0, alignment) || step(i) % alignment == 0) << seed;
      }
    }
    ASSERT_EQ(range.low, low) << "seed " << seed << " " << to_string(step) << " extent " << extent;
    ASSERT_EQ(range.high, high) << "seed " << seed << " " << to_string(step) << " extent "
                                << extent;
  }
}

TEST(StreamRange, IsTheExactHullOfWhatSeveralStepsAddUpTo) {
  for (uint64_t seed = 1; seed <= 5000; ++seed) {
    testing::Random random(seed);
    std::vector<Step> steps;
    for (int64_t k = random.between(2, 4); k > 0; --k) {
      steps.push_back({int(random.between(0, 1)), random.between(-9, 9), random.between(-9, 9),
                       random.between(0, 20)});
      if (random.one_in(2)) {
        steps.back().wraps.push_back({random.between(1, 4), random.between(-40, 40)});
      }
    }
    const int64_t extent = random.between(1, 60);
    const auto position = [&](int64_t i) {
      int64_t at = 0;
      for (const Step& step : steps) at += step.stream == 1 ? step(i) : 0;
      return at;
    };
    StreamRange range;
    ASSERT_TRUE(widen(range, steps, 1, extent));
    int64_t low = position(0), high = position(0);
    for (int64_t i = 0; i < extent; ++i) {
      low = std::min(low, position(i));
      high = std::max(high, position(i));
      for (const int64_t alignment : {2, 4, 8}) {
        ASSERT_TRUE(!range.aligned(0, alignment) || position(i) % alignment == 0) << seed;
      }
    }
    ASSERT_EQ(range.low, low) << "seed " << seed;
    ASSERT_EQ(range.high, high) << "seed " << seed;
  }
}

TEST(StreamRange, KnowsWhatIsAlignedThoughItsStepsAreNot) {
  // 0, 4, 8, .. and back from every fourth: 0 0 0 0 16 16 ..
  const std::vector<Step> steps = {{0, 4}, {0, -4, 0, 0, {{4, 0}}}};
  StreamRange range;
  ASSERT_TRUE(widen(range, steps, 0, 12));
  EXPECT_TRUE(range.aligned(0, 16));
  EXPECT_EQ(range.low, 0);
  EXPECT_EQ(range.high, 32);
}

TEST(StreamRange, RefusesToAddUpTooManyPositions) {
  const std::vector<Step> steps = {{0, 1}, {0, 1}};
  StreamRange range;
  EXPECT_TRUE(widen(range, steps, 0, 4096));
  EXPECT_FALSE(widen(range, steps, 0, 4097));
}

TEST(StreamRange, RefusesWhatDoesNotFit) {
  const int64_t huge = int64_t{1} << 62, most = INT64_MAX;
  const Step steps[] = {{0, huge},
                        {0, 1, huge},
                        {0, 1, 0, most},
                        {0, INT64_MIN},
                        {0, 0, INT64_MIN},
                        {0, 1, 0, 0, {{2, INT64_MIN}}},
                        {0, 1, 0, most - 10, {{most, most}}}};
  for (const Step& step : steps) {
    StreamRange range;
    EXPECT_FALSE(widen(range, step, 11)) << to_string(step);
  }
  StreamRange range;
  EXPECT_FALSE(widen(range, {0, 1}, most));
  EXPECT_FALSE(widen(range, {0, 1, 0, 1}, most));
}

}  // namespace
}  // namespace restride
