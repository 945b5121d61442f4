// Which boxes of transposes that stream are asked for ahead: how many boxes ahead, where loops
// begin anew, and in which order their lines are. None of this changes what arrives.
#include <gtest/gtest.h>

#include "plan/planner.hpp"
#include "support/asked_lines.hpp"
#include "support/reading_ahead.hpp"
#include "support/scheduled.hpp"

namespace restride::testing {
namespace {

TEST(Boxes, AreAskedForSeveralAheadWhereTheyAreSmall) {
  struct Row {
    const char* text;
    int64_t boxes;
  };
  for (const Row& row : {Row{"f32[32,4,3,3,5,112] -> f32[32,4,3,3,5,112]{0,1,2,3,4,5}", 2},
                         Row{"f32[32,30,192,31] -> f32[32,30,192,31]{0,3,1,2}", 8},
                         Row{"f64[80,30,256,12] -> f64[80,30,256,12]{2,1,0,3}", 8},
                         // Large ones; rows nearer than a line.
                         Row{"f32[2048,2048] -> f32[2048,2048]{0,1}", 1},
                         Row{"f64[500000,6] -> f64[500000,6]{0,1}", 1}}) {
    EXPECT_EQ(scheduled(row.text, reading_ahead()).boxes_ahead, row.boxes) << row.text;
  }
}

TEST(Boxes, AreAskedForFewerAheadWhereLessOfTheSourceIs) {
  Target target = reading_ahead();
  target.asked_ahead_bytes /= 2;
  const char* const text = "f32[32,30,192,31] -> f32[32,30,192,31]{0,3,1,2}";
  EXPECT_EQ(scheduled(text, target).boxes_ahead, 4);
  target.asked_ahead_bytes = 0;
  EXPECT_EQ(scheduled(text, target).boxes_ahead, 1);
}

TEST(Boxes, AheadAreThoseThatComeLater) {
  // Two boxes ahead in a loop of five, behind which the source goes on elsewhere.
  const char* const text = "f32[32,4,3,3,5,112] -> f32[32,4,3,3,5,112]{0,1,2,3,4,5}";
  constexpr int64_t lines = 32 * 4 * 3 * 3 * 5 * 112 * 4 / 64, box = 32 * 112 * 4 / 64;
  const Program program = on_lines(plan_programs(simplified_space(text), reading_ahead()));
  // But the first ones, and where more than one loop begins anew: after a third of the loops of
  // five two boxes.
  constexpr int64_t left_out = 2 * box + lines / (3 * 5) * 2;
  EXPECT_GE(AskedLines(program).count(), lines - left_out);
}

TEST(Boxes, AheadByMostOfALoopGoOnInTheNextRoundOnce) {
  // Three boxes ahead in a loop of four, in another of four.
  const char* const text = "f32[16,8,448,8,16] -> f32[16,8,448,8,16]{3,0,1,2,4}";
  constexpr int64_t lines = 16 * 8 * 448 * 8 * 16 * 4 / 64;
  const Program program = on_lines(plan_programs(simplified_space(text), reading_ahead()));
  EXPECT_GE(AskedLines(program).count(), lines / 16 * 13);
}

TEST(Boxes, AreAskedForDownRowsThatBeginBetweenLinesAndGoOn) {
  struct Row {
    const char* text;
    bool down;
    int lines_beyond = 0;
  };
  Target target = reading_ahead();
  target.translated_pages = 1024;
  target.asks_down_rows = true;
  for (const Row& row : {Row{"f32[2112,3001] -> f32[2112,3001]{0,1}", true},
                         Row{"f32[32,64,5,331] -> f32[32,64,5,331]{1,0,3,2}", true, 1},
                         // Rows that begin on lines; boxes of which the target goes on.
                         Row{"f32[2112,3008] -> f32[2112,3008]{0,1}", false},
                         Row{"f32[960,6001] -> f32[960,6001]{0,1}", false}}) {
    target.asked_lines_beyond = row.lines_beyond;
    const Program program = on_lines(plan_programs(simplified_space(row.text), target));
    const AskedLines asked(program);
    EXPECT_EQ(asked.side_by_side() * 8 < asked.count(), row.down) << row.text;
    EXPECT_GE(asked.in_time() * 100, program.operands[1].end / 64 * 99) << row.text;
  }
  target.asks_down_rows = false;
  const char* const text = "f32[2112,3001] -> f32[2112,3001]{0,1}";
  const AskedLines by_rows(on_lines(plan_programs(simplified_space(text), target)));
  EXPECT_GT(by_rows.side_by_side() * 8, by_rows.count());
}

}  // namespace
}  // namespace restride::testing
