// Runs that begin between lines where vectors are parts of lines and there are no byte masks: how
// they leave, and how panels of images are cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "plan/planner.hpp"
#include "schedule/scheduling.hpp"
#include "support/each_block.hpp"
#include "support/sampling.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

using program::Code;

/// Everything streams.
Target streaming(const char* features) {
  Target target = target_of({features, Caches::hold_nothing});
  target.l1_bytes = 32 * 1024;
  target.images_rows_with_rests = false;
  return target;
}

Program planned(const char* text, const char* features) {
  return on_lines(plan_programs(simplified_space(text), streaming(features)));
}

/// How many operations of a kind a program's text has, of those that name a stream of an operand.
std::map<Code, int64_t> codes(const Program& program, program::Role role) {
  std::map<Code, int64_t> counts;
  each_block(program.root, [&](const program::Block& block, int64_t) {
    for (const program::Op& op : block) {
      if (!program::names_memory(op.code)) continue;
      const int operand = program.streams[op.stream];
      if (program.operands[size_t(operand)].role == role) ++counts[op.code];
    }
  });
  return counts;
}

/// The vectors of lines that a program stores to a target that begins on a line, and how many of
/// them it has stored before.
struct LineStores {
  std::set<int64_t> places;
  int64_t again = 0;
};

void walk(const Program& program, const program::Body& body, std::vector<int64_t>& at,
          LineStores& stores) {
  for (const auto& item : body) {
    const auto* const loop = std::get_if<program::For>(&item);
    for (int64_t i = 0; loop != nullptr && i < loop->extent; ++i) {
      for (const program::Step& step : loop->steps) at[step.stream] += step(i);
      walk(program, loop->body, at, stores);
      for (const program::Step& step : loop->steps) at[step.stream] -= step(i);
    }
    if (loop != nullptr) continue;
    for (const program::Op& op : std::get<program::Block>(item)) {
      if (op.code != Code::store_line) continue;
      const program::Access access = accessed(op, at[op.stream] + op.offset, program.vector_bytes);
      if (access.first == access.last) continue;
      if (!stores.places.insert(access.first).second) ++stores.again;
    }
  }
}

TEST(CopiedRuns, LeaveEachLineOnce) {
  // Runs of whole lines and of any other length, columns that begin everywhere in a line; rows.
  for (const auto& [features, text] : {std::pair{"avx2", "c128[1029,33] -> c128[1029,33]{0,1}"},
                                       {"avx2", "f64[1037,69] -> f64[1037,69]{0,1}"},
                                       {"avx2", "f32[1027,33] -> f32[1027,33]{0,1}"},
                                       {"avx2", "u8[1101,97] -> u8[1101,97]{0,1}"},
                                       {"sse2", "u16[1101,65] -> u16[1101,65]{0,1}"},
                                       {"avx2", "f32[9,16,301] -> f32[9,16,301]{2,0,1}"}}) {
    const Program program = planned(text, features);
    std::vector<int64_t> at(program.streams.size(), 0);
    LineStores stores;
    walk(program, program.root, at, stores);
    EXPECT_GT(stores.places.size(), 100) << text;
    EXPECT_EQ(stores.again, 0) << features << ' ' << text;
  }
}

TEST(CopiedRuns, LeaveInLinesBetweenTheirEnds) {
  struct Row {
    const char* features;
    const char* text;
    int64_t begins, ends;  // in the text of the program
  };
  for (const Row& row : {Row{"avx2", "f32[200,256] -> f32[200,256]{0,1}", 0, 0},
                         Row{"avx2", "f32[201,65] -> f32[201,65]{0,1}", 1, 1},
                         Row{"avx2", "u8[1102,64] -> u8[1102,64]{0,1}", 1, 1},
                         Row{"sse2", "f64[1100,64] -> f64[1100,64]{0,1}", 1, 1},
                         // Pieces of runs have one begin and one end together.
                         Row{"avx2", "f32[32,1025,16] -> f32[32,1025,16]{1,2,0}", 1, 1},
                         // Rows that both have.
                         Row{"avx2", "f32[30,40,301] -> f32[30,40,301]{2,0,1}", 1, 1},
                         Row{"sse2", "u8[30,40,701] -> u8[30,40,701]{2,0,1}", 1, 1},
                         // Put together of shorter ones.
                         Row{"avx2", "f32[30,40,101] -> f32[30,40,101]{2,0,1}", 1, 1}}) {
    const Program program = planned(row.text, row.features);
    std::map<Code, int64_t> stores = codes(program, program::Role::target);
    EXPECT_EQ(stores[Code::copy_begin], row.begins) << row.features << ' ' << row.text;
    EXPECT_EQ(stores[Code::copy_end], row.ends) << row.features << ' ' << row.text;
    EXPECT_EQ(stores[Code::store_line] > 0, row.begins > 0) << row.features << ' ' << row.text;
    if (row.begins > 0) {
      EXPECT_EQ(stores[Code::store], 0) << row.features << ' ' << row.text;
    }
  }
}

