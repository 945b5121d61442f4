// Shifted rows: what is planned where rows of the target begin between lines and are long, by how
// many lines they come in, what they go through the caches in, and what boxes of them move over
// their tails. See support/microkernel_tails.hpp.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "plan/planner.hpp"
#include "support/asked_lines.hpp"
#include "support/counted_operations.hpp"
#include "support/microkernel_tails.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"
#include "support/stored_lines.hpp"

namespace restride::testing {
namespace {

using program::Code;

INSTANTIATE_TEST_SUITE_P(Streaming, Microkernel, ::testing::ValuesIn(streaming_setups()),
                         [](const auto& info) { return name_of(info.param); });

TEST(ShiftedRows, ComeInByAsManyLinesAsSuitTheProcessor) {
  Target two = streaming_target(), four = two;
  four.shifted_chunk_lines = 4;
  for (const char* wide :
       {"f32[4097,4095] -> f32[4097,4095]{0,1}", "f64[3001,3008] -> f64[3001,3008]{0,1}",
        "c128[2001,1999] -> c128[2001,1999]{0,1}"}) {
    EXPECT_GT(planned(wide, four).of(Code::store_line, 0),
              planned(wide, two).of(Code::store_line, 0))
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

/// Rows that are joined make a tile of two loops.
TEST(ShiftedRows, AreNotJoinedToWhatBeginsBetweenLines) {
  struct Row {
    const char* text;
    bool joined, joined_to_lines;
  };
  Target joins = streaming_target();
  joins.imaging_bytes = 16 * 1024 * 1024;
  Target lines = joins;
  lines.joins_whole_lines = true;
  for (const Row& row : {Row{"f64[14,763,194] -> f64[14,763,194]{2,0,1}", true, false},
                         Row{"f32[345,130,196] -> f32[345,130,196]{2,0,1}", true, false},
                         // Other rows begin lines; short rows; what is smaller.
                         Row{"f64[16,763,194] -> f64[16,763,194]{2,0,1}", true, true},
                         Row{"f32[345,330,84] -> f32[345,330,84]{2,0,1}", true, true},
                         Row{"f64[14,163,194] -> f64[14,163,194]{2,0,1}", true, true}}) {
    EXPECT_EQ(scheduled(row.text, joins).tile_loops > 1, row.joined) << row.text;
    EXPECT_EQ(scheduled(row.text, lines).tile_loops > 1, row.joined_to_lines) << row.text;
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

/// Whatever rows leave of their last chunk: what does not fill a line waits for the rest of it.
TEST(ShiftedRows, GoThroughTheCachesOnlyInLinesInWhichOneEnds) {
  Target target = streaming_target();
  target.shifted_touching_run_bytes = 512;
  for (const int64_t rows : {129, 143, 145, 159}) {
    const std::string shape = "f32[" + std::to_string(rows) + ",24,96]";
    const std::string text = shape + " -> " + shape + "{0,2,1}";
    ASSERT_EQ(scheduled(text, target).staging, Staging::shifted_panels) << text;
    std::set<int64_t> shared;
    for (int64_t row = 0; row <= int64_t{24} * 96; ++row) {
      // The first one of a row even if it is whole.
      shared.insert(row * rows * 4 / 64);
    }
    const StoredLines lines(on_lines(plan_programs(simplified_space(text), target)));
    for (const int64_t line : lines.through())
      EXPECT_EQ(shared.count(line), 1U) << text << " line " << line;
  }
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

}  // namespace
}  // namespace restride::testing
