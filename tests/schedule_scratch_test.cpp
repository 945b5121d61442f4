// Which transposes go by way of scratch, since rows of the source or columns of the target crowd
// sets of the caches, and what of them a block has. None of this changes what arrives.
#include <gtest/gtest.h>

#include <variant>
#include <vector>

#include "microkernel/emitter.hpp"
#include "plan/planner.hpp"
#include "schedule/scheduling.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"
#include "target/target.hpp"

namespace restride::testing {
namespace {

TEST(Caches, GetRowsThatCrowdThemByWayOfScratch) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 32 * 1024;
  expect_movements({{"u8[32,2048] -> u8[32,2048]{0,1}", Movement::gather},
                    {"u8[22,2048] -> u8[22,2048]{0,1}", Movement::transpose},  // eleven lines a set
                    {"u8[24,2048] -> u8[24,2048]{0,1}", Movement::gather},
                    {"u8[17,4096] -> u8[17,4096]{0,1}", Movement::gather},
                    {"u8[100,4097] -> u8[100,4097]{0,1}", Movement::gather},  // two lines a row
                    {"u8[100,4160] -> u8[100,4160]{0,1}", Movement::transpose},
                    {"u16[8,100,64] -> u16[8,100,64]{0,1,2}", Movement::transpose},  // few rows
                    {"u16[64,32,64] -> u16[64,32,64]{0,1,2}", Movement::gather},
                    {"u16[64,64,16] -> u16[64,64,16]{0,1,2}", Movement::gather},  // half lines
                    {"f32[24,1024] -> f32[24,1024]{0,1}", Movement::gather},
                    // A network takes fewer rows of wide elements, unless it leaves half a line or
                    // goes on along the target.
                    {"f32[32,512] -> f32[32,512]{0,1}", Movement::transpose},
                    {"f32[32,513] -> f32[32,513]{0,1}", Movement::gather},
                    {"f32[512,512] -> f32[512,512]{0,1}", Movement::gather},
                    {"c128[32,256] -> c128[32,256]{0,1}", Movement::gather},
                    {"f64[64,8,15,16] -> f64[64,8,15,16]{0,1,3,2}", Movement::transpose},
                    // Columns crowd them, too.
                    {"f64[64,8,64] -> f64[64,8,64]{0,1,2}", Movement::gather},
                    {"f64[32,16,128] -> f64[32,16,128]{0,1,2}", Movement::transpose}},
                   target);
  // Runs and rows of several digits; where the first digit of the target is all of its rows, the
  // next one is in runs of the source.
  expect_movements({{"u8[24,256,192,4] -> u8[24,256,192,4]{0,2,3,1}", Movement::gather},
                    {"u8[24,256,15,4] -> u8[24,256,15,4]{0,2,3,1}", Movement::transpose},
                    {"u8[8,64,24,256] -> u8[8,64,24,256]{0,1,2,3}", Movement::gather},
                    {"u16[8,512,64] -> u16[8,512,64]{0,2,1}", Movement::transpose}},
                   target);
  // Its ways hold all of them; there is none.
  target.l1_bytes = 128 * 1024;
  expect_movements({{"u8[32,2048] -> u8[32,2048]{0,1}", Movement::transpose}}, target);
  target.l1_bytes = 0;
  expect_movements({{"u8[32,2048] -> u8[32,2048]{0,1}", Movement::transpose}}, target);
}

/// Where the second level answers soon, only networks of bytes have so many rows that it does not.
TEST(Caches, GetRowsThatCrowdThemFromL2WhereThatIsNear) {
  struct Row {
    const char* text;
    bool rereads;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  for (const Row& row :
       {Row{"u8[32,4096] -> u8[32,4096]{0,1}", true}, Row{"u8[40,4096] -> u8[40,4096]{0,1}", false},
        Row{"u8[24,8,4096] -> u8[24,8,4096]{0,1,2}", false},  // of two digits
        Row{"u8[24,4096,8] -> u8[24,4096,8]{0,2,1}", true},
        Row{"u16[100,2048] -> u16[100,2048]{0,1}", true},
        Row{"f32[24,1024] -> f32[24,1024]{0,1}", true},
        // Columns of wide elements that would wait.
        Row{"f64[257,257] -> f64[257,257]{0,1}", true}}) {
    target.rereads_crowded_rows = false;
    EXPECT_EQ(scheduled(row.text, target).movement, Movement::gather) << row.text;
    target.rereads_crowded_rows = true;
    EXPECT_EQ(scheduled(row.text, target).movement == Movement::transpose, row.rereads) << row.text;
  }
  expect_movements({{"u8[64,4160] -> u8[64,4160]{0,1}", Movement::transpose}}, target);
}

TEST(Caches, GetRowsThatCrowdThemByWayOfScratchWhereTargetsBeginBetweenLines) {
  Target target = target_of({"avx512_vbmi", Caches::hold_nothing});
  target.l1_bytes = 32 * 1024;
  const char* const text = "u8[15,2048,8,30] -> u8[15,2048,8,30]{0,3,1,2}";
  const Schedule schedule = scheduled(text, target);
  EXPECT_EQ(schedule.movement, Movement::gather);
  EXPECT_FALSE(schedule.nontemporal);
}

/// Bytes whose rows are a power of two apart, by vectors that make no whole lines.
TEST(Caches, GetBytesThatShareSetsOfAllOfThemWhereHalvesOfLinesAreWritten) {
  Target target = target_of({"avx2", Caches::hold_nothing});
  target.l1_bytes = 32 * 1024;
  target.l3_bytes = 1 << 20;
  const auto images = [&](const char* text) {
    const Schedule schedule = scheduled(text, target);
    return schedule.movement == Movement::gather && schedule.nontemporal && schedule.images_blocks;
  };
  for (const bool gathers : {false, true}) {
    target.gathers_streamed_lines = gathers;
    EXPECT_TRUE(images("u8[128,64,1024] -> u8[128,64,1024]{0,1,2}"));
    EXPECT_FALSE(images("u8[128,32,1024] -> u8[128,32,1024]{0,1,2}"));  // 32 KB
    EXPECT_FALSE(images("u16[128,64,512] -> u16[128,64,512]{0,1,2}"));
  }
}

/// How far innermost loops go in the target.
std::vector<int64_t> innermost_steps(const program::Body& body) {
  std::vector<int64_t> found;
  for (const auto& item : body) {
    const auto* const loop = std::get_if<program::For>(&item);
    if (loop == nullptr) continue;
    const bool inner = std::holds_alternative<program::For>(loop->body.front());
    for (const program::Step& step : loop->steps) {
      if (!inner && step.stream == target_stream) found.push_back(step.stride);
    }
    const std::vector<int64_t> within = innermost_steps(loop->body);
    found.insert(found.end(), within.begin(), within.end());
  }
  return found;
}

/// What leaves scratch for columns whose lines meet in sets goes on along these.
TEST(Caches, AreWrittenByLinesOfPairsOfBytesWhereTheseComeFromScratch) {
  Target target = target_of({"avx2", Caches::hold_everything});
  target.l1_bytes = 32 * 1024;
  target.l2_bytes = 64 * 1024;
  const auto steps = [&](bool pairs) {
    target.pairs_meeting_lines = pairs;
    const IterationSpace space = simplified_space("u16[1024,2048] -> u16[1024,2048]{0,1}");
    return innermost_steps(on_lines(plan_programs(space, target)).root);
  };
  EXPECT_EQ(steps(true), std::vector<int64_t>{32});
  EXPECT_EQ(steps(false), std::vector<int64_t>{8 * 2048});
}

TEST(Caches, GetBlocksOfSeveralDigitsAsTheyLieInTheSource) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 32 * 1024;
  struct Walk {
    int64_t extent, source, target;
    bool operator==(const Walk&) const = default;
  };
  const auto tile_of = [&](const char* text) {
    const Schedule schedule = scheduled(text, target);
    std::vector<Walk> tile;
    for (auto loop = schedule.space.loops.end() - schedule.tile_loops;
         loop != schedule.space.loops.end(); ++loop)
      tile.push_back({loop->extent, loop->stride[1], loop->stride[0]});
    return tile;
  };
  EXPECT_EQ(tile_of("u8[24,256,192,4] -> u8[24,256,192,4]{0,2,3,1}"),
            (std::vector<Walk>{{24, 196608, 1}, {64, 4, 24}, {4, 1, 4608}}));
  // Of the target 16 rows, then two that are in runs of the source, then two that are not.
  EXPECT_EQ(tile_of("u8[16,128,128] -> u8[16,128,128]{0,1,2}"),
            (std::vector<Walk>{{16, 16384, 1}, {2, 256, 32}, {2, 128, 16}, {128, 1, 2048}}));
}

TEST(Caches, GetBlocksOfRowsThatCrowdThemAsTheyLieInTheSource) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  for (const char* text :
       {"u8[300,4096] -> u8[300,4096]{0,1}", "f32[300,1024] -> f32[300,1024]{0,1}"}) {
    const Schedule schedule = scheduled(text, target);
    const std::vector<Loop>& loops = schedule.space.loops;
    ASSERT_EQ(schedule.tile_loops, 2) << text;
    const Loop &rows = loops[loops.size() - 2], &columns = loops.back();
    EXPECT_EQ(columns.extent * columns.stride[1], 256) << text;
    EXPECT_EQ(rows.extent, 64) << text;
    EXPECT_EQ(rows.stride[1], 4096) << text;
  }
}

