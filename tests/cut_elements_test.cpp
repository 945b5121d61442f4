// Runs of a few bytes that source and target have in common, where a bound cuts the last of them.
#include "schedule/cut_elements.hpp"

#include <gtest/gtest.h>

#include <string>

#include "loop_nest/loop_nest.hpp"
#include "support/microkernel_tails.hpp"
#include "support/nest_moves.hpp"
#include "support/scheduled.hpp"

namespace restride::testing {
namespace {

using scheduling::cut_elements;
using scheduling::CutElements;

const char* const pairs = "bf16[4001,2304]{0,1} -> bf16[4001,2304]{1,0:T(8,128)(2,1)}";

INSTANTIATE_TEST_SUITE_P(Every, Microkernel, ::testing::ValuesIn(setups()),
                         [](const auto& info) { return name_of(info.param); });

TEST(CutElements, AreRunsOfAFewBytesThatABoundCuts) {
  struct Row {
    const char* text;
    int64_t count;  // 0: there are none
  };
  for (const Row& row :
       {Row{pairs, 2}, Row{"s8[4001,512]{0,1} -> s8[4001,512]{1,0:T(8,128)(4,1)}", 4},
        Row{"u8[40,6949] -> u8[40,6949]{0,1:T(2,1)}", 2},
        Row{"u8[40,6949]{0,1:T(2,1)} -> u8[40,6949]", 2},
        Row{"f32[803,1661]{0,1} -> f32[803,1661]{1,0:T(4,1)}", 4},
        // Whole ones are wider elements already.
        Row{"bf16[4002,2304]{0,1} -> bf16[4002,2304]{1,0:T(8,128)(2,1)}", 0},
        // Some of them are: pairs of pairs.
        Row{"s8[4002,512]{0,1} -> s8[4002,512]{1,0:T(8,128)(4,1)}", 2},
        // More than registers have lanes, not side by side in the source, three,
        // only the one that is cut.
        Row{"f32[803,1661]{0,1} -> f32[803,1661]{1,0:T(8,1)}", 0},
        Row{"bf16[4001,2304] -> bf16[4001,2304]{1,0:T(8,128)(2,1)}", 0},
        Row{"u8[40,6949] -> u8[40,6949]{0,1:T(3,1)}", 0},
        Row{"u8[40,3] -> u8[40,3]{0,1:T(4,1)}", 0},
        // Computed, and less than a byte.
        Row{"convert(u8[40,6949]) -> s16[40,6949]{0,1:T(2,1)}", 0},
        Row{"u4[40,6949]{1,0:E(4)} -> u4[40,6949]{0,1:T(2,1)E(4)}", 0}}) {
    const std::optional<CutElements> cut = cut_elements(simplified_space(row.text));
    EXPECT_EQ(cut ? cut->count : 0, row.count) << row.text;
  }
}

TEST(CutElements, AreNotCutByOtherDigits) {
  IterationSpace space = simplified_space("u8[40,6949] -> u8[40,6949]{0,1:T(2,1)}");
  ASSERT_TRUE(cut_elements(space));
  for (Loop& loop : space.loops) {
    if (loop.step == 2) loop.step = 1;
  }
  EXPECT_FALSE(cut_elements(space));
}

TEST(CutElements, AreWholeInTheSpaceThatIsScheduled) {
  const IterationSpace space = simplified_space("u8[40,6949] -> u8[40,6949]{0,1:T(2,1)}");
  const std::optional<CutElements> cut = cut_elements(space);
  ASSERT_TRUE(cut);
  const IterationSpace whole = with_whole_elements(space, *cut);
  // But for what lies behind the last one.
  const IterationSpace even = simplified_space("u8[40,6950] -> u8[40,6950]{0,1:T(2,1)}");
  EXPECT_EQ(whole.op.bytes, even.op.bytes);
  ASSERT_EQ(whole.loops.size(), even.loops.size());
  for (size_t k = 0; k < whole.loops.size(); ++k) {
    EXPECT_EQ(whole.loops[k].extent, even.loops[k].extent);
    EXPECT_EQ(whole.loops[k].step, even.loops[k].step);
    EXPECT_EQ(whole.loops[k].stride[0], even.loops[k].stride[0]);
  }
}

TEST(CutElements, AreTransposedAsOne) {
  const Target target = target_of({"avx2", Caches::hold_nothing});
  const Schedule schedule = scheduled(pairs, target);
  EXPECT_EQ(schedule.movement, Movement::transpose);
  EXPECT_EQ(schedule.joined_elements, 2);
  EXPECT_TRUE(schedule.nontemporal);
  EXPECT_EQ(schedule.space.op.bytes, 2);
  EXPECT_EQ(schedule.space.loops.back().extent, 2);
  // Rows that are copied are so with and without; blocks that are permuted make lines.
  for (const char* text : {"bf16[3,5,4001]{0,1,2:T(1,1,2)} -> bf16[3,5,4001]{1,0,2:T(1,1,2)}",
                           "f32[413,405] -> f32[413,405]{1,0:T(8,4)}"}) {
    EXPECT_EQ(scheduled(text, target).joined_elements, 1) << text;
  }
}

/// Where permuted blocks are slower.
TEST(CutElements, AreJoinedThoughBlocksOfTheirPartsMakeLines) {
  const char* const text = "s8[1725,2165]{0,1} -> s8[1725,2165]{1,0:T(32,128)(4,1)}";
  Target target = streaming_target();
  EXPECT_EQ(scheduled(text, target).movement, Movement::permute);
  target.joins_cut_elements = true;
  const Schedule schedule = scheduled(text, target);
  EXPECT_EQ(schedule.movement, Movement::transpose);
  EXPECT_EQ(schedule.joined_elements, 4);
  // Much of short columns would be cut.
  EXPECT_EQ(
      scheduled("s8[67,20165]{0,1} -> s8[67,20165]{1,0:T(32,128)(4,1)}", target).joined_elements,
      4);
  EXPECT_EQ(
      scheduled("s8[61,20165]{0,1} -> s8[61,20165]{1,0:T(32,128)(4,1)}", target).joined_elements,
      1);
}

TEST(CutElements, MoveAllThatThereIs) {
  for (const char* text : {"u8[40,101]{0,1:T(4,1)} -> u8[40,101]",
                           "s8[101,64]{1,0:T(8,32)(4,1)} -> s8[101,64]{0,1}"}) {
    const IterationSpace space = simplified_space(text);
    const Schedule joined = scheduled(text, streaming_target());
    EXPECT_GT(joined.joined_elements, 1) << text;
    Schedule plain{space};
    Moves expected, moved;
    expected.add(lower(plain).root, {});
    moved.add(lower(joined).root, {});
    EXPECT_EQ(moved.to, expected.to) << text;
  }
}

TEST_P(Microkernel, MovesElementsThatABoundCuts) {
  for (const char* text :
       {"bf16[67,260]{0,1} -> bf16[67,260]{1,0:T(8,128)(2,1)}",
        "bf16[513,200]{0,1} -> bf16[513,200]{1,0:T(16,128)(2,1)}",
        "bf16[513,200]{1,0:T(8,128)(2,1)} -> bf16[513,200]{0,1}",
        "s8[301,256]{0,1} -> s8[301,256]{1,0:T(8,128)(4,1)}",
        "s8[302,256]{0,1} -> s8[302,256]{1,0:T(32,128)(4,1)}",
        "s8[303,256]{1,0:T(8,128)(4,1)} -> s8[303,256]{0,1}",
        "u8[40,349] -> u8[40,349]{0,1:T(2,1)}", "u8[193,661] -> u8[193,661]{0,1:T(2,1)}",
        "u8[193,661]{0,1:T(2,1)} -> u8[193,661]", "f32[203,161]{0,1} -> f32[203,161]{1,0:T(4,1)}",
        "f32[203,161]{0,1} -> f32[203,161]{1,0:T(2,1)}",
        "f64[101,67]{0,1} -> f64[101,67]{1,0:T(2,1)}",
        "f32[4,203,161]{1,0,2} -> f32[4,203,161]{2,0,1:T(4,2)}",
        "u8[3,5,35,27]{2,0,1,3} -> u8[3,5,35,27]{3,2,1,0:T(4,1)}",
        "u16[35,3,27]{0,2,1} -> u16[35,3,27]{1,2,0:T(2,1)}"}) {
    expect_conforms(text, GetParam());
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace restride::testing
