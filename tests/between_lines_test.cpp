// What is planned where targets or their rows begin between lines, or rows have prime lengths:
// which ends are asked for again, what goes apart, and that no block is a single column. None of
// this changes what arrives, which is tested where programs are new.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loop_nest/loop_nest.hpp"
#include "plan/planner.hpp"
#include "program/code_size.hpp"
#include "restride/plan.hpp"
#include "select/select.hpp"
#include "support/asked_lines.hpp"
#include "support/counted_operations.hpp"
#include "support/microkernel_tails.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

using program::Code;

INSTANTIATE_TEST_SUITE_P(Streaming, Microkernel, ::testing::ValuesIn(streaming_setups()),
                         [](const auto& info) { return name_of(info.param); });

TEST(CopiedRows, LeaveInLinesWhereTheyAreWorthIt) {
  struct Row {
    const char* text;
    bool read_ahead, others;  // whether a processor reads ahead by steps
  };
  Target others = streaming_target(), read_ahead = others;
  // Else rows of less than 512 bytes are put together first.
  others.imaging_bytes = int64_t{1} << 40;
  read_ahead.imaging_bytes = others.imaging_bytes;
  read_ahead.reads_ahead_by_step = true;
  for (const Row& row : {Row{"f32[582,75,80] -> f32[582,75,80]{2,0,1}", true, false},
                         Row{"f32[300,200,112] -> f32[300,200,112]{2,0,1}", true, false},
                         Row{"f32[300,200,128] -> f32[300,200,128]{2,0,1}", true, true},
                         Row{"f32[300,200,64] -> f32[300,200,64]{2,0,1}", false, false},
                         // Some of them would be joined where the array begins on a line.
                         Row{"f64[300,200,98] -> f64[300,200,98]{2,0,1}", true, false},
                         Row{"f32[300,200,116] -> f32[300,200,116]{2,0,1}", true, false}}) {
    const IterationSpace space = simplified_space(row.text);
    EXPECT_EQ(uses_nontemporal_stores(plan_programs(space, read_ahead).back()), row.read_ahead)
        << row.text;
    EXPECT_EQ(uses_nontemporal_stores(plan_programs(space, others).back()), row.others) << row.text;
  }
}

TEST(Images, AskAgainForTheEndsOfColumnsThatLeaveSoon) {
  constexpr int to_write = 0;
  const char* const text = "u16[37,53,97,96] -> u16[37,53,97,96]{2,0,1,3}";
  Target once = streaming_target(), again = once;
  again.columns_claimed_again = 2;
  const int claims = planned(text, once).of(Code::prefetch, to_write);
  EXPECT_GT(claims, 0);
  EXPECT_EQ(planned(text, again).of(Code::prefetch, to_write), 2 * claims);
}

TEST(Images, OfDigitsOfColumnsAskForTheirEndsWhereOneBeginsBetweenLines) {
  constexpr int to_write = 0;
  Target target = streaming_target();
  stream_beyond(target, int64_t{1} << 14);
  // Columns of 160 bytes: six make whole lines, seven do not.
  EXPECT_EQ(planned("f16[80,2,6,17,6] -> f16[80,2,6,17,6]{0,4,2,3,1}", target)
                .of(Code::prefetch, to_write),
            0);
  EXPECT_GT(planned("f16[80,2,6,17,7] -> f16[80,2,6,17,7]{0,4,2,3,1}", target)
                .of(Code::prefetch, to_write),
            0);
}

TEST(Blocks, AreNoSingleColumnsWhereNothingDividesThem) {
  for (const char* text : {"u8[28,20,575,317] -> u8[28,20,575,317]{1,2,3,0}",
                           "u8[17,20,575,289] -> u8[17,20,575,289]{1,2,3,0}"}) {
    Target target = streaming_target();
    target.streaming_bytes = target.imaging_bytes = 20 << 20;
    const Schedule blocks = schedule(simplified_space(text), target, CodeGoal::small);
    EXPECT_GT(source_run_elements(blocks), 1) << text;
  }
}