TEST(Caches, AreWrittenToByWayOfScratchWhereColumnsCrowdThem) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 32 * 1024;
  expect_movements({{"u8[4097,64] -> u8[4097,64]{0,1}", Movement::gather},
                    {"u8[2043,64] -> u8[2043,64]{0,1}", Movement::gather},
                    {"u8[1023,64] -> u8[1023,64]{0,1}", Movement::transpose},  // in four sets
                    {"u16[2049,65] -> u16[2049,65]{0,1}", Movement::gather},
                    {"u16[1025,65] -> u16[1025,65]{0,1}", Movement::transpose},
                    {"f32[1023,49] -> f32[1023,49]{0,1}", Movement::gather},
                    {"f32[1023,7] -> f32[1023,7]{0,1}", Movement::transpose},  // few columns
                    {"f32[1032,49] -> f32[1032,49]{0,1}", Movement::transpose},
                    {"f32[1024,49] -> f32[1024,49]{0,1}", Movement::transpose},  // whole lines
                    {"f32[2049,65] -> f32[2049,65]{0,1}", Movement::gather},
                    {"f64[513,130] -> f64[513,130]{0,1}", Movement::transpose},  // wide
                    // Short runs.
                    {"u8[33,4,31,64] -> u8[33,4,31,64]{0,1,2,3}", Movement::transpose}},
                   target);
  const Schedule schedule = scheduled("u16[2049,65] -> u16[2049,65]{0,1}", target);
  ASSERT_EQ(schedule.tile_loops, 2);
  const std::vector<Loop>& loops = schedule.space.loops;
  EXPECT_EQ(loops.back().stride[0], 2);
  EXPECT_EQ(loops.back().extent * loops.back().stride[0], 512);
  EXPECT_EQ(loops[loops.size() - 2].extent, 32);
}

