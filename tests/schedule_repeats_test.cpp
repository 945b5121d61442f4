// How sources that repeat are moved: which movement, in which order, by which chunks. None of this
// changes what arrives.
#include <gtest/gtest.h>

#include <vector>

#include "plan/planner.hpp"
#include "schedule/scheduling.hpp"
#include "support/each_block.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"
#include "target/target.hpp"

namespace restride::testing {
namespace {

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

TEST(Repeats, OfRowsThatL1DoesNotHoldAreWrittenByChunks) {
  struct Row {
    const char* text;
    int64_t chunk;  // bytes
  };
  Target target = streaming_target();
  target.l1_bytes = 32 * 1024;
  target.l3_bytes = 32 << 20;
  for (const Row& row : {Row{"f32[6144] -> f32[24,6144] dims={1}", 8192},
                         Row{"f32[1000000] -> f32[16,1000000] dims={1}", 8192},
                         // Shorter rows stay whole.
                         Row{"f32[64,3072] -> f32[64,16,3072] dims={0,2}", 12288},
                         // Half of L1; L1 holds less; behind long runs.
                         Row{"u8[128,128] -> u8[192,128,128] dims={1,2}", 8192},
                         Row{"u8[12288] -> u8[192,12288] dims={1}", 12288},
                         Row{"u8[128,128] -> u8[1600,128,128] dims={1,2}", 16384}}) {
    const Schedule schedule = scheduled(row.text, target);
    EXPECT_EQ(target_run_elements(schedule) * schedule.space.op.bytes, row.chunk) << row.text;
  }
}

TEST(Repeats, WriteTheTargetInARowWhereTheyAloneDo) {
  struct Row {
    const char* text;
    bool repeats_innermost;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  for (const Row& row : {Row{"f32[256,256] -> f32[256,64,256] dims={0,2}", true},
                         Row{"f32[2000,256] -> f32[2000,8,256] dims={0,2}", true},
                         // Repetitions far apart: some rows of the source are kept in L1.
                         Row{"f32[64,25,100] -> f32[25,5,64,100] dims={2,0,3}", false},
                         Row{"f32[64,25,100] -> f32[5,64,25,100]{3,1,0,2} dims={1,2,3}", false}}) {
    const Schedule schedule = scheduled(row.text, target);
    ASSERT_EQ(schedule.movement, Movement::row) << row.text;
    const auto innermost = schedule.space.loops.end() - schedule.tile_loops - 1;
    EXPECT_EQ(innermost->stride[1] == 0, row.repeats_innermost) << row.text;
  }
}

TEST(Repeats, AreLoadedOnceForSeveralRows) {
  struct Row {
    const char* text;
    int64_t stores_of_load;
  };
  const Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  for (const Row& row :
       {Row{"f32[256] -> f32[64,256] dims={1}", 4}, Row{"f32[64] -> f32[64,64] dims={1}", 4},
        Row{"f32[32] -> f32[64,32] dims={1}", 8},    // as many as share a tile
        Row{"f32[272] -> f32[64,272] dims={1}", 1},  // too long for registers
        Row{"f32[64,256]{1,0:PAD(64,320;unknown)} -> f32[64,256]", 1}}) {
    int64_t loads = 0, stores = 0;
    const Program program = on_lines(plan_programs(simplified_space(row.text), target));
    each_block(program.root, [&](const program::Block& block, int64_t) {
      for (const program::Op& op : block) {
        loads += op.code == program::Code::load ? 1 : 0;
        stores += op.code == program::Code::store ? 1 : 0;
      }
    });
    EXPECT_EQ(stores, row.stores_of_load * loads) << row.text;
  }
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
    const Schedule schedule = scheduled(row.text, target);
    EXPECT_EQ(schedule.movement, Movement::repeat) << row.text;
    EXPECT_EQ(schedule.space.loops.back().extent, row.run_bytes) << row.text;
  }
}

TEST(Repeats, AreWrittenInLongerRunsThatBeginBetweenLines) {
  struct Row {
    const char* text;
    int64_t run;  // elements
  };
  Target target = streaming_target();
  target.repeats_large_blocks = true;
  for (const Row& row : {Row{"u8[1025,1024] -> u8[4,1024,1025] dims={2,1}", 1025 * 31},
                         Row{"f32[337,2550] -> f32[8,2550,337] dims={2,1}", 337 * 24},
                         Row{"u8[2051,1024] -> u8[2,1024,2051] dims={2,1}", 512},
                         // On lines.
                         Row{"u8[1024,1024] -> u8[4,1024,1024] dims={2,1}", 128}}) {
    const Schedule schedule = scheduled(row.text, target);
    EXPECT_EQ(schedule.movement, Movement::repeat) << row.text;
    EXPECT_EQ(target_run_elements(schedule), row.run) << row.text;
    const Report report = run_for(target, row.text);
    EXPECT_EQ(report.outcome, Outcome::passed) << report.text;
  }
  // In the caches rows stay apart.
  stream_beyond(target, int64_t{1} << 40);
  EXPECT_EQ(target_run_elements(scheduled("u8[1025,1024] -> u8[4,1024,1025] dims={2,1}", target)),
            512);
}

}  // namespace
}  // namespace restride::testing
