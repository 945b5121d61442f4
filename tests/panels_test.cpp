// How wide panels of transposes that stream are, where vectors are parts of lines, and whether they
// come in while others leave.
#include <gtest/gtest.h>

#include <string>

#include "plan/planner.hpp"
#include "schedule/scheduling.hpp"
#include "support/asked_lines.hpp"
#include "support/sampling.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

/// Everything streams.
Target streaming(const char* features, int64_t l1_bytes) {
  Target target = target_of({features, Caches::hold_nothing});
  target.l1_bytes = l1_bytes;
  target.shifted_touching_run_bytes = 512;
  target.spreads_runs = false;
  return target;
}

constexpr int64_t l1_of_32_kb = 32 * 1024;

Program planned(const char* text, const char* features) {
  return on_lines(plan_programs(simplified_space(text), streaming(features, l1_of_32_kb)));
}

int64_t scratch_bytes(const Program& program) {
  const program::Operand& last = program.operands.back();
  return last.role == program::Role::scratch ? last.end : 0;
}

TEST(Panels, AreAsWideAsLinesWhereRowsCrowdSets) {
  struct Row {
    const char* features;
    const char* text;
    bool wide;
  };
  for (const Row& row : {Row{"avx2", "f32[4096,4096] -> f32[4096,4096]{0,1}", true},
                         Row{"sse2", "f16[4096,2048] -> f16[4096,2048]{0,1}", true},
                         // Rows of two digits, of which neither crowds sets by itself.
                         Row{"avx2", "f32[8,28,8,1024] -> f32[8,28,8,1024]{2,0,1,3}", true},
                         // As many rows in a set as it holds, and more.
                         Row{"avx2", "f32[4096,256] -> f32[4096,256]{0,1}", false},
                         Row{"avx2", "f32[4096,512] -> f32[4096,512]{0,1}", true},
                         // Rows an odd number of lines apart; vectors of a line.
                         Row{"avx2", "f32[4096,4112] -> f32[4096,4112]{0,1}", false},
                         Row{"avx512", "f32[4096,4096] -> f32[4096,4096]{0,1}", false}}) {
    const Target target = streaming(row.features, l1_of_32_kb);
    EXPECT_EQ(scheduled(row.text, target).wide_panels, row.wide) << row.features << ' ' << row.text;
  }
}

TEST(Panels, TakeALineOfEachRowWhereTheyAreWide) {
  // Two panels of four columns of a lane: a vector or a line of 8 groups of rows, and a gap.
  EXPECT_EQ(scratch_bytes(planned("f32[4096,4096] -> f32[4096,4096]{0,1}", "avx2")),
            2 * 4 * (8 * 64 + 64));
  EXPECT_EQ(scratch_bytes(planned("f32[4096,4112] -> f32[4096,4112]{0,1}", "avx2")),
            2 * 4 * (8 * 32 + 64));
  // Images of a line of columns, and of a vector.
  EXPECT_EQ(scratch_bytes(planned("f32[49,8192] -> f32[49,8192]{0,1}", "avx2")), 16 * 49 * 4);
  EXPECT_EQ(scratch_bytes(planned("f32[49,8208] -> f32[49,8208]{0,1}", "avx2")), 8 * 49 * 4);
}

TEST(Panels, MoveTheSameWideAndNarrow) {
  constexpr int64_t crowded = 0, with_room = int64_t{1} << 20;
  for (const char* features : {"sse2", "avx2", "neon"}) {
    for (const int64_t l1_bytes : {crowded, with_room}) {
      const Target target = streaming(features, l1_bytes);
      // Columns of whole lines and of a vector more; of two digits; runs of two digits.
      for (const char* text :
           {"u8[256,128] -> u8[256,128]{0,1}", "u8[128,96] -> u8[128,96]{0,1}",
            "u16[128,160] -> u16[128,160]{0,1}", "f32[64,48] -> f32[64,48]{0,1}",
            "f32[192,40] -> f32[192,40]{0,1}", "f64[48,64] -> f64[48,64]{0,1}",
            "f32[64,3,48] -> f32[64,3,48]{0,1,2}", "f32[32,16,3] -> f32[32,16,3]{0,1,2}",
            "f32[16,3,8,32] -> f32[16,3,8,32]{0,2,3,1}",
            "u16[3,64,4,32] -> u16[3,64,4,32]{1,3,2,0}",
            // Rows that touch.
            "f32[3,7,7,64] -> f32[3,7,7,64]{2,1,3,0}", "u8[50,256] -> u8[50,256]{0,1}",
            "u16[100,192] -> u16[100,192]{0,1}", "f64[9,64] -> f64[9,64]{0,1}",
            "f32[300,64] -> f32[300,64]{0,1}", "u8[7,512] -> u8[7,512]{0,1}"}) {
        const Report report = run_for(target, text);
        EXPECT_EQ(report.outcome, Outcome::passed) << features << ' ' << report.text;
      }
    }
  }
}

