// Blocks that leave scratch by way of images of their columns, where vectors are half a line.
#include "select/imaged_block.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/planner.hpp"
#include "program/program.hpp"
#include "schedule/scheduling.hpp"
#include "support/each_block.hpp"
#include "support/sampling.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

constexpr int64_t line = 64;

/// A block of 48 columns, which are runs of the target 4 KB apart.
nest::Tile block_of_rows(int64_t rows) {
  return {nest::Work::compute, {{rows, {1, 48}}, {48, {4096, 1}}}};
}

TEST(ImagedBlocks, TakeAsManyColumnsAsThereIsRoomFor) {
  const auto all = imaged_block(block_of_rows(128), 1, line, 48 * (128 + line));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->parts.extent, 1);
  EXPECT_EQ(all->image_bytes, 48 * (128 + line));
  const auto some = imaged_block(block_of_rows(128), 1, line, 20 * (128 + line));
  ASSERT_TRUE(some);
  EXPECT_EQ(some->parts.extent, 3);  // of 16: all alike
  EXPECT_EQ(some->parts.stride[0], 16 * 4096);
  EXPECT_EQ(some->parts.stride[1], 16);
  EXPECT_EQ(some->image_bytes, 16 * (128 + line));
  EXPECT_FALSE(imaged_block(block_of_rows(128), 1, line, 128));
}

TEST(ImagedBlocks, LieRunByRunInTheImage) {
  const auto imaged = imaged_block(block_of_rows(128), 1, line, 16 * (128 + line));
  ASSERT_TRUE(imaged);
  ASSERT_EQ(imaged->to_image.sides.size(), 2u);
  EXPECT_EQ(imaged->to_image.sides[0].extent, 16);
  EXPECT_EQ(imaged->to_image.sides[0].stride[0], 128 + line);
  EXPECT_EQ(imaged->to_image.sides[0].stride[1], 1);
  EXPECT_EQ(imaged->to_image.sides[1].stride[0], 1);
  EXPECT_EQ(imaged->to_image.sides[1].stride[1], 48);
  ASSERT_EQ(imaged->to_target.sides.size(), 2u);
  EXPECT_EQ(imaged->to_target.sides[0].stride[0], 4096);
  EXPECT_EQ(imaged->to_target.sides[0].stride[1], 128 + line);
  EXPECT_EQ(imaged->to_target.sides[1].extent, 128);
}

TEST(ImagedBlocks, AreOfWholeLinesThatBeginAsLinesDo) {
  constexpr int64_t room = 32 * 1024;
  EXPECT_FALSE(imaged_block(block_of_rows(96), 1, line, room));
  EXPECT_TRUE(imaged_block(block_of_rows(192), 1, line, room));
  nest::Tile between = block_of_rows(128);
  between.sides[1].stride[0] = 4100;
  EXPECT_FALSE(imaged_block(between, 1, line, room));
  nest::Tile backwards = block_of_rows(128);
  backwards.sides[1].stride[0] = -4096;
  EXPECT_FALSE(imaged_block(backwards, 1, line, room));
  nest::Tile single_run = block_of_rows(128);
  single_run.sides.pop_back();
  EXPECT_FALSE(imaged_block(single_run, 1, line, room));
  nest::Tile filled = block_of_rows(128);
  filled.sides[1].filled = 1;
  EXPECT_FALSE(imaged_block(filled, 1, line, room));
  nest::Tile counting = block_of_rows(128);
  counting.sides[1].own.resize(1);
  EXPECT_FALSE(imaged_block(counting, 1, line, room));
}

