// What is planned where targets or their rows begin between lines, or rows have prime lengths: by
// how many lines they come in, which ends are asked for again, what goes apart, and that no block
// is a single column. None of this changes what arrives, which is tested where programs are new.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
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
#include "support/microkernel_tails.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

using program::Code;

INSTANTIATE_TEST_SUITE_P(Streaming, Microkernel, ::testing::ValuesIn(streaming_setups()),
                         [](const auto& info) { return name_of(info.param); });

struct Counted {
  std::map<std::pair<Code, int>, int> operations;  // by code and width

  int of(Code code, int width) const {
    const auto found = operations.find({code, width});
    return found == operations.end() ? 0 : found->second;
  }

  int of(Code code) const {
    int count = 0;
    for (const auto& [operation, times] : operations) count += operation.first == code ? times : 0;
    return count;
  }

  void add(const program::Body& body) {
    for (const auto& item : body) {
      if (const program::For* loop = std::get_if<program::For>(&item)) {
        add(loop->body);
        continue;
      }
      for (const program::Op& op : std::get<program::Block>(item))
        ++operations[{op.code, op.width}];
    }
  }
};

Counted planned(const char* text, const Target& target) {
  Counted counted;
  counted.add(on_lines(plan_programs(simplified_space(text), target)).root);
  return counted;
}

TEST(ShiftedRows, ComeInByAsManyLinesAsSuitTheProcessor) {
  Target two = streaming_target(), four = two;
  four.shifted_chunk_lines = 4;
  for (const char* wide :
       {"f32[4097,4095] -> f32[4097,4095]{0,1}", "f64[3001,2999] -> f64[3001,2999]{0,1}",
        "c128[2001,1999] -> c128[2001,1999]{0,1}"}) {
    EXPECT_GT(planned(wide, four).of(Code::store_line), planned(wide, two).of(Code::store_line))
        << wide;
  }
  // Narrow ones always by two.
  for (const char* narrow :
       {"u8[4097,4095] -> u8[4097,4095]{0,1}", "u16[4097,4095] -> u16[4097,4095]{0,1}"}) {
    EXPECT_EQ(planned(narrow, four).operations, planned(narrow, two).operations) << narrow;
  }
}

TEST(ShiftedRows, ComeInByTwoLinesWhereCodeWouldBeLong) {
  Target two = streaming_target(), four = two;
  four.shifted_chunk_lines = 4;
  for (const char* text :
       {"f32[6538,1727] -> f32[6538,1727]{0,1}", "f32[4,3731,957] -> f32[4,3731,957]{1,2,0}"}) {
    EXPECT_EQ(planned(text, four).operations, planned(text, two).operations) << text;
  }
}

Target gathering_rows() {
  Target target = streaming_target();
  target.l1_bytes = 32 * 1024;
  target.gathered_row_element_bytes = 4;
  return target;
}

TEST(ShiftedRows, ComeToScratchFirstWhereTheyCrowdSetsOfL1) {
  struct Row {
    const char* text;
    bool gathered;
  };
  for (const Row& row : {Row{"u8[6001,2049] -> u8[6001,2049]{0,1}", true},
                         Row{"u16[4097,4095] -> u16[4097,4095]{0,1}", true},
                         Row{"f32[4097,4095] -> f32[4097,4095]{0,1}", true},
                         // Whole lines; wide elements.
                         Row{"u8[5003,8192] -> u8[5003,8192]{0,1}", false},
                         Row{"f64[4097,4095] -> f64[4097,4095]{0,1}", false},
                         // Rows that do not.
                         Row{"u8[6000,5003] -> u8[6000,5003]{0,1}", false},
                         Row{"u16[3000,5003] -> u16[3000,5003]{0,1}", false},
                         Row{"f32[4161,4161] -> f32[4161,4161]{0,1}", false}}) {
    EXPECT_EQ(scheduled(row.text, gathering_rows()).staging == Staging::panels_of_gathered_rows,
              row.gathered)
        << row.text;
    EXPECT_EQ(scheduled(row.text, streaming_target()).staging, Staging::panels) << row.text;
  }
}

