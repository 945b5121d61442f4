// Transposes in the caches whose blocks go on along rows of the source: where they do, which
// targets these are for, and that all of it arrives.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "plan/planner.hpp"
#include "schedule/scheduling.hpp"
#include "support/microkernel_tails.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

std::vector<Setup> crowded_setups() {
  std::vector<Setup> result;
  for (const Target& target : known_targets()) result.push_back({target.name, Caches::crowd_l1});
  return result;
}

std::string name_of_target(const ::testing::TestParamInfo<Setup>& info) {
  return info.param.target;
}

INSTANTIATE_TEST_SUITE_P(Crowded, Microkernel, ::testing::ValuesIn(crowded_setups()),
                         name_of_target);

/// With 64 sets of eight lines.
Target walking_target() {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 32 * 1024;
  target.walks_along_source = true;
  target.claims_transposed_lines = false;
  return target;
}

struct Row {
  const char* text;
  int64_t rows;  // of a block
  bool wants_lines = false;
};

void expect_blocks(const std::vector<Row>& rows, const Target& target) {
  for (const Row& row : rows) {
    const Schedule schedule = scheduled(row.text, target);
    EXPECT_EQ(schedule.movement, Movement::transpose) << row.text;
    EXPECT_EQ(target_run_elements(schedule), row.rows) << row.text;
    EXPECT_EQ(schedule.wants_lines, row.wants_lines) << row.text;
  }
}

TEST(SourceWalks, HaveTheRowsOfANetworkWhereMoreCrowdSets) {
  expect_blocks({{"f32[784,512] -> f32[784,512]{0,1}", 16},
                 {"f32[785,512] -> f32[785,512]{0,1}", 16},
                 {"f32[1,28,28,512] -> f32[1,28,28,512]{2,1,3,0}", 16},
                 {"f64[184,512] -> f64[184,512]{0,1}", 8},
                 {"f64[983,256] -> f64[983,256]{0,1}", 8},
                 {"c128[180,256] -> c128[180,256]{0,1}", 8},
                 {"c128[64,512] -> c128[64,512]{0,1}", 8},  // columns crowd less than rows
                 {"f64[515,513] -> f64[515,513]{0,1}", 8},  // rows that begin between lines
                 // Rows 1 KB apart stay.
                 {"f32[720,256] -> f32[720,256]{0,1}", 64},
                 {"c128[980,64] -> c128[980,64]{0,1}", 256}},
                walking_target());
}

TEST(SourceWalks, WriteWholeLinesWhereOnlyRowsOfTheSourceBeginBetweenThem) {
  expect_blocks({{"f32[720,254] -> f32[720,254]{0,1}", 16, true},
                 {"f64[200,129] -> f64[200,129]{0,1}", 8, true},
                 {"c128[196,65] -> c128[196,65]{0,1}", 8, true},
                 {"f64[3,104,99] -> f64[3,104,99]{1,2,0}", 8, true},
                 // The target between lines, too; columns that crowd sets; narrow elements.
                 {"f64[201,129] -> f64[201,129]{0,1}", 128},
                 {"c128[1920,66] -> c128[1920,66]{0,1}", 128},
                 {"u16[736,509] -> u16[736,509]{0,1}", 64}},
                walking_target());
}

TEST(SourceWalks, DoNotReplaceWhatIsBetterReadOnce) {
  const Target target = walking_target();
  // Rows of a network crowd sets themselves; columns of the target do.
  expect_movements({{"f32[176,1024] -> f32[176,1024]{0,1}", Movement::gather},
                    {"f32[512,512] -> f32[512,512]{0,1}", Movement::gather},
                    {"c128[256,256] -> c128[256,256]{0,1}", Movement::gather},
                    {"u16[480,2048] -> u16[480,2048]{0,1}", Movement::gather}},
                   target);
}

TEST(SourceWalks, GoAlongWholeRowsIntoTargetsOnLines) {
  const Target target = walking_target();
  EXPECT_EQ(source_run_elements(scheduled("f32[784,512] -> f32[784,512]{0,1}", target)), 512);
  EXPECT_EQ(source_run_elements(scheduled("f32[785,512] -> f32[785,512]{0,1}", target)), 64);
}

TEST(SourceWalks, AreForTargetsOnLinesAlone) {
  const Target target = walking_target();
  const auto planned = [&](const char* text) {
    return plan_programs(simplified_space(text), target);
  };
  const std::vector<Program> two = planned("f64[200,129] -> f64[200,129]{0,1}");
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].operands[0].alignment, 64);
  EXPECT_EQ(two[1].operands[0].alignment, 1);
  EXPECT_EQ(&on_lines(two), &two[0]);
  EXPECT_EQ(planned("f64[201,129] -> f64[201,129]{0,1}").size(), 1U);
}

TEST(NarrowNetworks, ReadShorterPiecesBeyondL2) {
  struct Case {
    const char* text;
    int64_t network_column_bytes;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 32 * 1024;
  target.network_piece_bytes = 32;
  target.wide_network_bytes = 1 << 20;
  const auto expect = [&](const std::vector<Case>& cases) {
    for (const Case& row : cases) {
      EXPECT_EQ(scheduled(row.text, target).network_column_bytes, row.network_column_bytes)
          << row.text;
    }
  };
  expect({{"u8[1000,1000] -> u8[1000,1000]{0,1}", 16},
          {"u8[1000,1088] -> u8[1000,1088]{0,1}", 32},  // rows on lines
          {"u8[700,700] -> u8[700,700]{0,1}", 32},      // L2 holds them
          {"u16[992,900] -> u16[992,900]{0,1}", 32},
          {"u16[1000,900] -> u16[1000,900]{0,1}", 64},    // columns between lines
          {"u16[512,1200] -> u16[512,1200]{0,1}", 64}});  // columns that crowd sets
  target.wide_network_bytes = 1 << 30;
  expect({{"u8[1000,1000] -> u8[1000,1000]{0,1}", 32}, {"u16[992,900] -> u16[992,900]{0,1}", 64}});
  target.wide_network_bytes = 0;
  target.vector_bytes = 32;
  expect({{"u8[1000,1000] -> u8[1000,1000]{0,1}", 32}});
}

TEST_P(Microkernel, MovesAlongRowsOfTheSource) {
  const std::vector<Element> elements = {
      {"u8", 1}, {"u16", 2}, {"f32", 4}, {"f64", 8}, {"c128", 16}};
  for (const Element& element : elements) {
    for (const int row_bytes : {272, 528, 1008}) {
      for (const int column_bytes : {64, 200, 336}) {
        const int columns = row_bytes / element.bytes;
        const int rows = (column_bytes + element.bytes - 1) / element.bytes;
        const std::string two = array(element.type, {rows, columns + 1});
        expect_conforms(two + " -> " + two + "{0,1}", GetParam());
        const std::string three = array(element.type, {3, rows, columns});
        expect_conforms(three + " -> " + three + "{1,2,0}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace restride::testing
