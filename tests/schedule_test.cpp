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

struct Moved {
  const char* text;
  Movement movement;
};

void expect_movements(const std::vector<Moved>& rows, const Target& target) {
  for (const Moved& row : rows) {
    IterationSpace space = *iteration_space(*parse_problem(row.text));
    simplify(space);
    EXPECT_EQ(schedule(space, target).movement, row.movement) << row.text;
  }
}

TEST(Caches, KeepSetsOfL1FromBeingCrowded) {
  struct Row {
    const char* text;
    bool target_first;
    int64_t network_column_bytes;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  target.network_piece_bytes = 16;
  for (const Row& row :
       {Row{"f32[1000,130] -> f32[1000,130]{0,1}", true, 64},
        Row{"f32[1025,130] -> f32[1025,130]{0,1}", true, 32},
        Row{"f32[1024,129] -> f32[1024,129]{0,1}", true, 32},
        Row{"f32[1030,61] -> f32[1030,61]{0,1}", true, 32},  // just as many as there is room for
        Row{"f32[1040,61] -> f32[1040,61]{0,1}", true, 64},
        Row{"u16[1000,150] -> u16[1000,150]{0,1}", false, 16},
        Row{"u16[1025,150] -> u16[1025,150]{0,1}", true, 16},
        Row{"u8[2049,127] -> u8[2049,127]{0,1}", true, 16},
        Row{"u16[4095,64] -> u16[4095,64]{0,1}", true, 16},     // rows crowd a little
        Row{"u16[1024,150] -> u16[1024,150]{0,1}", false, 16},  // whole lines
        Row{"u16[257,256] -> u16[257,256]{0,1}", false, 16},    // rows of the source crowd, too
        Row{"u16[65,130] -> u16[65,130]{0,1}", false, 16}}) {   // all of it in L1
    IterationSpace space = *iteration_space(*parse_problem(row.text));
    simplify(space);
    const Schedule scheduled = schedule(space, target);
    EXPECT_EQ(scheduled.target_first, row.target_first) << row.text;
    EXPECT_EQ(scheduled.network_column_bytes, row.network_column_bytes) << row.text;
  }
}

TEST(Caches, KeepNarrowElementsFromCrowdingThem) {
  struct Row {
    const char* text;
    int64_t network_column_bytes;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  for (const Row& row :
       {Row{"u16[2049,65] -> u16[2049,65]{0,1}", 16},
        Row{"u16[1025,150] -> u16[1025,150]{0,1}", 16},
        // Whole lines: 16 columns have room, 8 do; all are in a lane anyway.
        Row{"u16[1024,200] -> u16[1024,200]{0,1}", 32},
        Row{"u16[2048,200] -> u16[2048,200]{0,1}", 16},
        Row{"u8[2048,128] -> u8[2048,128]{0,1}", 16}, Row{"u16[512,512] -> u16[512,512]{0,1}", 64},
        Row{"u8[64,512,16] -> u8[64,512,16]{0,1,2}", 32},
        Row{"u16[1000,150] -> u16[1000,150]{0,1}", 64}}) {
    IterationSpace space = *iteration_space(*parse_problem(row.text));
    simplify(space);
    EXPECT_EQ(schedule(space, target).network_column_bytes, row.network_column_bytes) << row.text;
  }
}

TEST(Caches, KeepColumnsFromCrowdingThemWithVectorsOfAnyWidth) {
  for (const char* features : {"avx512_vbmi", "avx2", "sse2", "neon"}) {
    Target target = target_of({features, Caches::hold_everything});
    target.l1_bytes = 48 * 1024;
    target.line_bytes = 64;
    IterationSpace space = *iteration_space(*parse_problem("f32[1024,129] -> f32[1024,129]{0,1}"));
    simplify(space);
    const Schedule crowded = schedule(space, target);
    EXPECT_TRUE(crowded.target_first) << features;
    EXPECT_EQ(crowded.network_column_bytes, 32) << features;
  }
}

TEST(Caches, AreFilledByLongRuns) {
  struct Row {
    const char* text;
    bool stores_runs, nontemporal;
  };
  Target target = streaming_target();
  target.streaming_bytes = int64_t{8} << 20;
  target.streaming_fill_bytes = int64_t{16} << 20;
  target.l2_bytes = int64_t{1} << 20;
  target.stored_run_bytes = 12 * 1024;
  target.run_fill_bytes = int64_t{24} << 20;
  for (const Row& row :
       {Row{"f32[] -> f32[1024,1024]", true, false},
        Row{"f32[64] -> f32[16,64,56,56] dims={1}", true, false},
        Row{"f32[64] -> f32[16,64,55,55] dims={1}", false, false},  // of 12 100 bytes
        Row{"f32[64] -> f32[8,64,56,56] dims={1}", false, false},   // L3 holds it
        Row{"f64[] -> f64[1280,1280]", true, false},
        Row{"c128[] -> c128[256,1024]", false, false},  // patterns of 16 bytes
        Row{"f32[] -> f32[512,512]", false, false},     // in L2
        Row{"f32[] -> f32[5,1024,1024]", true, false},  // around the caches otherwise
        Row{"f32[] -> f32[7,1024,1024]", false, true},
        Row{"f32[4096] -> f32[256,4096] dims={1}", false, false}}) {  // rows are copied
    IterationSpace space = *iteration_space(*parse_problem(row.text));
    simplify(space);
    const Schedule scheduled = schedule(space, target);
    EXPECT_EQ(scheduled.stores_runs, row.stores_runs) << row.text;
    EXPECT_EQ(scheduled.nontemporal, row.nontemporal) << row.text;
  }
}

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
        Row{"f64[64,20,20,160] -> f64[64,20,20,160]{0,2,3,1}", true},
        Row{"f32[32,32,32,160] -> f32[32,32,32,160]{0,1,2,3}", false},  // 128 bytes
        Row{"f32[1020,1600] -> f32[1020,1600]{0,1}", false},            // no whole lines
        Row{"f32[8192,160] -> f32[8192,160]{0,1}", false},              // 640 bytes apart
        Row{"u16[1056,1600] -> u16[1056,1600]{0,1}", false},
        Row{"u16[2048,2048] -> u16[2048,2048]{0,1}", true},  // crowd sets
        Row{"c128[512,512] -> c128[512,512]{0,1}", false}}) {
    IterationSpace space = *iteration_space(*parse_problem(row.text));
    simplify(space);
    EXPECT_EQ(schedule(space, target, CodeGoal::fast, false).shifts_runs, row.shifts_runs)
        << row.text;
    EXPECT_FALSE(schedule(space, target).shifts_runs) << row.text;
  }
}