TEST(ShiftedRows, AreThoseThatTouchWhereTheyAreLongAndFarApartInTheSource) {
  Target target = streaming_target();
  target.shifted_touching_run_bytes = 704;
  struct Row {
    const char* text;
    bool shifted;
  };
  for (const Row& row :
       {Row{"f32[253,144,1032] -> f32[253,144,1032]{0,2,1}", true},
        Row{"f64[3,185,28,878] -> f64[3,185,28,878]{1,3,2,0}", true},
        Row{"f32[174,144,1032] -> f32[174,144,1032]{0,2,1}", false},  // short
        Row{"f32[160,474,484] -> f32[160,474,484]{1,2,0}", false},    // beside others
        Row{"u16[403,144,1032] -> u16[403,144,1032]{0,2,1}", false},
        Row{"f32[256,144,1032] -> f32[256,144,1032]{0,2,1}", false}}) {  // lines
    EXPECT_EQ(scheduled(row.text, target).staging == Staging::shifted_panels, row.shifted)
        << row.text;
    EXPECT_NE(scheduled(row.text, streaming_target()).staging, Staging::shifted_panels) << row.text;
  }
  // No panel waits in scratch for the rest of its rows.
  constexpr int64_t panel_bytes = 253 * 64;
  const Program program = on_lines(
      plan_programs(simplified_space("f32[253,144,1032] -> f32[253,144,1032]{0,2,1}"), target));
  ASSERT_EQ(program.operands[2].role, program::Role::scratch);
  EXPECT_LT(program.operands[2].end, panel_bytes);
}

TEST(ShiftedRows, AreAllAskedFor) {
  struct Row {
    const char* text;
    int64_t phase;  // of the source behind a line, bytes
  };
  // Boxes of three panels and of five; a last chunk that is short; rows of whole lines, where they
  // begin between them.
  for (const Row& row : {Row{"u8[4097,4095] -> u8[4097,4095]{0,1}", 0},
                         Row{"u16[2085,4095] -> u16[2085,4095]{0,1}", 0},
                         Row{"f32[1025,4095] -> f32[1025,4095]{0,1}", 0},
                         Row{"u16[2085,4160] -> u16[2085,4160]{0,1}", 16},
                         Row{"f64[1025,2056] -> f64[1025,2056]{0,1}", 16}}) {
    for (const Target& target : {gathering_rows(), streaming_target()}) {
      const IterationSpace space = simplified_space(row.text);
      const std::vector<Program> programs = plan_programs(space, target);
      const Program& program = on_lines(programs);
      const int64_t lines = (program.operands[1].end - program.operands[1].begin) / 64;
      // But those of the first chunk, and of columns that make no box.
      EXPECT_GE(AskedLines(program, row.phase).in_time(), lines / 100 * 95) << row.text;
    }
  }
}

TEST(Boxes, HaveThreePanelsAndMoreWhereThereAreSoMany) {
  struct Row {
    const char* text;
    int64_t columns;
  };
  for (const Row& row : {Row{"u8[4161,4161] -> u8[4161,4161]{0,1}", 192},
                         Row{"u16[4161,4161] -> u16[4161,4161]{0,1}", 96},
                         Row{"u8[4161,8192] -> u8[4161,8192]{0,1}", 192},
                         Row{"u8[40001,190] -> u8[40001,190]{0,1}", 128}}) {
    EXPECT_EQ(source_run_elements(scheduled(row.text, streaming_target())), row.columns)
        << row.text;
  }
}

TEST_P(Microkernel, ShiftsColumnsOfRowsThatBeginBetweenLines) {
  for (const Element& element : {Element{"u8", 1}, Element{"u16", 2}, Element{"f32", 4}}) {
    // A chunk and what is left of one: nothing, an element, a line, groups of rows.
    for (const int run_bytes : {512, 512 + element.bytes, 576, 700, 1100}) {
      const int run = run_bytes / element.bytes;
      // Two, three and five panels, and what is left of them.
      for (const int column_bytes : {128, 200, 330}) {
        const int columns = column_bytes / element.bytes + 1;
        const std::string two = array(element.type, {run, columns});
        expect_conforms(two + " -> " + two + "{0,1}", GetParam());
        const std::string three = array(element.type, {2, run, columns});
        expect_conforms(three + " -> " + three + "{1,2,0}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
  }
}

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