TEST(Peeling, LetsBlocksBeginOnLinesBehindTheHeaderOfAnAllocator) {
  const Target target = target_of_long_runs();
  for (const char* text :
       {"f32[4096,4096] -> f32[4096,4096]{0,1}", "f64[1024,2048] -> f64[1024,2048]{0,1}",
        "u8[8192,8192] -> u8[8192,8192]{0,1}", "u8[4,4096,1024] -> u8[4,4096,1024]{1,2,0}",
        "u16[4096,4096] -> u16[4096,4096]{0,1}", "c128[2048,512] -> c128[2048,512]{0,1}",
        "f32[384,59,2320] -> f32[384,59,2320]{0,1,2}",
        "f32[3,1024,640] -> f32[3,1024,640]{1,2,0}"}) {
    const std::optional<Program> program = behind_header(text, target);
    ASSERT_TRUE(program.has_value()) << text;
    EXPECT_TRUE(uses_nontemporal_stores(*program)) << text;
    EXPECT_TRUE(verify(*program, target)) << text;
    // The promise is what proves them aligned.
    Program elsewhere = *program;
    elsewhere.operands[0].phase = 0;
    EXPECT_FALSE(verify(elsewhere, target)) << text;
    elsewhere.operands[0].phase = elsewhere.operands[0].alignment;
    EXPECT_FALSE(verify(elsewhere, target)) << text;
  }
}

TEST(Peeling, LeavesProgramsTogetherShort) {
  const Target target = target_of_long_runs();
  for (const char* text :
       {"u8[8192,8192] -> u8[8192,8192]{0,1}", "u8[3008,6400] -> u8[3008,6400]{0,1}",
        "u8[2048,20000] -> u8[2048,20000]{0,1}", "u16[4096,4096] -> u16[4096,4096]{0,1}",
        "u16[3008,6400] -> u16[3008,6400]{0,1}"}) {
    int64_t bytes = 0;
    for (const Program& program : plan_programs(simplified_space(text), target))
      bytes += estimated_code_bytes(program);
    EXPECT_LE(bytes, 16 * 1024) << text;
  }
}

TEST(Peeling, LeavesBlocksTheirPipeline) {
  // They ask for the next one while a panel leaves; rests that come and go by turns do not.
  const Target target = target_of_long_runs();
  for (const char* text :
       {"f64[2048,4,512] -> f64[2048,4,512]{1,0,2}", "f32[4096,4096] -> f32[4096,4096]{0,1}",
        "u16[4096,4096] -> u16[4096,4096]{0,1}"}) {
    const std::optional<Program> program = behind_header(text, target);
    ASSERT_TRUE(program.has_value()) << text;
    Counted counted;
    counted.add(program->root);
    EXPECT_GT(counted.of(Code::prefetch, target.asked_level), 0) << text;
  }
}

TEST(Peeling, IsForLongRunsThatBeginAlike) {
  const Target target = streaming_target();
  for (const char* text :
       {// Short runs; those that begin between lines; images.
        "f32[128,40976] -> f32[128,40976]{0,1}", "f32[4095,4096] -> f32[4095,4096]{0,1}",
        "u16[37,53,97,96] -> u16[37,53,97,96]{2,0,1,3}"}) {
    EXPECT_FALSE(behind_header(text, target).has_value()) << text;
  }
}

TEST(Peeling, IsNotForSmallMatricesOfWideElements) {
  const Target target = target_of_long_runs();
  struct Row {
    const char* text;
    bool peeled;
  };
  for (const Row& row : {Row{"c128[186,128,80] -> c128[186,128,80]{1,2,0}", false},
                         // Longer runs of the target, of the source; matrices that lie apart.
                         Row{"c128[186,256,80] -> c128[186,256,80]{1,2,0}", true},
                         Row{"c128[186,128,160] -> c128[186,128,160]{1,2,0}", true},
                         Row{"c128[128,9,80,20] -> c128[128,9,80,20]{0,3,1,2}", true},
                         Row{"c128[20,9,128,80] -> c128[20,9,128,80]{2,0,3,1}", true},
                         Row{"f64[186,256,80] -> f64[186,256,80]{1,2,0}", true}}) {
    EXPECT_EQ(behind_header(row.text, target).has_value(), row.peeled) << row.text;
  }
}