TEST(Caches, LetPixelsBePermutedBeyondL1) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  expect_movements({{"u8[256,256,3] -> u8[256,256,3]{2,0,1}", Movement::permute},
                    {"f32[150,130,5] -> f32[150,130,5]{2,0,1}", Movement::permute},
                    {"f32[150,130,7] -> f32[150,130,7]{2,0,1}", Movement::row},  // two in a line
                    {"f32[50,40,3] -> f32[50,40,3]{2,0,1}", Movement::row},      // in L1
                    {"u8[64,64,3] -> u8[64,64,3]{2,0,1}", Movement::transpose},
                    {"u8[1000,31,3] -> u8[1000,31,3]{2,0,1}", Movement::transpose}},  // few
                   target);
}

TEST(Caches, KeepLinesOfRowsThatCrowdL1UntilTheyAreUsedUp) {
  struct Row {
    const char* text;
    int64_t rows;  // that are written before the source goes on
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  for (const Row& row : {Row{"f32[128,128,10] -> f32[128,128,10]{2,0,1}", 8},
                         Row{"f32[100,120,12] -> f32[100,120,12]{2,0,1}", 100},     // other sets
                         Row{"f32[128,128,16] -> f32[128,128,16]{2,0,1}", 128}}) {  // whole lines
    IterationSpace space = *iteration_space(*parse_problem(row.text));
    simplify(space);
    const std::vector<Loop> loops = schedule(space, target).space.loops;
    const auto column =
        std::find_if(loops.rbegin(), loops.rend(), [](const Loop& loop) { return loop.axis == 0; });
    int64_t rows = 1;
    for (auto loop = loops.rbegin(); loop != column; ++loop)
      rows *= loop->axis == 1 ? loop->extent : 1;
    EXPECT_EQ(rows, row.rows) << row.text;
  }
}

TEST(Caches, HoldTheLinesInWhichShortRowsGoOn) {
  struct Row {
    const char* text;
    int64_t columns;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  for (const Row& row : {Row{"f32[24,64,64] -> f32[24,64,64]{0,1,2}", 16},   // in two sets
                         Row{"f64[12,128,64] -> f64[12,128,64]{0,1,2}", 8},  // in one
                         Row{"u16[24,256,33] -> u16[24,256,33]{0,1,2}", 8},
                         // Twelve lines, for twelve ways.
                         Row{"u16[40,1024,12] -> u16[40,1024,12]{0,1,2}", 48},
                         // In all sets; whole lines; few columns; long rows.
                         Row{"f32[24,60,64] -> f32[24,60,64]{0,1,2}", 64},
                         Row{"f32[32,64,64] -> f32[32,64,64]{0,1,2}", 64},
                         Row{"f32[24,64,9] -> f32[24,64,9]{0,1,2}", 63},
                         Row{"f32[1023,150] -> f32[1023,150]{0,1}", 64}}) {
    EXPECT_EQ(source_run_elements(scheduled(row.text, target)), row.columns) << row.text;
  }
}

TEST(Caches, AreAskedForLinesOfAnyNumberOfRows) {
  // Counted one by one they would take an hour.
  expect_movements({{"f32[4000000000000,27]{1,0:PAD(4000000000000,32;zero)} -> "
                     "f32[4000000000000,27]",
                     Movement::row}},
                   target_of({"avx512_vbmi", Caches::hold_everything}));
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

TEST(Repeats, AreMadeFromScratchWhereTheSourceLiesAcross) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  expect_movements({{"u8[100,130] -> u8[130,100,2] dims={1,0}", Movement::gather},
                    {"u16[100,130] -> u16[130,100,3] dims={1,0}", Movement::gather},
                    {"u8[8,32,14,14] -> u8[8,14,2,14,2,32] dims={0,5,1,3}", Movement::gather},
                    // Few windows are joined; none; long runs of one element.
                    {"f64[100,130] -> f64[130,100,3] dims={1,0}", Movement::permute},
                    {"u8[100,130] -> u8[100,130,2] dims={0,1}", Movement::permute},
                    {"f32[100,130] -> f32[130,100,64] dims={1,0}", Movement::splat},
                    // Rows of half a line: joined to lines in scratch, but not in L1.
                    {"f32[300,8] -> f32[300,8,8] dims={0,2}", Movement::repeat},
                    {"f32[100,8] -> f32[100,8,8] dims={0,2}", Movement::row},
                    // Rows of lines, copied to each of their places.
                    {"f32[128,130] -> f32[20,130,128] dims={2,1}", Movement::repeat}},
                   target);
}

TEST(Repeats, WriteTheTargetInARowWhereTheyAloneDo) {
  struct Row {
    const char* text;
    bool repeats_innermost;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  for (const Row& row : {Row{"f32[256,256] -> f32[256,64,256] dims={0,2}", true},
                         Row{"f32[2000,256] -> f32[2000,4,256] dims={0,2}", true},
                         // Repetitions far apart: some rows of the source are kept in L1.
                         Row{"f32[64,25,100] -> f32[25,5,64,100] dims={2,0,3}", false},
                         Row{"f32[64,25,100] -> f32[5,64,25,100]{3,1,0,2} dims={1,2,3}", false}}) {
    const Schedule schedule = scheduled(row.text, target);
    ASSERT_EQ(schedule.movement, Movement::row) << row.text;
    const auto innermost = schedule.space.loops.end() - schedule.tile_loops - 1;
    EXPECT_EQ(innermost->stride[1] == 0, row.repeats_innermost) << row.text;
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
    IterationSpace space = *iteration_space(*parse_problem(row.text));
    simplify(space);
    const Schedule scheduled = schedule(space, target_of({"avx512_vbmi", Caches::hold_everything}));
    std::vector<int64_t> tile;
    const std::vector<Loop>& loops = scheduled.space.loops;
    for (auto loop = loops.end() - scheduled.tile_loops; loop != loops.end(); ++loop) {
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

TEST(Repeats, AreWrittenInLongerRunsBeyondTheSecondLevel) {
  struct Row {
    const char* text;
    int64_t run_bytes;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l2_bytes = 1 << 20;
  for (const Row& row : {Row{"u8[1024,64] -> u8[32,64,1024] dims={2,1}", 512},
                         Row{"u8[1024,64] -> u8[8,64,1024] dims={2,1}", 128},  // in L2
                         // No fill: what is read counts, too.
                         Row{"u8[1024,1024] -> u8[2,1024,1024] dims={2,1}", 128}}) {
    IterationSpace space = *iteration_space(*parse_problem(row.text));
    simplify(space);
    const Schedule scheduled = schedule(space, target);
    EXPECT_EQ(scheduled.movement, Movement::repeat) << row.text;
    EXPECT_EQ(scheduled.space.loops.back().extent, row.run_bytes) << row.text;
  }
}

/// How many tiles stand between two that lie as close as can be in the source.
int64_t tiles_between(const Schedule& schedule) {
  const std::vector<Loop>& loops = schedule.space.loops;
  const auto tile = loops.end() - schedule.tile_loops;
  const auto nearest = std::min_element(
      loops.begin(), tile, [](const Loop& a, const Loop& b) { return a.stride[1] < b.stride[1]; });
  int64_t tiles = 1;
  for (auto loop = nearest + 1; loop < tile; ++loop) tiles *= loop->extent;
  return tiles;
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

TEST(Caches, KeepSourcesWithGapsUntilTheyAreUsedUp) {
  struct Row {
    const char* text;
    bool soon;
  };
  for (const Row& row :
       {// The same line.
        Row{"u8[48,64,64,4]{3,2,1,0:T(8,64)} -> u8[48,64,64,4]{3,1,0,2}", true},
        Row{"bf16[4,120,100,16]{3,2,1,0:T(32)} -> bf16[4,120,100,16]{3,1,0,2}", true},
        // The next one; the same page, after 1080 and after 2160 others.
        Row{"bf16[4,120,100,16]{3,2,1,0:T(64)} -> bf16[4,120,100,16]{3,1,0,2}", false},
        Row{"f32[9,120,257,8]{3,2,1,0:T(16,128)} -> f32[9,120,257,8]{3,1,0,2}", false},
        Row{"f32[18,120,257,8]{3,2,1,0:T(16,128)} -> f32[18,120,257,8]{3,1,0,2}", true},
        // Longer runs.
        Row{"f32[18,120,257,64]{3,2,1,0:T(16,128)} -> f32[18,120,257,64]{3,1,0,2}", false}}) {
    const Schedule schedule = scheduled(row.text, target_of({"avx512", Caches::hold_nothing}));
    constexpr int64_t most = 16;
    EXPECT_EQ(tiles_between(schedule) <= most, row.soon) << row.text;
  }
}

}  // namespace
}  // namespace restride::testing
