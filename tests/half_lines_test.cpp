// What is decided where vectors are half a line, or less of it.
#include <gtest/gtest.h>

#include <string>

#include "plan/planner.hpp"
#include "schedule/scheduling.hpp"
#include "space/iteration_space.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"
#include "support/stored_lines.hpp"

namespace restride::testing {
namespace {

TEST(Rows, OfBlocksOfTheTargetGoInItsOrder) {
  struct Row {
    const char* text;
    bool by_blocks;
  };
  for (const Row& row : {Row{"f32[512,3952] -> f32[512,3952]{1,0:T(16,16)}", true},
                         Row{"f32[513,3947] -> f32[513,3947]{1,0:T(16,16)}", true},
                         Row{"f32[512,4096] -> f32[512,4096]{1,0:T(16,128)}", true},
                         Row{"u8[64,50,247,64] -> u8[64,50,247,64]{3,0,2,1}", true},
                         // Longer rows, more of them, few blocks, blocks of the source.
                         Row{"f32[512,8192] -> f32[512,8192]{1,0:T(16,256)}", false},
                         Row{"f32[800,3952] -> f32[800,3952]{1,0:T(100,16)}", false},
                         Row{"f32[8192,160] -> f32[8192,160]{1,0:T(8,16)}", false},
                         Row{"f32[4096,320] -> f32[4096,320]{1,0:T(32,16)}", false},
                         // Other rows between one block and the next.
                         Row{"f32[8,50,247,16] -> f32[8,50,247,16]{3,1,0,2}", false},
                         Row{"f32[512,3952]{1,0:T(16,16)} -> f32[512,3952]", false}}) {
    for (const char* features : {"avx2", "avx512_vbmi"}) {
      Target target = target_of({features, Caches::hold_nothing});
      target.reads_ahead_by_step = true;
      const Schedule schedule = scheduled(row.text, target);
      ASSERT_EQ(schedule.movement, Movement::row) << row.text;
      // What comes after a tile lies right behind it in the target.
      const auto tile = schedule.space.loops.end() - schedule.tile_loops;
      const int64_t bytes = target_run_elements(schedule) * schedule.space.op.bytes;
      EXPECT_EQ((tile - 1)->stride[0] == bytes,
                row.by_blocks && *features == 'a' && target.vector_bytes < target.line_bytes)
          << features << ' ' << row.text;
    }
  }
}

/// One half around the caches and the other one through them would wait for memory.
TEST(Rows, StoreHalvesOfALineAlike) {
  for (const char* features : {"sse2", "avx2"}) {
    const Target target = target_of({features, Caches::hold_nothing});
    for (const char* text :
         {"f16[64,209] -> f16[64,209]{1,0:T(8,64)}", "u8[40,51] -> u8[40,51]{1,0:PAD(40,64;zero)}",
          "u8[40,1301] -> u8[40,1301]{1,0:PAD(40,1344;one)}",
          "f32[20,1001] -> f32[20,1001]{1,0:PAD(20,1024;one)}",
          "f32[20,201] -> f32[20,201]{1,0:PAD(20,208;zero)}",
          "f32[20,1000] -> f32[20,1000]{1,0:T(4,512)}",
          "f32[2,30,57]{1,2,0} -> f32[2,30,57]{2,1,0:T(16,1)}"}) {
      const Program program = on_lines(plan_programs(simplified_space(text), target));
      const StoredLines lines(program);
      EXPECT_FALSE(lines.around().empty()) << features << ' ' << text;
      EXPECT_TRUE(lines.through().empty()) << features << ' ' << text;
    }
    // What is behind the rows of a target without padding there.
    const Program program = on_lines(plan_programs(
        simplified_space("f32[20,1001] -> f32[20,1001]{1,0:PAD(20,1024;unknown)}"), target));
    const StoredLines lines(program);
    EXPECT_EQ(lines.through().size(), 20u) << features;
    EXPECT_EQ(lines.both(), 0) << features;
  }
}

/// Padding beside what networks move to a part of a line, which goes through the caches.
TEST(Transposes, StoreNoLineBothWays) {
  for (const Target& known : known_targets()) {
    // Shorter vectors leave one way or the other at the ends of boxes.
    if (!known.nontemporal || known.vector_bytes < 32) continue;
    const Target target = target_of({known.name, Caches::hold_nothing});
    for (const char* text : {"f64[2,300] -> f64[2,300]{0,1:PAD(4,300;zero)}",
                             "f64[4,300] -> f64[4,300]{0,1:PAD(8,300;zero)}",
                             "f64[4,300] -> f64[4,300]{0,1:PAD(16,300;zero)}",
                             "f64[12,4,30,30] -> f64[12,4,30,30]{1,3,2,0:PAD(12,8,30,30;zero)}",
                             "f64[64,4,5,5] -> f64[64,4,5,5]{3,2,1,0:T(8,8,1,1)}",
                             "f64[83,4,3,3] -> f64[83,4,3,3]{3,2,1,0:T(16,16,1,1)}",
                             "u16[16,539] -> u16[16,539]{0,1:PAD(128,539;zero)}"}) {
      const StoredLines lines(on_lines(plan_programs(simplified_space(text), target)));
      EXPECT_EQ(lines.both(), 0) << known.name << ' ' << text;
    }
  }
}

TEST(Transposes, StorePaddingAroundTheCachesWhereItSharesNoLineWithOthersThatDoNot) {
  // Staged rows of two vectors.
  const StoredLines staged(
      on_lines(plan_programs(simplified_space("f64[4,320] -> f64[4,320]{0,1:PAD(8,320;zero)}"),
                             target_of({"sse2", Caches::hold_nothing}))));
  EXPECT_FALSE(staged.around().empty());
  EXPECT_TRUE(staged.through().empty());
  // Lines of padding alone, and parts of lines.
  for (const char* text : {"f64[4,300] -> f64[4,300]{0,1:PAD(64,300;zero)}",
                           "f64[4,300] -> f64[4,300]{0,1:PAD(16,300;zero)}"}) {
    const StoredLines lines(
        on_lines(plan_programs(simplified_space(text), target_of({"avx2", Caches::hold_nothing}))));
    const int64_t line_of_row = std::string(text).find("64,300") == std::string::npos ? 2 : 8;
    for (const int64_t line : lines.around()) EXPECT_GT(line % line_of_row, 1) << text;
    EXPECT_EQ(lines.around().empty(), line_of_row == 2) << text;
  }
}

/// With their padding rows of a part of a line are whole ones.
TEST(Transposes, StoreRowsWithTheirPadding) {
  const Target target = target_of({"avx512_vbmi", Caches::hold_nothing});
  for (const char* text : {"f64[4,300] -> f64[4,300]{0,1:PAD(8,300;zero)}",
                           "f32[8,300] -> f32[8,300]{0,1:PAD(16,300;zero)}",
                           "f64[12,4,30,30] -> f64[12,4,30,30]{1,3,2,0:PAD(12,8,30,30;zero)}"}) {
    const StoredLines lines(on_lines(plan_programs(simplified_space(text), target)));
    EXPECT_FALSE(lines.around().empty()) << text;
    EXPECT_TRUE(lines.through().empty()) << text;
  }
}

TEST(Permutations, TakeElementsThatFillALaneByHalvesWhereVectorsAreHalfALine) {
  struct Row {
    const char* text;
    bool halves;
  };
  for (const Row& row : {Row{"c128[100,200] -> c128[100,200]{0,1}", true},
                         Row{"f32[200,400] -> f32[200,400]{1,0:T(8,4)}", true},
                         Row{"c128[100,200] -> c128[100,200]{0,1:PAD(104,200;zero)}", true},
                         // Padding whose halves differ, rows that are copied, what is narrower, or
                         // would not leave around the caches any more.
                         Row{"c128[100,200] -> c128[100,200]{0,1:PAD(104,200;one)}", false},
                         Row{"c128[5,201,301] -> c128[5,201,301]{0,1,2}", false},
                         Row{"c128[100,10,200] -> c128[100,10,200]{2,0,1}", false},
                         Row{"f64[100,200] -> f64[100,200]{0,1}", false}}) {
    for (const char* features : {"avx2", "avx512_vbmi"}) {
      for (const Caches caches : {Caches::hold_nothing, Caches::hold_everything}) {
        const IterationSpace space = simplified_space(row.text);
        const Schedule made = schedule(space, target_of({features, caches}));
        const bool half_lines = std::string(features) == "avx2" && caches == Caches::hold_nothing;
        EXPECT_EQ(made.space.op.bytes < space.op.bytes, row.halves && half_lines)
            << features << ' ' << row.text;
      }
    }
  }
}

TEST(Permutations, TakeElementsThatFillALaneByHalvesWhereRowsHaveThree) {
  struct Row {
    const char* text;
    bool halves;
  };
  for (const Row& row : {Row{"c128[3,200] -> c128[3,200]{0,1}", true},
                         Row{"c128[20,3,200] -> c128[20,3,200]{1,2,0}", true},
                         Row{"c128[3,200] -> c128[3,200]{0,1:PAD(3,208;zero)}", true},
                         // Padding whose halves differ, other rows, what is narrower.
                         Row{"c128[3,200] -> c128[3,200]{0,1:PAD(3,208;one)}", false},
                         Row{"c128[5,200] -> c128[5,200]{0,1}", false},
                         Row{"c128[200,3] -> c128[200,3]{0,1}", false},
                         Row{"f64[3,200] -> f64[3,200]{0,1}", false}}) {
    for (const Caches caches : {Caches::hold_nothing, Caches::hold_everything}) {
      const IterationSpace space = simplified_space(row.text);
      const Schedule made = schedule(space, target_of({"avx512_vbmi", caches}));
      EXPECT_EQ(made.space.op.bytes < space.op.bytes, row.halves) << row.text;
      if (!row.halves) continue;
      EXPECT_EQ(made.movement, Movement::permute) << row.text;
    }
    const Schedule made =
        schedule(simplified_space(row.text), target_of({"avx2", Caches::hold_everything}));
    EXPECT_EQ(made.space.op.bytes, simplified_space(row.text).op.bytes) << row.text;
  }
}

}  // namespace
}  // namespace restride::testing