TEST(ImagedBlocks, AreMadeWhereVectorsAreHalfALine) {
  const char* const packed = "u4[1024,256]{1,0:E(4)} -> u4[1024,256]{0,1:E(4)}";
  const char* const bytes = "u8[256,128,512] -> u8[256,128,512]{0,1,2}";
  const auto makes = [](const char* text, Target target) {
    target.l1_bytes = 32 * 1024;
    target.l3_bytes = 1 << 20;
    return scheduled(text, target).images_blocks;
  };
  for (const char* text : {packed, bytes}) {
    EXPECT_TRUE(makes(text, target_of({"avx2", Caches::hold_nothing}))) << text;
    EXPECT_TRUE(makes(text, target_of({"sse2", Caches::hold_nothing}))) << text;
    EXPECT_FALSE(makes(text, target_of({"avx512_vbmi", Caches::hold_nothing}))) << text;
  }
  // Columns in the caches whose halves of lines wait for each other.
  const Target caching = target_of({"avx2", Caches::hold_everything});
  EXPECT_TRUE(makes(bytes, caching));
  EXPECT_TRUE(makes("f32[1023,1025] -> f32[1023,1025]{0,1}", caching));
  EXPECT_TRUE(makes("u16[128,64,128] -> u16[128,64,128]{0,1,2}", caching));
  EXPECT_FALSE(makes("f32[768,1024] -> f32[768,1024]{0,1}", caching));  // in more sets
  EXPECT_FALSE(makes("f64[512,512] -> f64[512,512]{0,1}", caching));
  EXPECT_FALSE(makes(packed, caching));
  EXPECT_FALSE(makes("f32[1023,1025] -> f32[1023,1025]{0,1}",
                     target_of({"avx512_vbmi", Caches::hold_everything})));
}

/// Bytes of scratch of the program for a target on lines.
int64_t scratch_bytes(const char* text, const Target& target) {
  return on_lines(plan_programs(simplified_space(text), target)).operands.back().end;
}

TEST(ImagedBlocks, HaveRoomForTheirImages) {
  Target target = target_of({"avx2", Caches::hold_everything});
  target.l1_bytes = 32 * 1024;
  target.far_gather_bytes = int64_t{1} << 30;
  constexpr int64_t gathered = 16 * 1024;
  EXPECT_GT(scratch_bytes("f32[1023,1025] -> f32[1023,1025]{0,1}", target), gathered);
  EXPECT_EQ(scratch_bytes("f32[768,1024] -> f32[768,1024]{0,1}", target), gathered);
  // Runs around the caches that do not begin as lines do have none.
  target = target_of({"avx2", Caches::hold_nothing});
  constexpr int64_t mixed = 32 * 1024;
  EXPECT_GT(scratch_bytes("u4[1024,256]{1,0:E(4)} -> u4[1024,256]{0,1:E(4)}", target), mixed);
  EXPECT_EQ(scratch_bytes("u4[1032,256]{1,0:E(4)} -> u4[1032,256]{0,1:E(4)}", target), mixed);
}

TEST(ImagedBlocks, HaveLessOfEachRowWhereRunsGoOnAroundTheCaches) {
  const char* const bytes = "u8[256,128,512] -> u8[256,128,512]{0,1,2}";
  const auto columns = [&](const char* text, Caches caches) {
    Target target = target_of({"avx2", caches});
    target.l1_bytes = 32 * 1024;
    target.l3_bytes = 1 << 20;
    const Schedule schedule = scheduled(text, target);
    EXPECT_TRUE(schedule.images_blocks) << text;
    return schedule.space.loops.back().extent;
  };
  EXPECT_EQ(columns(bytes, Caches::hold_nothing), 128);
  EXPECT_EQ(columns(bytes, Caches::hold_everything), 256);
  EXPECT_EQ(columns("u8[128,128,512] -> u8[128,128,512]{0,1,2}", Caches::hold_nothing), 256);
}

TEST(ImagedBlocks, ComeToScratchForTargetsThatBeginAnywhereToo) {
  Target target = target_of({"avx2", Caches::hold_nothing});
  target.l1_bytes = 32 * 1024;
  target.l3_bytes = 1 << 20;
  const IterationSpace space = simplified_space("u8[256,128,512] -> u8[256,128,512]{0,1,2}");
  const std::vector<Program> programs = plan_programs(space, target);
  ASSERT_EQ(programs.size(), 2u);
  EXPECT_EQ(programs.back().operands[0].alignment, 1);
  EXPECT_EQ(programs.back().operands.back().role, program::Role::scratch);
}

