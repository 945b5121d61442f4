// Transposes in the caches whose rows of the target are written lane by lane.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "plan/planner.hpp"
#include "schedule/scheduling.hpp"
#include "support/each_block.hpp"
#include "support/microkernel_tails.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

Target lane_target() {
  Target target = target_of({"avx512", Caches::hold_everything});
  target.l1_bytes = 16 * 1024;
  target.l1_vector_bytes = 64;
  target.lane_rows_bytes = 48;
  return target;
}

TEST(LaneRows, AreLongerThanALaneAndNoVectors) {
  struct Row {
    const char* text;
    bool lanes;
  };
  Target target = lane_target();
  for (const Row& row :
       {Row{"u8[33,640] -> u8[33,640]{0,1}", true}, Row{"u8[48,640] -> u8[48,640]{0,1}", true},
        Row{"u8[49,640] -> u8[49,640]{0,1}", false}, Row{"u8[32,640] -> u8[32,640]{0,1}", false},
        Row{"u16[20,640] -> u16[20,640]{0,1}", true}, Row{"f32[9,640] -> f32[9,640]{0,1}", true},
        Row{"f64[5,640] -> f64[5,640]{0,1}", false},
        // Of up to two lanes.
        Row{"u8[22,640] -> u8[22,640]{0,1}", true}, Row{"u8[16,640] -> u8[16,640]{0,1}", false},
        Row{"u16[11,640] -> u16[11,640]{0,1}", true}, Row{"f32[8,640] -> f32[8,640]{0,1}", false},
        // In L1; more written again than not.
        Row{"u8[22,80] -> u8[22,80]{0,1}", false}, Row{"u8[21,640] -> u8[21,640]{0,1}", false},
        Row{"u8[33,80] -> u8[33,80]{0,1}", true},
        // Rows that go on in another digit, wherever they lie, and with padding.
        Row{"u8[40,33,60] -> u8[40,33,60]{0,1,2}", false},
        Row{"u8[40,33,60] -> u8[40,33,60]{0,2,1}", true},
        Row{"u8[40,33,60] -> u8[40,33,60]{1,2,0}", true},
        Row{"u8[33,640] -> u8[33,640]{0,1:PAD(40,640;unknown)}", true},
        // Few columns; those that crowd sets.
        Row{"u8[2000,33,20] -> u8[2000,33,20]{1,2,0}", false},
        Row{"u8[33,640] -> u8[33,640]{0,1:PAD(4096,640;unknown)}", false}}) {
    EXPECT_EQ(scheduled(row.text, target).lane_rows, row.lanes) << row.text;
  }
  const char* const text = "u8[33,640] -> u8[33,640]{0,1}";
  EXPECT_FALSE(schedule(simplified_space(text), target, CodeGoal::small).lane_rows);
  EXPECT_FALSE(schedule(simplified_space(text), target, CodeGoal::part).lane_rows);
  stream_beyond(target, 0);
  EXPECT_FALSE(scheduled(text, target).lane_rows);
  target = lane_target();
  target.vector_bytes = 32;
  EXPECT_FALSE(scheduled(text, target).lane_rows);
}

/// The last lane of a row is whole, too: what it shares with the one before is written again.
TEST(LaneRows, AreStoredByWholeLanes) {
  constexpr int64_t row = 40;
  const Program program =
      on_lines(plan_programs(simplified_space("u8[40,640] -> u8[40,640]{0,1}"), lane_target()));
  std::set<int64_t> begins;
  each_block(program.root, [&](const program::Block& block, int64_t) {
    for (const program::Op& op : block) {
      if (!program::names_memory(op.code) || program.streams[op.stream] != 0) continue;
      EXPECT_EQ(op.bytes, program::lane_bytes) << to_string(op);
      begins.insert(op.offset % row);
    }
  });
  // A loop goes from the first lane of a row to the second one.
  EXPECT_EQ(begins, (std::set<int64_t>{0, 24}));
}

TEST(LaneRows, MoveEveryTail) {
  const Target target = lane_target();
  for (const Element& element : every_width) {
    for (int rows = 16 / element.bytes + 1; rows * element.bytes <= 48; ++rows) {
      for (const int more : {0, 1, 7, 15, 16, 17, 31, 33, 48, 63}) {
        const std::string from = array(element.type, {rows, 512 / element.bytes + more});
        const std::string text = from + " -> " + from + "{0,1}";
        if (!in_sample("lane rows " + text)) continue;
        const Report report = run_for(target, text);
        ASSERT_EQ(report.outcome, Outcome::passed) << report.text;
      }
    }
  }
}

}  // namespace
}  // namespace restride::testing