TEST(Peeling, IsAlongRunsOfTheSourceToo) {
  const Target target = target_of_long_runs();
  struct Row {
    const char* text;
    Peel rows, columns;
  };
  for (const Row& row : {Row{"f32[4096,2048] -> f32[4096,2048]{0,1}", {1, 12, 4}, {0, 12, 4}},
                         Row{"f32[4096,2064] -> f32[4096,2064]{0,1}", {1, 12, 4}, {0, 12, 4}},
                         Row{"u16[3,2048,1024] -> u16[3,2048,1024]{1,2,0}", {2, 24, 8}, {1, 24, 8}},
                         Row{"c128[2048,512] -> c128[2048,512]{0,1}", {1, 3, 1}, {0, 3, 1}}}) {
    const IterationSpace space = simplified_space(row.text);
    const std::optional<Schedule> twice = peeled_twice(space, schedule(space, target), target, 16);
    ASSERT_TRUE(twice.has_value()) << row.text;
    EXPECT_EQ(twice->peels[0], row.rows) << row.text;
    EXPECT_EQ(twice->peels[1], row.columns) << row.text;
    // Narrower elements are spliced (spliced_columns_test).
    if (space.op.bytes < 16) continue;
    const std::optional<Program> program = behind_header(row.text, target);
    ASSERT_TRUE(program.has_value()) << row.text;
    EXPECT_EQ(program->root, select(lower(*twice), *twice, target, {64, 16}).root) << row.text;
  }
  // Short runs of the source; those that begin between lines; of the target.
  for (const char* text :
       {"f32[40960,128] -> f32[40960,128]{0,1}", "f32[4096,4095] -> f32[4096,4095]{0,1}",
        "f32[128,40960] -> f32[128,40960]{0,1}", "f32[4095,4096] -> f32[4095,4096]{0,1}"}) {
    const IterationSpace space = simplified_space(text);
    EXPECT_FALSE(peeled_twice(space, schedule(space, target), target, 16).has_value()) << text;
  }
  EXPECT_TRUE(behind_header("f32[40960,128] -> f32[40960,128]{0,1}", target).has_value());
}

TEST_P(Microkernel, MovesWhatGoesApartAndTheBlocksBetween) {
  for (const Element& element : every_width) {
    for (const int run_bytes : {1024, 1536, 2368}) {
      const int run = run_bytes / element.bytes;
      for (const int column_bytes : {512, 200, 2112}) {
        const int columns = column_bytes / element.bytes;
        const std::string two = array(element.type, {run, columns});
        expect_conforms(two + " -> " + two + "{0,1}", GetParam());
        const std::string three = array(element.type, {2, run, columns});
        expect_conforms(three + " -> " + three + "{1,2,0}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Peeling, ServesPointersBehindAHeaderAndOthers) {
  constexpr size_t rows = 2304, columns = 2320;  // more than any cache is written through for
  const Result<Plan> plan = Plan::create(*parse_problem("f32[2304,2320] -> f32[2304,2320]{0,1}"));
  ASSERT_TRUE(plan);
  std::vector<float> source(rows * columns), memory(rows * columns + 64);
  std::iota(source.begin(), source.end(), 1.0F);
  for (const size_t begin : {0, 1, 4, 8, 12}) {
    std::fill(memory.begin(), memory.end(), -1.0F);
    const size_t beyond_line = reinterpret_cast<uintptr_t>(memory.data()) / sizeof(float) % 16;
    const size_t first = (16 - beyond_line) % 16 + begin;
    plan->execute(source.data(), memory.data() + first);
    for (size_t k = 0; k < memory.size(); ++k) {
      const bool inside = k >= first && k < first + rows * columns;
      const size_t at = k - first, row = at % rows, column = at / rows;
      const float expected = inside ? source[row * columns + column] : -1.0F;
      ASSERT_EQ(memory[k], expected) << k << " of a target " << begin << " elements behind a line";
    }
  }
}

}  // namespace
}  // namespace restride::testing