TEST(Caches, AreWrittenToByWayOfScratchWhereStoresToColumnsWaitForEachOther) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  target.crowded_stores_wait = false;
  const std::vector<Moved> counted_by_lines = {
      {"u16[1025,128] -> u16[1025,128]{0,1}", Movement::gather},
      {"u8[1025,256] -> u8[1025,256]{0,1}", Movement::gather},
      {"u8[2049,66] -> u8[2049,66]{0,1}", Movement::gather}};
  std::vector<Moved> counted_by_networks = counted_by_lines;
  for (Moved& row : counted_by_networks) row.movement = Movement::transpose;
  expect_movements(counted_by_networks, target);
  target.crowded_stores_wait = true;
  expect_movements(counted_by_lines, target);
  // Rows that are no more crowded than others, or no whole lines; columns that are not.
  expect_movements({{"u16[1025,96] -> u16[1025,96]{0,1}", Movement::transpose},
                    {"u16[1026,150] -> u16[1026,150]{0,1}", Movement::transpose},
                    {"u8[1025,192] -> u8[1025,192]{0,1}", Movement::transpose},
                    {"u16[1100,128] -> u16[1100,128]{0,1}", Movement::transpose},
                    {"f32[1100,128] -> f32[1100,128]{0,1}", Movement::transpose}},
                   target);
}

TEST(Caches, GetFewColumnsByWayOfScratchWhereStoresToThemWaitForEachOther) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  const auto row_bytes = [&](const char* text) {
    const Schedule schedule = scheduled(text, target);
    EXPECT_EQ(schedule.movement, Movement::gather) << text;
    const Loop& columns = schedule.space.loops.back();
    return columns.extent * columns.stride[1];
  };
  const char* const whole_lines = "u16[64,64,64] -> u16[64,64,64]{0,1,2}";
  const char* const parts_of_lines = "u8[24,256,256] -> u8[24,256,256]{0,1,2}";
  target.crowded_stores_wait = false;
  EXPECT_EQ(row_bytes(whole_lines), 128);  // all there are
  EXPECT_EQ(row_bytes(parts_of_lines), 256);
  target.crowded_stores_wait = true;
  EXPECT_EQ(row_bytes(whole_lines), 16);
  EXPECT_EQ(row_bytes(parts_of_lines), 64);
  // In several sets; of wider elements.
  EXPECT_EQ(row_bytes("u8[64,64,64] -> u8[64,64,64]{0,2,1}"), 256);
  EXPECT_EQ(row_bytes("u16[24,128,256] -> u16[24,128,256]{0,2,1}"), 256);
  EXPECT_EQ(row_bytes("f32[64,32,64] -> f32[64,32,64]{0,1,2}"), 256);
}

}  // namespace
}  // namespace restride::testing
