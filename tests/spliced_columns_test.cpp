// Arrays behind the header of an allocator whose rows of the target are columns side by side of the
// source: the end of a row leaves with the begin of the next one. What is taken apart, and that all
// of it arrives.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loop_nest/loop_nest.hpp"
#include "program/program.hpp"
#include "schedule/scheduling.hpp"
#include "select/select.hpp"
#include "support/microkernel_tails.hpp"
#include "support/nest_moves.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

constexpr int64_t header = 16;

INSTANTIATE_TEST_SUITE_P(Streaming, Microkernel, ::testing::ValuesIn(streaming_setups()),
                         [](const auto& info) { return name_of(info.param); });

std::optional<Schedule> columns_of(const char* text, const Target& target,
                                   CodeGoal goal = CodeGoal::fast) {
  const IterationSpace space = simplified_space(text);
  return spliced_columns(space, schedule(space, target), target, header, goal);
}

TEST(SplicedColumns, TakeWhatMakesWholeBlocks) {
  const Target target = target_of_long_runs();
  struct Row {
    const char* text;
    Peel rows, columns;
  };
  for (const Row& row : {
           // Rows of 1536 bytes are read wherever they begin; blocks of all columns but a panel.
           Row{"f32[4,384,384] -> f32[4,384,384]{1,2,0}", {2, 12, 52, 1, -1, 16}, {}},
           // Rows 4 KB apart crowd L1, so that panels begin on lines.
           Row{"f32[1024,1024] -> f32[1024,1024]{0,1}", {1, 12, 52, 0, -1, 16}, {0, 12, 4}},
           // Long rows: as those.
           Row{"f32[1024,1616] -> f32[1024,1616]{0,1}", {1, 12, 52, 0, -1, 16}, {0, 12, 4}},
           Row{"f64[8,256,264] -> f64[8,256,264]{1,2,0}", {2, 6, 18, 1, -1, 8}, {}},
       }) {
    const std::optional<Schedule> spliced = columns_of(row.text, target);
    ASSERT_TRUE(spliced.has_value()) << row.text;
    EXPECT_EQ(spliced->peels[0], row.rows) << row.text << '\n' << to_string(*spliced);
    EXPECT_EQ(spliced->peels[1], row.columns) << row.text << '\n' << to_string(*spliced);
    EXPECT_FALSE(spliced->short_code) << row.text;
  }
}

TEST(SplicedColumns, AreOfRowsOfWholeLinesThatTouch) {
  const Target target = target_of_long_runs();
  for (const char* text :
       {// Rows between lines; that others follow than the next column; of more than a lane.
        "f32[4095,4096] -> f32[4095,4096]{0,1}", "f32[4096,3,512] -> f32[4096,3,512]{0,1,2}",
        "c128[1024,1024] -> c128[1024,1024]{0,1}",
        // Short rows whose lines do not crowd L1; few columns; blocks that no panel divides.
        "f32[64,128,1168] -> f32[64,128,1168]{1,2,0}", "f32[64,1024,64] -> f32[64,1024,64]{1,2,0}",
        // Images.
        "u16[37,53,97,96] -> u16[37,53,97,96]{2,0,1,3}"}) {
    EXPECT_FALSE(columns_of(text, target).has_value()) << text;
  }
  // Short rows that crowd it.
  EXPECT_TRUE(columns_of("f32[64,128,1024] -> f32[64,128,1024]{1,2,0}", target).has_value());
}

TEST(SplicedColumns, AreShortCodeOnlyWherePanelsComeAndGoTogether) {
  Target target = target_of_long_runs();
  target.far_long_run_bytes = 384;
  const auto evenly =
      columns_of("f32[1024,1024] -> f32[1024,1024]{0,1}", target, CodeGoal::compact);
  ASSERT_TRUE(evenly.has_value());
  EXPECT_TRUE(evenly->short_code);
  // Blocks of 96 rows.
  const char* const uneven = "f32[448,42720] -> f32[448,42720]{0,1}";
  EXPECT_TRUE(columns_of(uneven, target).has_value());
  EXPECT_FALSE(columns_of(uneven, target, CodeGoal::compact).has_value());
}

TEST(SplicedColumns, LeaveNoElementOutAndTakeNoneTwice) {
  Target target = target_of_long_runs();
  stream_beyond(target, 0);
  for (const char* text :
       {"f32[2,256,144] -> f32[2,256,144]{1,2,0}", "f32[256,256] -> f32[256,256]{0,1}",
        "u16[512,544] -> u16[512,544]{0,1}", "f64[2,128,128] -> f64[2,128,128]{1,2,0}"}) {
    const Schedule plain = schedule(simplified_space(text), target);
    const std::optional<Schedule> spliced = columns_of(text, target);
    ASSERT_TRUE(spliced.has_value()) << text << '\n' << to_string(plain);
    Moves expected, moves;
    expected.add(lower(plain).root, {});
    moves.add(lower(*spliced).root, {});
    EXPECT_TRUE(moves.to == expected.to) << text << '\n' << to_string(lower(*spliced));
  }
}

TEST(SplicedColumns, AreWhatLeavesAroundTheCachesBehindAHeader) {
  const Target target = target_of_long_runs();
  for (const char* text :
       {"f32[4,384,384] -> f32[4,384,384]{1,2,0}", "f32[1024,1024] -> f32[1024,1024]{0,1}",
        "f64[8,256,264] -> f64[8,256,264]{1,2,0}"}) {
    const std::optional<Program> behind = behind_header(text, target);
    ASSERT_TRUE(behind.has_value()) << text;
    EXPECT_TRUE(uses_nontemporal_stores(*behind)) << text;
    const std::optional<Schedule> spliced = columns_of(text, target);
    ASSERT_TRUE(spliced.has_value()) << text;
    EXPECT_EQ(behind->root, select(lower(*spliced), *spliced, target, {64, header}).root) << text;
  }
}

TEST_P(Microkernel, MovesSplicedColumns) {
  for (const Element& element : every_width) {
    for (const int run_bytes : {512, 1088}) {
      const int run = run_bytes / element.bytes;
      for (const int column_bytes : {512, 1088, 1100}) {
        const int columns = column_bytes / element.bytes;
        const std::string two = array(element.type, {run, columns});
        expect_conforms(two + " -> " + two + "{0,1}", GetParam());
        const std::string three = array(element.type, {2, run, columns});
        expect_conforms(three + " -> " + three + "{1,2,0}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace restride::testing
