// Computed rows: which leave shifted to lines, and which blocks are computed in the order of their
// sources before they are relaid. Whatever is decided, every backend moves the same bytes.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/counted_operations.hpp"
#include "support/run_case.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"
#include "target/target.hpp"

namespace restride::testing {
namespace {

using program::Code;

Target shifting_target() {
  Target target = streaming_target();
  target.shifts_computed_rows = true;
  return target;
}

struct Row {
  const char* text;
  bool chosen;
};

TEST(ComputedRows, AreShiftedWhereLongOnesOfWideElementsBeginBetweenLines) {
  for (const Row& row : {Row{"convert(s32[617,1245]) -> f32[617,1245]{0,1}", true},
                         Row{"add(f32[300,2000], f32[300,2000]) -> f32[300,2000]{0,1}", true},
                         Row{"multiply(s32[401,1], s32[1,5003]) -> s32[401,5003]", true},
                         Row{"less(s8[1003,2003], s8[2003] dims={1}) -> pred[1003,2003]", true},
                         // Whole lines; bytes and pairs of them; short rows; few columns.
                         Row{"convert(s32[640,1245]) -> f32[640,1245]{0,1}", false},
                         Row{"convert(s32[4001,1245]) -> s8[4001,1245]{0,1}", false},
                         Row{"add(f16[4001,500], f16[4001,500]) -> f16[4001,500]{0,1}", false},
                         Row{"less(f16[903,2003], f16[2003] dims={1}) -> pred[903,2003]", false},
                         Row{"convert(s32[101,5003]) -> f32[101,5003]{0,1}", false},
                         Row{"convert(s32[9001,63]) -> f32[9001,63]{0,1}", false},
                         // Stays in the caches.
                         Row{"convert(s32[317,301]) -> f32[317,301]{0,1}", false}}) {
    EXPECT_EQ(scheduled(row.text, shifting_target()).shifts_runs, row.chosen) << row.text;
    EXPECT_EQ(planned(row.text, shifting_target()).of(Code::store_line, 0) > 0, row.chosen)
        << row.text;
    EXPECT_FALSE(scheduled(row.text, streaming_target()).shifts_runs) << row.text;
  }
}

TEST(ComputedRows, AreComputedFirstWhereThatRelaysLess) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.computes_first = true;
  Target streaming = streaming_target();
  streaming.computes_first = true;
  for (const Row& row : {Row{"convert(f32[256,256]) -> s8[256,256]{0,1}", true},
                         Row{"add(f32[70,90], f32[70,90]) -> f32[70,90]{0,1}", true},
                         Row{"add(f16[70,16], f16[16] dims={1}) -> f16[70,16]{0,1}", false},
                         Row{"less(f32[70,16], f32[16] dims={1}) -> pred[70,16]{0,1}", true},
                         // As much, or more; few columns.
                         Row{"convert(s32[256,256]) -> f32[256,256]{0,1}", false},
                         Row{"convert(u8[256,256]) -> f32[256,256]{0,1}", false},
                         Row{"add(f32[70,20], f32[70,20]) -> f32[70,20]{0,1}", false},
                         Row{"convert(f32[70,50]) -> f16[70,50]{0,1}", false},
                         // Sources that lie otherwise.
                         Row{"add(f32[70,90], f32[70,90]{0,1}) -> f32[70,90]{0,1}", false}}) {
    EXPECT_EQ(scheduled(row.text, target).computes_first, row.chosen) << row.text;
  }
  EXPECT_FALSE(
      scheduled("convert(f32[2560,2560]) -> s8[2560,2560]{0,1}", streaming).computes_first);
}

TEST(ComputedRows, AskForThoseOfTheNextBlockThatBeginBetweenLines) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  target.computes_first = true;
  for (const Row& row : {Row{"convert(f32[480,403]) -> u8[480,403]{0,1}", true},
                         Row{"convert(f32[480,400]) -> u8[480,400]{0,1}", false},
                         // Two sources; stays in L1.
                         Row{"add(f16[480,403], f16[480,403]) -> f16[480,403]{0,1}", false},
                         Row{"convert(f32[80,67]) -> u8[80,67]{0,1}", false}}) {
    EXPECT_TRUE(scheduled(row.text, target).computes_first) << row.text;
    EXPECT_EQ(planned(row.text, target).of(Code::prefetch) > 0, row.chosen) << row.text;
  }
}

/// Rows of whole vectors and with every kind of rest, straight and looped, in boxes and by
/// themselves.
TEST(ComputedRows, ArriveWhole) {
  std::vector<std::string> texts;
  for (const int row : {128, 143, 159, 257, 300, 700}) {
    const std::string n = std::to_string(row);
    texts.push_back("convert(s32[" + n + ",67]) -> f32[" + n + ",67]{0,1}");
    texts.push_back("convert(f32[" + n + ",66]) -> f64[" + n + ",66]{0,1}");
    texts.push_back("add(f32[5," + n + "], f32[5] dims={0}) -> f32[5," + n + "]");
    texts.push_back("add(f32[" + n + ",65], f32[" + n + ",65]{0,1}) -> f32[" + n + ",65]{0,1}");
    texts.push_back("convert(f32[" + n + ",48]) -> s8[" + n + ",48]{0,1}");
    texts.push_back("add(f16[" + n + ",37], f16[" + n + ",37]) -> f16[" + n + ",37]{0,1}");
    texts.push_back("convert(f32[" + n + ",5,16]) -> s8[" + n + ",5,16]{0,1,2}");
    texts.push_back("less(f32[3," + n + ",35], f32[35] dims={2}) -> pred[3," + n + ",35]{1,2,0}");
  }
  for (const auto& setup : setups()) {
    Target target = target_of(setup);
    target.shifts_computed_rows = target.computes_first = true;
    for (const std::string& text : texts) {
      const Report report = run_for(target, text);
      EXPECT_EQ(report.outcome, Outcome::passed) << report.text;
    }
  }
}

}  // namespace
}  // namespace restride::testing