TEST(Panels, OfBlocksThatAreShortCodeWriteWholeLines) {
  struct Row {
    const char* features;
    int64_t rows;
  };
  for (const Row& row : {Row{"avx2", 64}, Row{"sse2", 64}, Row{"avx512", 64}}) {
    const IterationSpace space = simplified_space("u8[4160,4096] -> u8[4160,4096]{0,1}");
    const Schedule small = schedule(space, streaming(row.features, l1_of_32_kb), CodeGoal::small);
    EXPECT_EQ(target_run_elements(small), row.rows) << row.features;
  }
}

TEST(Panels, OfRowsThatTouchMoveRowsOfAnyLength) {
  for (const char* features : {"sse2", "avx2"}) {
    const Target target = streaming(features, l1_of_32_kb);
    for (int rows = 2; rows < 340; rows += rows < 70 ? 1 : 23) {
      for (const char* type : {"u8", "u16", "f32", "f64"}) {
        const std::string from = array(type, {rows, 128});
        if (!in_sample(features + from)) continue;
        const Report report = run_for(target, from + " -> " + from + "{0,1}");
        EXPECT_EQ(report.outcome, Outcome::passed) << features << ' ' << report.text;
      }
    }
  }
}

TEST(Panels, OfRowsThatTouchLeaveTogetherWithoutMasks) {
  struct Row {
    const char* features;
    const char* text;
    bool wide;
  };
  for (const Row& row : {Row{"avx2", "f32[4,7,7,2048] -> f32[4,7,7,2048]{2,1,3,0}", true},
                         Row{"avx2", "f16[100,40000] -> f16[100,40000]{0,1}", false},
                         // As long as rows that would be shifted.
                         Row{"avx2", "f32[300,4096] -> f32[300,4096]{0,1}", true},
                         Row{"sse2", "u8[50,65536] -> u8[50,65536]{0,1}", true}}) {
    const Schedule schedule = scheduled(row.text, streaming(row.features, l1_of_32_kb));
    EXPECT_EQ(schedule.wide_panels, row.wide) << row.features << ' ' << row.text;
    const Program program = planned(row.text, row.features);
    EXPECT_TRUE(uses_nontemporal_stores(program)) << row.features << ' ' << row.text;
    const AskedLines asked(program);
    EXPECT_GE(asked.in_time() * 100, program.operands[1].end / 64 * 95)
        << row.features << ' ' << row.text;
    // Panels of parts of lines ask for a line with each.
    if (row.wide) {
      EXPECT_LE(asked.asks() * 100, program.operands[1].end / 64 * 105) << row.text;
    }
  }
}

/// Of elements of two bytes and more, if the processor wants that; of wide ones always.
TEST(Panels, OfRowsBetweenLinesComeInWhileOthersLeave) {
  struct Row {
    const char* text;
    bool changes;
  };
  Target wide = streaming_target(), all = wide;
  all.by_turns_element_bytes = 2;
  for (const Row& row : {Row{"u16[1003,801] -> u16[1003,801]{0,1}", true},
                         Row{"f32[601,599] -> f32[601,599]{0,1}", true},
                         Row{"f32[5,301,599] -> f32[5,301,599]{1,0,2}", true},
                         Row{"u8[1503,1001] -> u8[1503,1001]{0,1}", false},
                         Row{"f64[401,399] -> f64[401,399]{0,1}", false}}) {
    const auto program = [&](const Target& target) {
      return to_string(on_lines(plan_programs(simplified_space(row.text), target)));
    };
    EXPECT_EQ(program(all) != program(wide), row.changes) << row.text;
    const Report report = run_for(all, row.text);
    EXPECT_EQ(report.outcome, Outcome::passed) << report.text;
  }
}

}  // namespace
}  // namespace restride::testing
