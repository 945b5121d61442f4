// What caches of a given size and shape make a schedule do: which blocks their sets have room for,
// and what goes around them. None of this changes what arrives.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "schedule/block_sizes.hpp"
#include "schedule/scheduling.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"
#include "target/target.hpp"

namespace restride::testing {
namespace {

TEST(Caches, KeepSetsOfL1FromBeingCrowded) {
  struct Row {
    const char* text;
    bool target_first;
    int64_t network_column_bytes;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  target.network_piece_bytes = 16;
  target.skews_rows = false;
  for (const Row& row :
       {Row{"f32[1000,130] -> f32[1000,130]{0,1}", true, 64},
        Row{"f32[1025,130] -> f32[1025,130]{0,1}", true, 32},
        Row{"f32[1024,129] -> f32[1024,129]{0,1}", true, 32},
        Row{"f32[1030,61] -> f32[1030,61]{0,1}", true, 32},  // just as many as there is room for
        Row{"f32[1040,61] -> f32[1040,61]{0,1}", true, 64},
        Row{"u16[1000,150] -> u16[1000,150]{0,1}", false, 16},
        Row{"u16[1025,150] -> u16[1025,150]{0,1}", true, 16},
        Row{"u8[2049,127] -> u8[2049,127]{0,1}", true, 16},
        Row{"u16[4095,64] -> u16[4095,64]{0,1}", true, 16},    // rows crowd a little
        Row{"u16[1024,150] -> u16[1024,150]{0,1}", true, 16},  // whole lines
        Row{"u16[257,256] -> u16[257,256]{0,1}", false, 16},   // rows of the source crowd, too
        Row{"u16[65,130] -> u16[65,130]{0,1}", false, 16}}) {  // all of it in L1
    const Schedule schedule = scheduled(row.text, target);
    EXPECT_EQ(schedule.target_first, row.target_first) << row.text;
    EXPECT_EQ(schedule.network_column_bytes, row.network_column_bytes) << row.text;
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
        // A lane leaves a short rest; rows do not stay; columns share lines.
        Row{"u16[64,32,16] -> u16[64,32,16]{0,1,2}", 16},
        Row{"u8[64,64,20] -> u8[64,64,20]{0,1,2}", 32},
        Row{"u16[512,32,16] -> u16[512,32,16]{0,1,2}", 64},
        Row{"u16[96,8,6,10] -> u16[96,8,6,10]{1,3,0,2}", 64},
        Row{"u8[64,512,16] -> u8[64,512,16]{0,1,2}", 32},
        Row{"u16[1000,150] -> u16[1000,150]{0,1}", 64}}) {
    EXPECT_EQ(scheduled(row.text, target).network_column_bytes, row.network_column_bytes)
        << row.text;
  }
}

TEST(Caches, KeepColumnsInNarrowNetworksWhereStoresToThemWaitForEachOther) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  // Rows of the source do not stay meanwhile.
  const char* const text = "u16[2048,128] -> u16[2048,128]{0,1}";
  target.crowded_stores_wait = false;
  EXPECT_EQ(scheduled(text, target).network_column_bytes, 64);
  target.crowded_stores_wait = true;
  EXPECT_EQ(scheduled(text, target).network_column_bytes, 16);
}

TEST(Caches, KeepWideElementsFromFillingThem) {
  struct Row {
    const char* text;
    int64_t network_column_bytes;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 32 * 1024;
  for (const Row& row : {// Eight columns fill a set, four do not; of pitches of 2 KB eight do not.
                         Row{"f32[1024,300] -> f32[1024,300]{0,1}", 16},
                         Row{"f32[512,500] -> f32[512,500]{0,1}", 32},
                         // Rows of the source, 1 KB apart, are gone before their lines are used up.
                         Row{"f32[1024,256] -> f32[1024,256]{0,1}", 32},
                         Row{"f64[1024,300] -> f64[1024,300]{0,1}", 32},
                         Row{"f64[256,300] -> f64[256,300]{0,1}", 64},
                         Row{"f64[1024,128] -> f64[1024,128]{0,1}", 64},
                         Row{"c128[256,300] -> c128[256,300]{0,1}", 64},
                         // Between lines: six lines in a set, four; columns that share lines.
                         Row{"f32[1030,61] -> f32[1030,61]{0,1}", 16},
                         Row{"f32[515,1000] -> f32[515,1000]{0,1}", 32},
                         Row{"f32[7,25,5,255] -> f32[7,25,5,255]{2,3,1,0}", 64}}) {
    EXPECT_EQ(scheduled(row.text, target).network_column_bytes, row.network_column_bytes)
        << row.text;
  }
}

TEST(Caches, KeepColumnsFromCrowdingThemWithVectorsOfAnyWidth) {
  for (const char* features : {"avx512_vbmi", "avx2", "sse2", "neon"}) {
    Target target = target_of({features, Caches::hold_everything});
    target.l1_bytes = 48 * 1024;
    target.line_bytes = 64;
    const Schedule crowded = scheduled("f32[1024,129] -> f32[1024,129]{0,1}", target);
    EXPECT_TRUE(crowded.target_first) << features;
    EXPECT_EQ(crowded.network_column_bytes, 32) << features;
  }
}

TEST(Caches, TakeNarrowVectorsInL1WhereTheProcessorMovesHalves) {
  struct Row {
    const char* text;
    int vector_bytes;
    int64_t network_column_bytes;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 32 * 1024;
  target.l1_vector_bytes = 32;
  target.network_piece_bytes = 32;
  for (const Row& row :
       {Row{"u8[64,64] -> u8[64,64]{0,1}", 32, 32}, Row{"u16[64,64] -> u16[64,64]{0,1}", 32, 32},
        Row{"f32[48,64] -> f32[48,64]{0,1}", 32, 32},
        Row{"u8[8,8,8,8] -> u8[8,8,8,8]{0,1,2,3}", 32, 32},      // half of a digit, too
        Row{"f32[16,16] -> f32[16,16]{0,1}", 64, 64},            // hardly anything
        Row{"f32[6,5,16,8] -> f32[6,5,16,8]{1,2,3,0}", 64, 64},  // five of eight, 15 of 16
        Row{"u8[1104,13] -> u8[1104,13]{0,1}", 64, 32},          // short rows of the source
        Row{"f64[32,32] -> f64[32,32]{0,1}", 64, 64},            // lanes are halves already
        Row{"u8[192,192] -> u8[192,192]{0,1}", 64, 32}}) {       // beyond L1
    const Schedule schedule = scheduled(row.text, target);
    EXPECT_EQ(schedule.vector_bytes, row.vector_bytes) << row.text;
    EXPECT_EQ(schedule.network_column_bytes, row.network_column_bytes) << row.text;
  }
}

TEST(Caches, AreFilledByLongRuns) {
  struct Row {
    const char* text;
    bool stores_runs, nontemporal;
  };
  Target target = streaming_target();
  target.streaming_bytes = int64_t{8} << 20;
  target.streaming_fill_bytes = target.streaming_repeat_bytes = target.streaming_page_repeat_bytes =
      int64_t{16} << 20;
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
    const Schedule schedule = scheduled(row.text, target);
    EXPECT_EQ(schedule.stores_runs, row.stores_runs) << row.text;
    EXPECT_EQ(schedule.nontemporal, row.nontemporal) << row.text;
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

TEST(Caches, LetShortRowsBeCopiedThroughMasks) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  target.l2_bytes = 256 * 1024;
  const auto expect = [&](const char* text, Movement movement) {
    expect_movements({{text, movement}}, target);
  };
  expect("u16[31,7,14] -> u16[31,7,14]{2,0,1}", Movement::row);
  expect("u16[128,256,11] -> u16[128,256,11]{2,0,1}", Movement::row);
  // Few make whole lines; not beyond L2; rows share windows; they repeat.
  expect("u8[8,31,100,24] -> u8[8,31,100,24]{3,0,1,2}", Movement::permute);
  expect("u8[4,7,20,24] -> u8[4,7,20,24]{3,0,1,2}", Movement::row);
  expect("f32[1000,3]{1,0:PAD(1000,4;unknown)} -> f32[1000,3]", Movement::permute);
  expect("f32[16,64,2,3] -> f32[16,64,2,3]{3,1,2,0}", Movement::permute);
  expect("u16[31,14] -> u16[31,7,14] dims={0,2}", Movement::permute);
  target.byte_masks = false;
  expect("u16[31,7,14] -> u16[31,7,14]{2,0,1}", Movement::permute);
}

TEST(Caches, KeepLinesOfRowsThatCrowdL1UntilTheyAreUsedUp) {
  struct Row {
    const char* text;
    int64_t rows;  // that are written before the source goes on
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  for (const Row& row : {Row{"f32[128,128,10] -> f32[128,128,10]{2,0,1}", 8},
                         Row{"f32[100,120,12] -> f32[100,120,12]{2,0,1}", 100},  // other sets
                         Row{"f32[128,128,16] -> f32[128,128,16]{2,0,1}", 128},  // whole lines
                         // The source comes back to a line after 496 rows; after 128.
                         Row{"f32[16,31,40,6] -> f32[16,31,40,6]{3,1,0,2}", 32},
                         Row{"f32[4,32,40,6] -> f32[4,32,40,6]{3,1,0,2}", 128}}) {
    const std::vector<Loop> loops = scheduled(row.text, target).space.loops;
    const auto column =
        std::find_if(loops.rbegin(), loops.rend(), [](const Loop& loop) { return loop.axis == 0; });
    int64_t rows = 1;
    for (auto loop = loops.rbegin(); loop != column; ++loop)
      rows *= loop->axis == 1 ? loop->extent : 1;
    EXPECT_EQ(rows, row.rows) << row.text;
  }
}

/// Extents of the two loops of a block that comes to scratch, inside out: the first one makes runs
/// of what lies there.
std::vector<int64_t> gathered_block(const char* text, const Target& target) {
  const Schedule schedule = scheduled(text, target);
  if (schedule.movement != Movement::gather) return {};
  const std::vector<Loop>& loops = schedule.space.loops;
  return {loops.back().extent, loops[loops.size() - 2].extent};
}

TEST(Caches, TakeImagesOfWideColumnsThatWouldWait) {
  struct Row {
    const char* text;
    std::vector<int64_t> block;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 32 * 1024;
  const std::vector<int64_t> eights{64, 32}, sixteens{32, 32}, rows{32, 64}, none;
  for (const Row& row : {Row{"f64[513,513] -> f64[513,513]{0,1}", eights},
                         Row{"f64[257,769] -> f64[257,769]{0,1}", eights},
                         Row{"f64[511,1023] -> f64[511,1023]{0,1}", eights},
                         Row{"c128[257,513] -> c128[257,513]{0,1}", sixteens},
                         // Rows that are longer by two, or than half a page; shorter than half.
                         Row{"f64[514,514] -> f64[514,514]{0,1}", none},
                         Row{"c128[129,385] -> c128[129,385]{0,1}", none},
                         Row{"f64[255,255] -> f64[255,255]{0,1}", none},
                         // Of one operand alone: rows of the source come to scratch, or nothing.
                         Row{"f64[500,513] -> f64[500,513]{0,1}", rows},
                         Row{"f64[513,500] -> f64[513,500]{0,1}", none},
                         // Short runs of either.
                         Row{"f64[63,63]{1,0:PAD(63,257;unknown)} -> "
                             "f64[63,63]{0,1:PAD(257,63;unknown)}",
                             none}}) {
    EXPECT_EQ(gathered_block(row.text, target), row.block) << row.text;
  }
}

TEST(Caches, GetLargerBlocksOfLargeArraysByWayOfScratch) {
  struct Row {
    const char* text;
    std::vector<int64_t> block;
  };
  for (const char* features : {"avx2", "avx512_vbmi"}) {
    Target target = target_of({features, Caches::hold_everything});
    target.l1_bytes = 32 * 1024;
    target.far_gather_bytes = 1 << 20;
    for (const Row& row : {Row{"f32[512,512] -> f32[512,512]{0,1}", {64, 128}},
                           Row{"u8[1024,2048] -> u8[1024,2048]{0,1}", {256, 128}},
                           Row{"f64[512,512] -> f64[512,512]{0,1}", {32, 128}},
                           // Columns in more sets.
                           Row{"c128[512,512] -> c128[512,512]{0,1}", {16, 64}},
                           Row{"f32[400,1024] -> f32[400,1024]{0,1}", {64, 64}}}) {
      EXPECT_EQ(gathered_block(row.text, target), row.block) << features << ' ' << row.text;
    }
    const std::vector<int64_t> smaller{64, 64};
    target.far_gather_bytes = (2 << 20) + 1;
    EXPECT_EQ(gathered_block("f32[512,512] -> f32[512,512]{0,1}", target), smaller);
  }
}

TEST(Caches, HoldWideColumnsThatWouldWaitForAQuarterMore) {
  Target target = streaming_target();
  target.transposed_streaming_bytes = 4 << 20;
  target.streaming_bytes = 8 << 20;
  EXPECT_FALSE(scheduled("f64[513,513] -> f64[513,513]{0,1}", target).nontemporal);
  EXPECT_TRUE(scheduled("f64[513,769] -> f64[513,769]{0,1}", target).nontemporal);
  EXPECT_TRUE(scheduled("f64[512,513] -> f64[512,513]{0,1}", target).nontemporal);
  target.streaming_bytes = 4 << 20;
  EXPECT_TRUE(scheduled("f64[513,513] -> f64[513,513]{0,1}", target).nontemporal);
}

TEST(Caches, HoldTheLinesInWhichShortRowsGoOn) {
  struct Row {
    const char* text;
    int64_t columns;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  for (const Row& row : {Row{"f32[24,64,60] -> f32[24,64,60]{0,1,2}", 16},   // in two sets
                         Row{"f64[12,128,64] -> f64[12,128,64]{0,1,2}", 8},  // in one
                         Row{"u16[24,256,33] -> u16[24,256,33]{0,1,2}", 8},
                         // Eleven lines, for twelve ways.
                         Row{"u16[40,1024,11] -> u16[40,1024,11]{0,1,2}", 44},
                         // In all sets; whole lines; few columns; long rows.
                         Row{"f32[24,60,64] -> f32[24,60,64]{0,1,2}", 64},
                         Row{"f32[32,64,60] -> f32[32,64,60]{0,1,2}", 64},
                         Row{"f32[24,64,15] -> f32[24,64,15]{0,1,2}", 60},
                         Row{"f32[1023,150] -> f32[1023,150]{0,1}", 64}}) {
    EXPECT_EQ(source_run_elements(scheduled(row.text, target)), row.columns) << row.text;
  }
}

TEST(Caches, KeepThreeQuartersOfLinesOfCrowdedRows) {
  struct Row {
    int64_t l1_bytes;
    int64_t narrow, wide;
  };
  for (const Row& row : {Row{48 * 1024, 512, 256}, Row{32 * 1024, 256, 128}, Row{0, 64, 32}}) {
    Target target;
    target.l1_bytes = row.l1_bytes;
    EXPECT_EQ(crowded_rows(target, 1), row.narrow) << row.l1_bytes;
    EXPECT_EQ(crowded_rows(target, 4), row.wide) << row.l1_bytes;
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
