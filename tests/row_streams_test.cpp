// Long rows that leave around the caches, read in several places in turn.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "plan/planner.hpp"
#include "program/program.hpp"
#include "support/each_block.hpp"
#include "support/microkernel_tails.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

constexpr int64_t kilobyte = 1024;

Target target_with(int streams, Caches caches = Caches::hold_nothing) {
  Target target = target_of({"avx512", caches});
  target.row_streams = streams;
  target.run_fill_bytes = 0;
  return target;
}

/// Where the loop that repeats most often reads the first source, in whole kilobytes.
std::set<int64_t> places_read(const std::string& text, const Target& target) {
  const Program program = on_lines(plan_programs(simplified_space(text), target));
  std::set<int64_t> places;
  int64_t most = 0;
  each_block(program.root, [&](const program::Block& block, int64_t times) {
    if (times < most) return;
    if (times > most) places.clear();
    most = times;
    for (const program::Op& op : block) {
      if (op.code == program::Code::load && op.stream == 1) places.insert(op.offset / kilobyte);
    }
  });
  return places;
}

TEST(RowStreams, AreFourPartsOfWhatIsMovedAtATime) {
  struct Row {
    const char* text;
    std::set<int64_t> kilobytes;
  };
  for (const Row& row : {
           Row{"u8[1048576] -> u8[1048576]", {0, 16, 32, 48}},
           Row{"f32[100,4096] -> f32[100,4096]{1,0:PAD(100,4112;zero)}", {0, 4, 8, 12}},
           Row{"convert(s32[1048576]) -> f32[1048576]", {0, 16, 32, 48}},
           Row{"convert(f32[1048576]) -> u8[1048576]", {0, 64, 128, 192}},
       }) {
    EXPECT_EQ(places_read(row.text, target_with(4)), row.kilobytes) << row.text;
  }
}

TEST(RowStreams, AreOneWhereRowsAreShortOrStayInTheCaches) {
  const std::string row = "u8[1048576] -> u8[1048576]";
  EXPECT_EQ(places_read(row, target_with(1)), std::set<int64_t>{0});
  EXPECT_EQ(places_read(row, target_with(4, Caches::hold_everything)), std::set<int64_t>{0});
  // Four chunks of four vectors for each of four streams are 4 KB.
  const auto rows_of = [](int64_t bytes) {
    const std::string columns = std::to_string(bytes), pitch = std::to_string(bytes + 64);
    return "u8[1000," + columns + "] -> u8[1000," + columns + "]{1,0:PAD(1000," + pitch + ";zero)}";
  };
  EXPECT_EQ(places_read(rows_of(4 * kilobyte - 64), target_with(4)), std::set<int64_t>{0});
  EXPECT_EQ(places_read(rows_of(4 * kilobyte), target_with(4)), (std::set<int64_t>{0, 1, 2, 3}));
}

TEST(RowStreams, LengthenWhatIsMovedAtATimeButNoFills) {
  const auto chunk = [](const char* text, int streams) {
    return target_strides(scheduled(text, target_with(streams))).back();
  };
  EXPECT_EQ(chunk("u8[1048576] -> u8[1048576]", 1), 16 * kilobyte);
  EXPECT_EQ(chunk("u8[1048576] -> u8[1048576]", 4), 64 * kilobyte);
  EXPECT_EQ(chunk("u8[] -> u8[1048576]", 4), 16 * kilobyte);
}

class StreamedRows : public ::testing::TestWithParam<Setup> {};

INSTANTIATE_TEST_SUITE_P(Every, StreamedRows, ::testing::ValuesIn(streaming_setups()),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(StreamedRows, MoveAllThatIsLeftOfTheirParts) {
  Target target = target_of(GetParam());
  for (const int streams : {2, 3, 4}) {
    target.row_streams = streams;
    for (const int64_t bytes : {4095, 4096, 4160, 5000, 5120, 16383, 70000, 200001}) {
      const std::string row = array("u8", {2, static_cast<int>(bytes)});
      const std::string pitch = std::to_string(bytes + 64 - bytes % 64);
      const std::string padded = row + "{1,0:PAD(2," + pitch + ";one)}";
      for (const std::string& text :
           {row + " -> " + row, row + " -> " + padded, padded + " -> " + row,
            "convert(" + row + ") -> " + array("f32", {2, static_cast<int>(bytes)})}) {
        const Report report = run_for(target, text);
        ASSERT_EQ(report.outcome, Outcome::passed) << report.text;
      }
    }
  }
}

}  // namespace
}  // namespace restride::testing
