// What is decided before there are programs: which movement, how large its blocks are, and in which
// order they follow each other. None of this changes what arrives.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "loop_nest/loop_nest.hpp"
#include "schedule/scheduling.hpp"
#include "space/iteration_space.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"
#include "target/target.hpp"

namespace restride::testing {
namespace {

TEST(Boxes, LeaveByThemselvesBetweenLinesWhereTheSourceIsApart) {
  struct Row {
    const char* text;
    bool shifts_runs;
  };
  Target target = streaming_target();
  target.l1_bytes = 48 * 1024;
  target.shifted_box_bytes = 256;
  for (const Row& row :
       {Row{"f32[1024,1600] -> f32[1024,1600]{0,1}", true},
        Row{"f64[128,20,20,160] -> f64[128,20,20,160]{0,2,3,1}", true},
        Row{"f64[64,20,20,160] -> f64[64,20,20,160]{0,2,3,1}", false},  // 512 bytes
        Row{"f32[128,4096] -> f32[128,4096]{0,1}", true},               // that crowd L1
        Row{"f32[32,32,32,160] -> f32[32,32,32,160]{0,1,2,3}", false},  // 128 bytes
        Row{"f32[1020,1600] -> f32[1020,1600]{0,1}", false},            // no whole lines
        Row{"f32[8192,160] -> f32[8192,160]{0,1}", false},              // 640 bytes apart
        Row{"u16[1056,1600] -> u16[1056,1600]{0,1}", false},
        Row{"u16[2048,2048] -> u16[2048,2048]{0,1}", true},  // crowd sets
        Row{"c128[512,512] -> c128[512,512]{0,1}", false}}) {
    const IterationSpace space = simplified_space(row.text);
    EXPECT_EQ(schedule(space, target, CodeGoal::fast, false).shifts_runs, row.shifts_runs)
        << row.text;
    EXPECT_FALSE(schedule(space, target).shifts_runs) << row.text;
  }
}

TEST(Rows, OfPartsAreJoinedWhereTheyAreShort) {
  struct Row {
    const char* text;
    int64_t whole, part;  // rows in a tile
  };
  const Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  for (const Row& row :
       {Row{"u8[64,254]{1,0:PAD(64,300;unknown)} -> u8[64,254]", 32, 4},  // as many as share a tile
        Row{"u8[64,62]{1,0:PAD(64,70;unknown)} -> u8[64,62]", 32, 32}}) {
    const IterationSpace space = simplified_space(row.text);
    const auto rows = [&](CodeGoal goal) {
      const Schedule scheduled = schedule(space, target, goal);
      return target_run_elements(scheduled) / scheduled.space.loops.back().extent;
    };
    EXPECT_EQ(rows(CodeGoal::fast), row.whole) << row.text;
    EXPECT_EQ(rows(CodeGoal::part), row.part) << row.text;
  }
}

TEST(Rows, OfAFewLinesArePutTogetherWhereTheyShareBothEndsWithOthers) {
  struct Row {
    const char* text;
    bool images;
  };
  Target target = streaming_target();
  target.reads_ahead_by_step = true;
  for (const Row& row : {Row{"f32[59,600,75,20] -> f32[59,600,75,20]{3,0,2,1}", true},
                         {"u8[60,4444,300] -> u8[60,4444,300]{2,0,1}", true},
                         {"u16[31,16120,80] -> u16[31,16120,80]{2,0,1}", true},
                         // Four of them make five lines, whole rows are lines, rows are long.
                         {"f32[60,600,75,20] -> f32[60,600,75,20]{3,0,2,1}", false},
                         {"f32[59,600,75,32] -> f32[59,600,75,32]{3,0,2,1}", false},
                         {"f32[59,1000,301] -> f32[59,1000,301]{2,0,1}", false}}) {
    target.images_rows = false;
    EXPECT_EQ(scheduled(row.text, target).movement, Movement::row) << row.text;
    target.images_rows = true;
    EXPECT_EQ(scheduled(row.text, target).staging == Staging::images, row.images) << row.text;
  }
}

TEST(Rows, ArePutTogetherWhereArraysAreLarge) {
  Target target = streaming_target();
  target.reads_ahead_by_step = target.images_rows = true;
  const char* const text = "u16[31,16120,80] -> u16[31,16120,80]{2,0,1}";
  const int64_t both = 2 * 31 * 16120 * 160;
  target.imaging_bytes = both - 1;
  EXPECT_EQ(scheduled(text, target).staging, Staging::images);
  target.imaging_bytes = both;
  EXPECT_EQ(scheduled(text, target).movement, Movement::row);
}

TEST(Rows, OfTilesArePutTogetherWithARestWhereTheTargetBeginsBetweenLines) {
  const Target target = streaming_target();
  for (const char* const text : {"u8[315,262144] -> u8[315,262144]{1,0:T(8,128)}",
                                 "f32[3616,995] -> f32[3616,995]{1,0:T(16,16)}"}) {
    const IterationSpace space = simplified_space(text);
    EXPECT_EQ(schedule(space, target, CodeGoal::fast, false).staging, Staging::images) << text;
    EXPECT_EQ(schedule(space, target).movement, Movement::row) << text;
  }
}

TEST(Rows, BetweenLinesGoInTheOrderOfTheSource) {
  struct Row {
    const char* text;
    bool begins_line;
    int64_t nearest;  // bytes from a tile to the next one in the source
    bool images;
  };
  Target target = streaming_target();
  target.reads_ahead_by_step = true;
  for (const Row& row :
       {Row{"f32[161,1027,205] -> f32[161,1027,205]{2,0,1}", true, 820, false},
        Row{"u8[184,74,12,588] -> u8[184,74,12,588]{3,1,2,0}", true, 588, false},
        Row{"f32[284,2307,34] -> f32[284,2307,34]{2,0,1}", true, 136, false},
        Row{"f32[822,2760,17] -> f32[822,2760,17]{2,0,1}", true, 2 * 68, false},
        Row{"f32[1093,1807,15] -> f32[1093,1807,15]{2,0,1}", true, 0, true},  // short
        Row{"f32[800,600,80] -> f32[800,600,80]{2,0,1}", false, 3 * 320, false},
        Row{"f32[900,900,64] -> f32[900,900,64]{2,0,1}", false, 0, true}}) {
    const Schedule schedule =
        restride::schedule(simplified_space(row.text), target, CodeGoal::fast, row.begins_line);
    EXPECT_EQ(schedule.staging == Staging::images, row.images) << row.text;
    if (row.images) continue;
    const auto tile = schedule.space.loops.end() - schedule.tile_loops;
    EXPECT_EQ((tile - 1)->stride[1], row.nearest) << row.text;
  }
  target.reads_ahead_by_step = false;
  EXPECT_EQ(scheduled("f32[284,2307,34] -> f32[284,2307,34]{2,0,1}", target).staging,
            Staging::images);
}

TEST(Images, TakeLongRunsPieceByPieceWherePagesStayAtHand) {
  struct Row {
    const char* text;
    int64_t run;  // elements
  };
  for (const Row& row : {Row{"f32[16,2,94,30,64] -> f32[16,2,94,30,64]{1,2,3,0,4}", 2 * 94 * 30},
                         Row{"f32[64,71,15,128] -> f32[64,71,15,128]{1,2,0,3}", 71 * 15},
                         // Rows of a few lines; shorter pieces rather than none.
                         Row{"f32[128,136,40,90] -> f32[128,136,40,90]{1,2,0,3}", 136 * 40},
                         Row{"f32[39,129,2,32,16] -> f32[39,129,2,32,16]{0,3,4,2,1}", 39 * 32},
                         // Two thousand pages; rows of the source beside these.
                         Row{"f32[4,400,60,18,64] -> f32[4,400,60,18,64]{3,1,0,2,4}", 18 * 10 * 10},
                         Row{"f32[40,36,60,17,64] -> f32[40,36,60,17,64]{1,2,0,3,4}", 36 * 6},
                         // Rows of 112 columns, not of 104.
                         Row{"f32[54,53,9,7,224] -> f32[54,53,9,7,224]{3,0,2,1,4}", 7 * 27 * 2},
                         Row{"f32[54,53,9,7,208] -> f32[54,53,9,7,208]{3,0,2,1,4}", 7 * 27},
                         // Whole lines.
                         Row{"f32[60,32,3,64,40] -> f32[60,32,3,64,40]{2,3,1,0,4}", 3 * 64}}) {
    const Schedule schedule = scheduled(row.text, streaming_target());
    EXPECT_EQ(schedule.staging, Staging::images) << row.text;
    EXPECT_EQ(target_run_elements(schedule), row.run) << row.text;
  }
}

TEST(Transposes, TakeRowsOfSeveralDigitsThatMakeWholeLines) {
  struct Row {
    const char* text;
    int64_t run;  // elements; 0: images are made
  };
  for (const Row& row : {Row{"f32[20,64,39,33,32] -> f32[20,64,39,33,32]{0,1,2,3,4}", 80},
                         Row{"f32[24,54,39,33,32] -> f32[24,54,39,33,32]{0,1,2,3,4}", 48},
                         Row{"f32[8,8,336,28,80] -> f32[8,8,336,28,80]{3,0,4,2,1}", 112},
                         Row{"f64[12,200,20,160] -> f64[12,200,20,160]{2,0,1,3}", 40},
                         Row{"u16[40,300,24,96] -> u16[40,300,24,96]{2,0,1,3}", 192},
                         // More than a panel has room for; not the groups of rows that fill one.
                         Row{"u8[48,200,40,160] -> u8[48,200,40,160]{2,0,1,3}", 0},
                         Row{"f32[18,64,39,33,32] -> f32[18,64,39,33,32]{0,1,2,3,4}", 0},
                         // No whole lines; long ones.
                         Row{"f32[24,55,39,33,32] -> f32[24,55,39,33,32]{0,1,2,3,4}", 0},
                         Row{"f32[136,14,39,33,32] -> f32[136,14,39,33,32]{0,1,2,3,4}", 0},
                         // Columns of which parts of lines are left: many, few.
                         Row{"f32[40,64,7,42,72] -> f32[40,64,7,42,72]{0,1,2,3,4}", 80},
                         Row{"f32[40,64,7,72,40] -> f32[40,64,7,72,40]{0,1,2,3,4}", 0}}) {
    const Schedule schedule = scheduled(row.text, streaming_target());
    EXPECT_EQ(schedule.staging == Staging::images, row.run == 0) << row.text;
    if (row.run > 0) {
      EXPECT_EQ(target_run_elements(schedule), row.run) << row.text;
    }
  }
}

TEST(Transposes, TakeAsManyShortDigitsOfTheSourceAsMakeLanes) {
  struct Row {
    const char* text;
    int64_t columns;  // of all networks together; 0: digits go by themselves
  };
  for (const Row& row :
       {Row{"f32[256,128,9] -> f32[256,128,9]{0,1,2}", 36},
        Row{"f32[100,128,9] -> f32[100,128,9]{0,1,2}", 36},  // between lines
        Row{"f32[64,30,6] -> f32[64,30,6]{0,1,2}", 12},
        Row{"u16[256,128,9] -> u16[256,128,9]{0,1,2}", 72},
        Row{"u8[256,64,12] -> u8[256,64,12]{0,1,2}", 48},
        // They make lanes anyway, or are few of a lane.
        Row{"f32[256,128,8] -> f32[256,128,8]{0,1,2}", 0},
        Row{"u16[256,128,4] -> u16[256,128,4]{0,1,2}", 0},
        // Long ones; too many columns; a rest beside many.
        Row{"f32[256,128,17] -> f32[256,128,17]{0,1,2}", 0},
        Row{"f32[256,128,15] -> f32[256,128,15]{0,1,2}", 0},
        Row{"u8[256,128,9] -> u8[256,128,9]{0,1,2}", 0},
        Row{"u16[256,30,9] -> u16[256,30,9]{0,1,2}", 0},
        // Nothing goes on behind the first digit; too few of the second.
        Row{"f32[256,9] -> f32[256,9]{0,1}", 0}, Row{"f32[256,3,9] -> f32[256,3,9]{0,1,2}", 0},
        Row{"f32[256,128,9]{2,1,0:PAD(256,128,10;unknown)} -> "
            "f32[256,128,9]{0,1,2}",
            0}}) {
    Target target = target_of({"avx512_vbmi", Caches::hold_everything});
    target.l1_bytes = 32 * 1024;
    const Schedule schedule = scheduled(row.text, target);
    const int64_t bytes = schedule.space.op.bytes;
    const bool together = schedule.target_first &&
                          schedule.network_column_bytes == source_run_elements(schedule) * bytes &&
                          schedule.network_column_bytes != target.line_bytes;
    EXPECT_EQ(together ? source_run_elements(schedule) : 0, row.columns) << row.text;
  }
}

TEST(Transposes, GatherElementsThatLieApart) {
  const Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  expect_movements(
      {{"u8[70,133,1]{2,1,0:PAD(70,133,4;unknown)} -> u8[70,133,1]{0,1,2}", Movement::gather},
       {"f32[70,65,1]{2,1,0:PAD(70,65,8;unknown)} -> f32[70,65,1]{0,1,2}", Movement::gather},
       {"f32[70,65,1]{2,1,0:PAD(70,65,9;unknown)} -> f32[70,65,1]{0,1,2}",
        Movement::permute},  // few in a line
       {"f32[70,65] -> f32[70,65]{0,1}", Movement::transpose},
       {"f32[70,65,1]{2,1,0:PAD(70,65,2;unknown)} -> f32[70,65,1]", Movement::permute}},
      target);
}

TEST(Transposes, PermuteRowsOfNineToTwelveBytesThatTouch) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.transposed_column_bytes = 16;
  expect_movements({{"u8[960,8] -> u8[960,8]{0,1}", Movement::transpose},
                    {"u8[960,9] -> u8[960,9]{0,1}", Movement::permute},
                    {"u8[960,12] -> u8[960,12]{0,1}", Movement::permute},
                    {"u8[960,13] -> u8[960,13]{0,1}", Movement::transpose},
                    {"u16[960,6] -> u16[960,6]{0,1}", Movement::transpose}},
                   target);
  target.narrow_permute_steps = 3;
  expect_movements({{"u8[960,9] -> u8[960,9]{0,1}", Movement::transpose}}, target);
}

TEST(Transposes, PermuteFewWideElementsInTheCaches) {
  const Target cached = target_of({"avx512_vbmi", Caches::hold_everything});
  expect_movements({{"f64[720,2] -> f64[720,2]{0,1}", Movement::permute},
                    {"f64[2,720] -> f64[2,720]{0,1}", Movement::permute},
                    {"f64[5,720] -> f64[5,720]{0,1}", Movement::permute},
                    {"f64[720,5] -> f64[720,5]{0,1}", Movement::transpose},
                    {"f64[720,4] -> f64[720,4]{0,1}", Movement::transpose},
                    {"c128[2,720] -> c128[2,720]{0,1}", Movement::transpose}},
                   cached);
  expect_movements({{"f64[300000,2] -> f64[300000,2]{0,1}", Movement::permute}}, cached);
  Target streaming = cached;
  streaming.nontemporal = true;
  stream_beyond(streaming, 1 << 20);
  expect_movements({{"f64[300000,2] -> f64[300000,2]{0,1}", Movement::transpose}}, streaming);
}

TEST(Transposes, MayHaveATargetOfWhichNothingLiesSideBySide) {
  expect_movements({{"c128[1024,1030] -> c128[1024,1030] strides={48,49200}", Movement::transpose}},
                   target_of({"avx512_vbmi", Caches::hold_nothing}));
}

TEST(Computations, MakeWholeVectorsOfShortRowsAndGoOnBehindThem) {
  struct Row {
    const char* text;
    std::vector<int64_t> tile;
  };
  for (const Row& row : {Row{"add(u8[1000,3], u8[3] dims={1}) -> u8[1000,3]", {64, 3}},
                         Row{"add(f32[1000,7], f32[7] dims={1}) -> f32[1000,7]", {16, 7}},
                         Row{"add(u8[1000,12], u8[12] dims={1}) -> u8[1000,12]", {16, 12}},
                         // Long rows as they are.
                         Row{"add(u8[1000,99], u8[99] dims={1}) -> u8[1000,99]", {8, 99}},
                         // The source goes on behind pixels.
                         Row{"convert(u8[300,300,3]) -> f16[300,300,3]{2,0,1}", {21, 64, 3}}}) {
    const Schedule schedule =
        scheduled(row.text, target_of({"avx512_vbmi", Caches::hold_everything}));
    std::vector<int64_t> tile;
    const std::vector<Loop>& loops = schedule.space.loops;
    for (auto loop = loops.end() - schedule.tile_loops; loop != loops.end(); ++loop) {
      tile.push_back(loop->extent);
    }
    EXPECT_EQ(tile, row.tile) << row.text;
  }
}

TEST(Permutations, LoadWhatLiesBetweenShortRunsOfTheSource) {
  const Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  expect_movements(
      {{"u8[60,60,3]{2,1,0:PAD(60,60,4;unknown)} -> u8[60,60,3]{1,0,2}", Movement::permute},
       {"u8[60,60,4]{2,1,0:PAD(60,60,6;unknown)} -> u8[60,60,4]{1,2,0}", Movement::permute},
       {"u16[60,60,3]{2,1,0:PAD(60,60,4;unknown)} -> u16[60,60,3]{1,0,2}", Movement::permute},
       {"u16[60,60,4]{2,1,0:PAD(60,60,6;unknown)} -> u16[60,60,4]{1,0,2}", Movement::transpose}},
      target);
}

TEST(Permutations, OfTilesThatFollowEachOtherMakeImagesOfPages) {
  struct Row {
    const char* text;
    int64_t blocks;  // that leave together
  };
  for (const Row& row : {Row{"bf16[4096,4096] -> bf16[4096,4096]{1,0:T(8,128)(2,1)}", 32},
                         Row{"bf16[4090,4000] -> bf16[4090,4000]{1,0:T(8,128)(2,1)}", 32},
                         Row{"u8[4096,4096] -> u8[4096,4096]{1,0:T(8,128)(4,1)}", 16}}) {
    const IterationSpace space = simplified_space(row.text);
    const Schedule between = schedule(space, streaming_target(), CodeGoal::fast, false);
    EXPECT_EQ(between.movement, Movement::permute) << row.text;
    EXPECT_EQ(source_run_elements(between), row.blocks) << row.text << '\n' << to_string(between);
    EXPECT_EQ(source_run_elements(scheduled(row.text, streaming_target())), 1) << row.text;
  }
}

TEST(Transposes, GoOnInTheTargetWherePagesOfTheSourceDoNotStayAtHand) {
  struct Row {
    const char* text;
    int64_t tiles;  // before the source goes on
  };
  for (const Row& row : {Row{"f32[8192,8192] -> f32[8192,8192]{0,1}", 16},
                         Row{"f32[96,75,75,96] -> f32[96,75,75,96]{0,1,2,3}", 15},
                         Row{"f32[64,32,136,158] -> f32[64,32,136,158]{1,0,3,2}", 4},
                         // All rows of the target are.
                         Row{"f32[43408,1216] -> f32[43408,1216]{0,1}", 1},
                         Row{"f32[64,256,3768] -> f32[64,256,3768]{1,2,0}", 1},
                         Row{"f32[72,432,16,80] -> f32[72,432,16,80]{1,3,0,2}", 1}}) {
    EXPECT_EQ(tiles_between(scheduled(row.text, streaming_target())), row.tiles) << row.text;
  }
}

TEST(Transposes, ShiftRowsOfAnyLength) {
  struct Row {
    const char* text;
    int64_t rows;
  };
  for (const Row& row : {Row{"f32[219,264,752] -> f32[219,264,752]{0,1,2}", 219},
                         Row{"f32[1100,20000] -> f32[1100,20000]{0,1}", 1100},
                         // The longest, and as few as there can be.
                         Row{"f32[3000,7000] -> f32[3000,7000]{0,1}", 1024},
                         Row{"u8[12000,7000] -> u8[12000,7000]{0,1}", 4096}}) {
    EXPECT_EQ(target_run_elements(scheduled(row.text, streaming_target())), row.rows) << row.text;
  }
}

TEST(Transposes, GoOnBehindDigitsOfWideElementsThatLoopsCut) {
  struct Row {
    const char* text;
    Caches caches;
    int64_t columns;
  };
  for (const Row& row : {Row{"f64[128,8,30,20,12] -> f64[128,8,30,20,12]{0,1,3,2,4}",
                             Caches::hold_nothing, 2 * 8 * 6},
                         Row{"f64[128,8,30,20,12] -> f64[128,8,30,20,12]{0,1,3,2,4}",
                             Caches::hold_everything, 2 * 8},
                         Row{"f32[128,8,30,20,21] -> f32[128,8,30,20,21]{0,1,3,2,4}",
                             Caches::hold_nothing, 2 * 16}}) {
    Target target = target_of({"avx512_vbmi", row.caches});
    target.streamed_digits_bytes = 512;
    EXPECT_EQ(source_run_elements(scheduled(row.text, target)), row.columns) << row.text;
  }
}

TEST(Transposes, TakeAFewColumnsMoreRatherThanARest) {
  struct Row {
    const char* text;
    int64_t columns;
  };
  for (const Row& row : {Row{"f32[112,15,15,15,5,32] -> f32[112,15,15,15,5,32]{0,1,2,3,4,5}", 160},
                         Row{"f16[1,96,96,1600] -> f16[1,96,96,1600]{2,1,3,0}", 320},
                         // No lines; more than a quarter.
                         Row{"f16[2,224,224,267] -> f16[2,224,224,267]{2,1,3,0}", 256},
                         Row{"f32[48,28,28,4,352] -> f32[48,28,28,4,352]{0,1,2,3,4}", 128}}) {
    EXPECT_EQ(source_run_elements(scheduled(row.text, streaming_target())), row.columns)
        << row.text;
  }
}

/// How many kinds of tiles there are.
int64_t tiles(const nest::Block& block) {
  int64_t count = 0;
  for (const nest::Node& node : block) {
    const nest::For* loop = std::get_if<nest::For>(&node.statement);
    count += loop != nullptr ? tiles(loop->body) : 1;
  }
  return count;
}

TEST(Transposes, TakeColumnsOfAPanelThatAreLeftWithTheOthers) {
  for (const char* text : {"u8[32,2048,7,7] -> u8[32,2048,7,7]{1,3,2,0}",
                           "f16[32,1024,16,80] -> f16[32,1024,16,80]{1,2,3,0}"}) {
    EXPECT_EQ(tiles(lower(scheduled(text, streaming_target())).root), 1) << text;
  }
}

}  // namespace
}  // namespace restride::testing