/// From where a target begins on a line on, and from elsewhere.
TEST(CopiedRuns, MoveRunsOfAnyLength) {
  for (const char* features : {"sse2", "avx2"}) {
    const Target target = streaming(features);
    for (int rows = 96; rows < 1300; rows += rows < 135 ? 1 : 97) {
      for (const char* type : {"u8", "u16", "f32", "f64", "c128"}) {
        const std::string matrix = array(type, {rows, 67}), kept = array(type, {3, 5, rows});
        for (const std::string& text :
             {matrix + " -> " + matrix + "{0,1}", kept + " -> " + kept + "{2,0,1}"}) {
          if (!in_sample(features + text)) continue;
          const Report report = run_for(target, text);
          EXPECT_EQ(report.outcome, Outcome::passed) << features << ' ' << report.text;
        }
      }
    }
  }
}

TEST(CopiedRuns, MovePiecesOfLongerOnes) {
  for (const char* features : {"sse2", "avx2"}) {
    const Target target = streaming(features);
    for (const auto& [type, rows] : {std::pair{"u16", 999}, std::pair{"f32", 1025},
                                     std::pair{"f32", 1030}, std::pair{"f64", 999}}) {
      const std::string from = array(type, {32, rows, 16});
      const std::string text = from + " -> " + from + "{1,2,0}";
      const Program program = on_lines(plan_programs(simplified_space(text), target));
      // What is left over is brought before the next piece.
      EXPECT_GT(codes(program, program::Role::scratch)[Code::load], 0) << features << ' ' << text;
      const Report report = run_for(target, text);
      EXPECT_EQ(report.outcome, Outcome::passed) << features << ' ' << report.text;
    }
  }
}

/// Arrays of them follow each other between lines.
TEST(CopiedRuns, MoveRowsThatTouch) {
  const Target target = streaming("avx2");
  for (int columns = 9; columns < 264; columns += 4) {
    const std::string from = array("f32", {40, 31, columns});
    if (!in_sample(from)) continue;
    const Report report = run_for(target, from + " -> " + from + "{1,2,0}");
    EXPECT_EQ(report.outcome, Outcome::passed) << report.text;
  }
}

TEST(CopiedRuns, AreNeitherRepeatedNorPadded) {
  for (const char* const text :
       {"f32[33] -> f32[33,1001] dims={0}", "u8[] -> u8[4001] dims={}",
        "f32[30,600] -> f32[30,600]{0,1:T(600,31)}", "u16[600,30] -> u16[600,30]{1,0:T(31,600)}"}) {
    const Report report = run_for(streaming("avx2"), text);
    EXPECT_EQ(report.outcome, Outcome::passed) << report.text;
  }
}

/// Columns of a panel of images.
int64_t panel_columns(const char* text, const char* features, CodeGoal goal) {
  const Schedule made = schedule(simplified_space(text), streaming(features), goal, true);
  EXPECT_EQ(made.staging, Staging::images) << features << ' ' << text;
  return made.network_column_bytes / made.space.op.bytes;
}

TEST(CopiedRuns, ComeInByPanelsOfWholeVectors) {
  struct Row {
    const char* features;
    const char* text;
    CodeGoal goal;
    int64_t columns;
  };
  constexpr CodeGoal fast = CodeGoal::fast, small = CodeGoal::small;
  for (const Row& row : {Row{"avx2", "f32[1026,255] -> f32[1026,255]{0,1}", fast, 16},
                         // Four panels are too few for a rest.
                         Row{"avx2", "u16[1026,60] -> u16[1026,60]{0,1}", fast, 15},
                         Row{"avx2", "u16[1026,65] -> u16[1026,65]{0,1}", fast, 16},
                         // Half a line of two bytes.
                         Row{"avx2", "u16[1026,256] -> u16[1026,256]{0,1}", fast, 16},
                         Row{"avx2", "u8[1026,256] -> u8[1026,256]{0,1}", fast, 32},
                         Row{"avx2", "u8[1026,256] -> u8[1026,256]{0,1}", small, 32}}) {
    EXPECT_EQ(panel_columns(row.text, row.features, row.goal), row.columns)
        << row.features << ' ' << row.text;
  }
}