TEST(ImagedBlocks, LeaveAroundTheCaches) {
  Target target = target_of({"avx2", Caches::hold_nothing});
  target.l1_bytes = 32 * 1024;
  target.l3_bytes = 1 << 20;
  for (const char* text : {"u4[1024,256]{1,0:E(4)} -> u4[1024,256]{0,1:E(4)}",
                           "u8[256,128,512] -> u8[256,128,512]{0,1,2}"}) {
    const Program program = on_lines(plan_programs(simplified_space(text), target));
    each_block(program.root, [&](const program::Block& block, int64_t) {
      for (const program::Op& op : block) {
        if (op.code != program::Code::store) continue;
        EXPECT_NE(program.operands[program.streams[op.stream]].role, program::Role::target) << text;
      }
    });
  }
}

/// Of any length, from where columns begin between lines.
TEST(ImagedBlocks, LeaveThroughTheCachesToo) {
  for (const char* features : {"sse2", "avx2"}) {
    Target target = target_of({features, Caches::hold_everything});
    target.l1_bytes = 32 * 1024;
    for (const int64_t far : {int64_t{1}, int64_t{1} << 30}) {
      target.far_gather_bytes = far;
      for (const char* text :
           {"f32[1023,257] -> f32[1023,257]{0,1}", "f32[1025,300] -> f32[1025,300]{0,1}",
            "f32[1024,256] -> f32[1024,256]{0,1}", "u16[2047,261] -> u16[2047,261]{0,1}",
            "u16[128,33,128] -> u16[128,33,128]{0,1,2}", "u8[4095,515] -> u8[4095,515]{0,1}",
            "u8[127,64,130] -> u8[127,64,130]{0,1,2}", "f32[64,64,64] -> f32[64,64,64]{0,1,2}"}) {
        if (!in_sample(features + std::string(text))) continue;
        const Report report = run_for(target, text);
        EXPECT_EQ(report.outcome, Outcome::passed) << features << ' ' << report.text;
      }
    }
  }
}

TEST(ImagedBlocks, MoveWholeBlocksAndWhatIsLeft) {
  for (const char* features : {"sse2", "avx2"}) {
    Target target = target_of({features, Caches::hold_nothing});
    target.l1_bytes = 32 * 1024;
    target.l3_bytes = 1 << 18;
    for (const char* text :
         {"u4[1024,256]{1,0:E(4)} -> u4[1024,256]{0,1:E(4)}",
          "s4[1536,400]{1,0:E(4)} -> s4[1536,400]{0,1:E(4)}",
          "u4[1100,258]{1,0:E(4)} -> u4[1100,258]{0,1:E(4)}",
          "u4[3,1024,136]{2,1,0:E(4)} -> u4[3,1024,136]{1,2,0:E(4)}",
          "u2[2048,512]{1,0:E(2)} -> u2[2048,512]{0,1:E(2)}",
          "u1[1024,1024]{1,0:E(1)} -> u1[1024,1024]{0,1:E(1)}",
          "u4[1024,192] -> u4[1024,192]{0,1:E(4)}", "u4[1024,256]{1,0:E(4)} -> u4[1024,256]{0,1}",
          "u4[1000,256]{1,0:E(4)} -> u4[1000,256]{0,1:E(4)PAD(1024,258;one)}",
          "u8[128,64,1024] -> u8[128,64,1024]{0,1,2}",
          "u8[256,64,1024] -> u8[256,64,1024]{0,1,2}"}) {
      if (!in_sample(features + std::string(text))) continue;
      const Report report = run_for(target, text);
      EXPECT_EQ(report.outcome, Outcome::passed) << features << ' ' << report.text;
    }
  }
}

}  // namespace
}  // namespace restride::testing