TEST(CopiedRuns, HaveBoxesOfOnePanelRatherThanARest) {
  // Twelve panels of sixteen columns, and eleven.
  for (const auto& [columns, box] : {std::pair{192, 64}, std::pair{176, 16}}) {
    const std::string matrix = array("f32", {1026, columns});
    const Schedule made = scheduled(matrix + " -> " + matrix + "{0,1}", streaming("avx2"));
    EXPECT_EQ(source_run_elements(made), box) << columns;
  }
}

TEST(CopiedRuns, WriteLongRestsOfRowsOverWhatIsBeforeThem) {
  struct Row {
    const char* features;
    const char* text;
    bool whole;
  };
  // Two runs of 197 rows, of which networks of eight leave five; of 196, four.
  for (const Row& row : {Row{"avx2", "f32[394,17,64] -> f32[394,17,64]{0,1,2}", true},
                         Row{"avx2", "f32[392,17,64] -> f32[392,17,64]{0,1,2}", false}}) {
    int64_t parts = 0;
    const Program program = planned(row.text, row.features);
    each_block(program.root, [&](const program::Block& block, int64_t) {
      for (const program::Op& op : block)
        parts += op.code == Code::store && op.bytes < program.vector_bytes ? 1 : 0;
    });
    EXPECT_EQ(parts == 0, row.whole) << row.text;
  }
}

TEST(CopiedRuns, OfBytesComeInByWholeVectorsOfColumns) {
  const Program program = planned("u8[1026,256] -> u8[1026,256]{0,1}", "avx2");
  std::map<int64_t, int64_t> loads;
  each_block(program.root, [&](const program::Block& block, int64_t) {
    for (const program::Op& op : block) {
      if (op.code == Code::load && program.streams[op.stream] == 1) ++loads[op.bytes];
    }
  });
  EXPECT_GE(loads[32], 2 * 16);
  EXPECT_LE(loads[16], 2);  // of the two rows behind the images
}

TEST(LongRows, ArePutTogetherWhereTheyLieApart) {
  struct Row {
    const char* text;
    bool images;
  };
  for (const Row& row :
       {Row{"f32[60,90,201] -> f32[60,90,201]{2,0,1}", true},
        Row{"f32[40,60,511] -> f32[40,60,511]{2,0,1}", true},
        Row{"f32[40,60,513] -> f32[40,60,513]{2,0,1}", false},
        // Tiles of whole lines, the last of a row a part of one; less of them.
        Row{"f32[96,1026]{1,0:T(8,128)} -> f32[96,1026]", true},
        Row{"f32[96,1026]{1,0:T(8,64)} -> f32[96,1026]", false},
        Row{"f32[96,1024]{1,0:T(8,128)} -> f32[96,1024]", false},
        // Side by side, and one by itself.
        Row{"f32[400,151]{1,0:PAD(400,160;zero)} -> f32[400,151]", false},
        Row{"f32[40,151,60] -> f32[40,151,60]{2,0,1:PAD(40,151,67;zero)}", false}}) {
    for (const char* features : {"sse2", "avx2", "avx512_vbmi"}) {
      Target target = streaming(features);
      target.reads_ahead_by_step = target.images_rows = true;
      const bool half_lines = target.vector_bytes < target.line_bytes;
      EXPECT_EQ(scheduled(row.text, target).staging == Staging::images, row.images && half_lines)
          << features << ' ' << row.text;
    }
  }
}

TEST(LongRows, OfTilesMoveWhole) {
  for (const char* features : {"sse2", "avx2"}) {
    Target target = streaming(features);
    target.reads_ahead_by_step = target.images_rows = true;
    for (const char* text :
         {"f32[24,1026]{1,0:T(8,128)} -> f32[24,1026]",
          "f32[17,3333]{1,0:T(8,128)} -> f32[17,3333]", "u8[19,5077]{1,0:T(8,512)} -> u8[19,5077]",
          "f64[9,333]{1,0:T(4,64)} -> f64[9,333]", "u16[35,1999]{1,0:T(32,384)} -> u16[35,1999]"}) {
      const Report report = run_for(target, text);
      EXPECT_EQ(report.outcome, Outcome::passed) << features << ' ' << report.text;
    }
  }
}

}  // namespace
}  // namespace restride::testing
