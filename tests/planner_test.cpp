// What programs of the planner do, seen from outside: which go around the caches, and which lines
// they ask for. None of this changes what arrives.
#include "plan/planner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "space/iteration_space.hpp"
#include "support/asked_lines.hpp"
#include "support/each_block.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"
#include "target/target.hpp"

namespace restride::testing {
namespace {

TEST(Streaming, GoesAroundTheCachesWhereItIsMeantTo) {
  // Aligned rows, rows that begin between lines, short ones, copied ones: without this the tests of
  // streamed arrays could pass on programs that do not stream.
  for (const char* text :
       {"f32[256,256] -> f32[256,256]{0,1}", "f32[257,256] -> f32[257,256]{0,1}",
        "u8[260,320] -> u8[260,320]{0,1}", "f32[49,256] -> f32[49,256]{0,1}",
        "f32[9,71,3,20] -> f32[9,71,3,20]{0,1,2,3}", "f32[4,64,64] -> f32[4,64,64]{2,0,1}",
        "u8[128,64,3] -> u8[128,64,3]{2,0,1}", "u4[256,256]{1,0:E(4)} -> u4[256,256]{0,1:E(4)}"}) {
    const IterationSpace space = simplified_space(text);
    EXPECT_TRUE(uses_nontemporal_stores(
        on_lines(plan_programs(space, target_of({"avx512_vbmi", Caches::hold_nothing})))))
        << text;
    EXPECT_FALSE(uses_nontemporal_stores(
        on_lines(plan_programs(space, target_of({"avx512_vbmi", Caches::hold_everything})))))
        << text;
  }
}

TEST(Streaming, MakesWholeLinesOfVectorsOfHalfALine) {
  struct Row {
    const char* text;
    bool nontemporal;
  };
  for (const Row& row :
       {Row{"u8[256,256] -> u8[256,256]{0,1}", true},
        Row{"f16[256,256] -> f16[256,256]{0,1}", true},
        Row{"f32[256,256] -> f32[256,256]{0,1}", true},
        // Rows between lines that touch; too long ones for one image.
        Row{"f32[260,264] -> f32[260,264]{0,1}", true},
        Row{"f32[1100,264] -> f32[1100,264]{0,1}", true},
        // Windows of pixels, one after the other; lines of three planes, but not
        // of planes that begin between lines.
        Row{"u8[3,1024] -> u8[3,1024]{0,1}", true}, Row{"u8[1024,3] -> u8[1024,3]{0,1}", true},
        Row{"u8[1030,3] -> u8[1030,3]{0,1}", false},
        // Runs of the target of half a line, which touch; of several digits, in images.
        Row{"u8[32,640] -> u8[32,640]{0,1}", true},
        Row{"f32[64,64,3,3] -> f32[64,64,3,3]{3,2,1,0:T(8,8,1,1)}", true}}) {
    const IterationSpace space = simplified_space(row.text);
    EXPECT_EQ(uses_nontemporal_stores(
                  on_lines(plan_programs(space, target_of({"avx2", Caches::hold_nothing})))),
              row.nontemporal)
        << row.text;
  }
}

int64_t prefetches(const program::Body& body) {
  int64_t count = 0;
  for (const auto& item : body) {
    const program::For* loop = std::get_if<program::For>(&item);
    if (loop != nullptr) {
      count += loop->extent * prefetches(loop->body);
      continue;
    }
    for (const program::Op& op : std::get<program::Block>(item)) {
      count += op.code == program::Code::prefetch ? 1 : 0;
    }
  }
  return count;
}

/// By the first program of a problem.
int64_t lines_asked_for(const char* text, const Target& target) {
  const IterationSpace space = simplified_space(text);
  return prefetches(on_lines(plan_programs(space, target)).root);
}

TEST(Streaming, AsksForEveryLineOfALargeComputedSource) {
  struct Row {
    const char* text;
    int64_t lines;
  };
  for (const Row& row :
       {Row{"convert(f32[256,256]) -> s8[256,256]{0,1}", 256 * 256 * 4 / 64},
        Row{"convert(bf16[256,256]) -> f32[256,256]{0,1}", 256 * 256 * 2 / 64},
        Row{"multiply(f32[256,256]{0,1}, f32[256,256]) -> f32[256,256]{0,1}", 256 * 256 * 4 / 64},
        Row{"convert(f32[256,256]) -> s8[256,256]", 256 * 256 * 4 / 64},
        Row{"less(f32[256,256], f32[256] dims={1}) -> pred[256,256]", 256 * 256 * 4 / 64},
        Row{"add(f32[256,256], f32[256,256]) -> f32[256,256]", 2 * 256 * 256 * 4 / 64},
        // Rows of the source of less than a page.
        Row{"convert(f32[256,240]{1,0:PAD(256,256;zero)}) -> f16[256,240]", 0}}) {
    Target streamed = target_of({"avx512_vbmi", Caches::hold_nothing});
    streamed.l2_bytes = 32 * 1024;
    EXPECT_EQ(lines_asked_for(row.text, streamed), row.lines) << row.text;
    const Target cached = target_of({"avx512_vbmi", Caches::hold_everything});
    EXPECT_EQ(lines_asked_for(row.text, cached), 0) << row.text;
  }
}

TEST(Streaming, AsksForAllRowsOfImagesOfSeveralDigits) {
  for (const char* text : {"f32[7,9,24,16,16,80] -> f32[7,9,24,16,16,80]{0,3,1,4,2,5}",
                           "f32[26,32,32,3,96] -> f32[26,32,32,3,96]{0,1,2,3,4}"}) {
    const IterationSpace space = simplified_space(text);
    const ByteRange source = touched_bytes(space, 1);
    const Program program = on_lines(plan_programs(space, streaming_target()));
    // All but those of the first box.
    EXPECT_GT(AskedLines(program).count() * 64, (source.end - source.begin) * 19 / 20) << text;
  }
}

TEST(Streaming, AsksForWholeRowsOfTheNextBoxWhereThereAreMany) {
  struct Row {
    const char* text;
    int64_t lines;  // of a row
  };
  for (const Row& row : {Row{"f32[500,200,128] -> f32[500,200,128]{0,2,1}", 8},
                         Row{"f32[100,500,96] -> f32[100,500,96]{0,2,1}", 6},
                         // Few rows.
                         Row{"f32[50,1000,128] -> f32[50,1000,128]{0,2,1}", 1}}) {
    const IterationSpace space = simplified_space(row.text);
    const ByteRange source = touched_bytes(space, 1);
    const Program program = on_lines(plan_programs(space, streaming_target()));
    const AskedLines asked(program);
    EXPECT_GT(asked.count() * 64, (source.end - source.begin) * 19 / 20) << row.text;
    const int64_t rows = asked.count() / row.lines;
    EXPECT_NEAR(double(asked.side_by_side()), double(asked.count() - rows), double(rows) / 3)
        << row.text;
  }
}

/// Whatever part of a row goes with what a loop writes.
TEST(Streaming, AsksForEachLineOfTheNextBoxRowAfterRow) {
  struct Row {
    const char* text;
    int64_t together;  // lines of a row that are asked for one after the other
  };
  Target target = streaming_target();
  target.long_run_bytes = 256;
  target.page_element_bytes = 16;
  target.uncut_run_bytes = 2048;
  for (const Row& row : {// 64 rows of 24 lines, 4 at a time.
                         Row{"f32[512,100,384] -> f32[512,100,384]{0,1,2}", 24},
                         // 32 rows of 10 lines, 4 at a time: 2 of 2 rows.
                         Row{"f32[32,500,160] -> f32[32,500,160]{0,1,2}", 2},
                         // 48 rows of 22 lines, 12 at a time: half a row, 4 rows beforehand.
                         Row{"f32[48,200,352] -> f32[48,200,352]{0,1,2}", 22},
                         // 48 rows of 8 lines, 12 at a time: 4 of 3 rows.
                         Row{"f32[48,200,1024] -> f32[48,200,1024]{0,1,2}", 4},
                         // 96 rows of 6 lines, 12 at a time: 2 rows.
                         Row{"f32[96,200,96] -> f32[96,200,96]{0,1,2}", 6},
                         // Rows of two digits, 12 lines of 48 at a time.
                         Row{"f32[24,54,39,256] -> f32[24,54,39,256]{0,1,3,2}", 4}}) {
    const IterationSpace space = simplified_space(row.text);
    const ByteRange source = touched_bytes(space, 1);
    const Program program = on_lines(plan_programs(space, target));
    const AskedLines asked(program);
    EXPECT_GT(asked.count() * 64, (source.end - source.begin) * 19 / 20) << row.text;
    const double broken = 1.0 / double(row.together);
    EXPECT_NEAR(double(asked.side_by_side()), double(asked.count()) * (1 - broken),
                double(asked.count()) * broken / 3)
        << row.text;
  }
}

TEST(Streaming, AsksForLinesOfLargeTargetsBeforeTheyAreWritten) {
  struct Row {
    const char* text;
    int64_t lines;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  for (const Row& row :
       {Row{"f32[] -> f32[16384]", 1024}, Row{"f32[16384] -> f32[16384]", 1024},
        Row{"u8[3] -> u8[16384,3] dims={1}", 768}, Row{"f32[64] -> f32[256,64] dims={1}", 1024},
        Row{"f32[100] -> f32[160,100] dims={1}", 1000},
        Row{"f32[160,100]{1,0:PAD(160,112;zero)} -> f32[160,100]", 1000},
        // Runs of the target of less than a page.
        Row{"f32[256,64] -> f32[256,64]{1,0:PAD(256,80;unknown)}", 0}}) {
    target.claiming_bytes = 32 * 1024;
    EXPECT_EQ(lines_asked_for(row.text, target), row.lines) << row.text;
    target.claiming_bytes = 1024 * 1024;
    EXPECT_EQ(lines_asked_for(row.text, target), 0) << row.text;
  }
}

TEST(Caches, AskForLinesThatAreWrittenNext) {
  struct Row {
    const char* text;
    int64_t lines;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  for (const Row& row :
       {Row{"f32[128,128] -> f32[128,128]{0,1}", 1024}, Row{"u8[16384,3] -> u8[16384,3]{0,1}", 768},
        Row{"u8[16500,13] -> u8[16500,13]{0,1}", 3341},
        Row{"u16[260,128] -> u16[260,128]{0,1}", 1024},  // whole lines of rows between lines
        Row{"u8[250,250] -> u8[250,250]{0,1}", 750}, Row{"u8[256,256] -> u8[256,256]{0,1}", 0},
        Row{"f32[16,24,128] -> f32[16,24,128]{0,1,2}", 3072},  // runs of two loops
        Row{"u16[70,1000] -> u16[70,1000]{0,1}", 0},           // nothing comes next in rows
        Row{"f32[64,64] -> f32[64,64]{0,1}", 0},               // all of it in L1
        Row{"u16[2049,256] -> u16[2049,256]{0,1}", 0}}) {      // many lines of one set
    EXPECT_EQ(lines_asked_for(row.text, target), row.lines) << row.text;
  }
  target.claims_transposed_lines = false;
  EXPECT_EQ(lines_asked_for("f32[128,128] -> f32[128,128]{0,1}", target), 0);
}

/// The most operations from one that makes what is stored to its store; 0 without any store.
int64_t longest_wait(const program::Body& body) {
  int64_t longest = 0;
  each_block(body, [&](const program::Block& block, int64_t) {
    for (auto op = block.begin(); op != block.end(); ++op) {
      if (op->code != program::Code::store) continue;
      const auto made = std::find_if(block.begin(), op,
                                     [&](const program::Op& other) { return other.to == op->a; });
      longest = std::max<int64_t>(longest, op - made);
    }
  });
  return longest;
}

TEST(Networks, StoreAColumnAsSoonAsItIsThere) {
  constexpr int64_t pair = 2;  // the last unpacks make two columns
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.claims_transposed_lines = false;
  for (const char* text : {"u8[256,128] -> u8[256,128]{0,1}", "u16[128,128] -> u16[128,128]{0,1}",
                           "f32[128,128] -> f32[128,128]{0,1}"}) {
    const Program program = on_lines(plan_programs(simplified_space(text), target));
    EXPECT_EQ(longest_wait(program.root), pair) << text;
  }
}

/// The fewest bytes that an operation loads.
int narrowest_load(const program::Body& body) {
  int narrowest = 64;
  each_block(body, [&](const program::Block& block, int64_t) {
    for (const program::Op& op : block) {
      if (op.code == program::Code::load) narrowest = std::min<int>(narrowest, op.bytes);
    }
  });
  return narrowest;
}

TEST(Networks, TakeInAFewColumnsWithWhatLiesBeforeThem) {
  struct Row {
    const char* text;
    int bytes;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.network_piece_bytes = 16;
  target.skews_rows = false;
  for (const Row& row :
       {Row{"u8[192,65] -> u8[192,65]{0,1}", 16}, Row{"u16[96,35] -> u16[96,35]{0,1}", 16},
        Row{"f32[48,17] -> f32[48,17]{0,1}", 16}, Row{"f32[48,6] -> f32[48,6]{0,1}", 16}}) {
    const Program program = on_lines(plan_programs(simplified_space(row.text), target));
    EXPECT_EQ(narrowest_load(program.root), row.bytes) << row.text;
  }
}

TEST(Networks, TakePiecesOfTwoLanesOfWideElementsAlone) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.network_piece_bytes = 32;
  target.skews_rows = false;
  const auto narrowest = [&](const char* text, int least_element_bytes) {
    target.least_piece_element_bytes = least_element_bytes;
    return narrowest_load(on_lines(plan_programs(simplified_space(text), target)).root);
  };
  EXPECT_EQ(narrowest("f64[64,64] -> f64[64,64]{0,1}", 8), 32);
  EXPECT_EQ(narrowest("u16[64,64] -> u16[64,64]{0,1}", 1), 32);
  EXPECT_EQ(narrowest("u16[64,64] -> u16[64,64]{0,1}", 8), 16);
}

int64_t lines_around_caches(const program::Body& body) {
  int64_t count = 0;
  each_block(body, [&](const program::Block& block, int64_t times) {
    count += times * std::count_if(block.begin(), block.end(), [](const program::Op& op) {
               return program::goes_around_caches(op.code);
             });
  });
  return count;
}

TEST(Streaming, LetsMostOfRunsThatBeginBetweenLinesLeaveInWholeLines) {
  for (const char* text :
       {// Images by pixels, and back by planes.
        "u8[5,3,2691] -> u8[5,3,2691]{1,2,0}", "f16[5,3,1355] -> f16[5,3,1355]{1,2,0}",
        "f32[3,3,699] -> f32[3,3,699]{1,2,0}", "u8[2,4,2757] -> u8[2,4,2757]{1,2,0}",
        "f64[3,3,345] -> f64[3,3,345]{1,2,0}", "u8[5,4115,3] -> u8[5,4115,3]{1,2,0}",
        "f16[5,2059,3] -> f16[5,2059,3]{1,2,0}", "f32[3,1035,3] -> f32[3,1035,3]{1,2,0}",
        "f32[3,1035,4] -> f32[3,1035,4]{1,2,0}", "f64[3,515,2] -> f64[3,515,2]{1,2,0}",
        // Short rows that touch.
        "f32[3,24,1001] -> f32[3,24,1001]{1,2,0}", "u8[3,50,1025] -> u8[3,50,1025]{1,2,0}",
        "u16[3,100,1001] -> u16[3,100,1001]{1,2,0}", "f64[3,13,1001] -> f64[3,13,1001]{1,2,0}",
        // Small matrices, one at a time.
        "f32[64,24,49] -> f32[64,24,49]{1,2,0}", "f32[64,49,24] -> f32[64,49,24]{1,2,0}",
        "u8[64,100,49] -> u8[64,100,49]{1,2,0}", "u16[64,100,49] -> u16[64,100,49]{1,2,0}",
        "f64[64,25,13] -> f64[64,25,13]{1,2,0}",
        // Those of which many make whole lines.
        "u32[400,7,7] -> u32[400,7,7]{1,2,0}", "u8[640,13,13] -> u8[640,13,13]{1,2,0}"}) {
    const IterationSpace space = simplified_space(text);
    const ByteRange target = touched_bytes(space, 0);
    const Target streamed = target_of({"avx512_vbmi", Caches::hold_nothing});
    const Program program = on_lines(plan_programs(space, streamed));
    EXPECT_GT(lines_around_caches(program.root) * 64, (target.end - target.begin) * 9 / 10) << text;
  }
}

TEST(Streaming, LeavesWhatBeginsBetweenLinesInAThirdLevelThatHoldsIt) {
  struct Row {
    const char* text;
    bool nontemporal;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_nothing});
  target.l1_bytes = 48 * 1024;
  target.imaging_bytes = int64_t{1} << 60;
  for (const Row& row : {// Permuted blocks; rows that touch; small matrices.
                         Row{"u16[40,8,127] -> u16[40,8,127]{1,2,0}", false},
                         Row{"f32[3,1035,3] -> f32[3,1035,3]{1,2,0}", false},
                         Row{"u8[3,50,1025] -> u8[3,50,1025]{1,2,0}", false},
                         Row{"f32[64,24,49] -> f32[64,24,49]{1,2,0}", false},
                         // Longer ones.
                         Row{"f32[3,150,1001] -> f32[3,150,1001]{1,2,0}", false},
                         Row{"f32[601,300] -> f32[601,300]{0,1}", false},
                         // Columns that crowd sets of L1.
                         Row{"u8[4097,513] -> u8[4097,513]{0,1}", true},
                         // What begins on lines.
                         Row{"u16[40,8,128] -> u16[40,8,128]{1,2,0}", true},
                         Row{"f32[3,64,128] -> f32[3,64,128]{1,2,0}", true}}) {
    const IterationSpace space = simplified_space(row.text);
    EXPECT_EQ(uses_nontemporal_stores(on_lines(plan_programs(space, target))), row.nontemporal)
        << row.text;
  }
}

TEST(Streaming, GoesAroundTheCachesWhereverInALineTheTargetBegins) {
  struct Row {
    const char* target;
    const char* text;
    std::vector<int64_t> promised;  // of the target's pointer, bytes, to each program
    bool last_streams;
  };
  for (const Row& row :
       {// Behind the header of an allocator, too, where runs are long.
        Row{"avx512_vbmi", "f32[512,256] -> f32[512,256]{0,1}", {64, 64, 1}, true},
        Row{"avx512_vbmi", "c128[512,256] -> c128[512,256]{0,1}", {64, 64, 1}, true},
        Row{"avx512_vbmi", "f32[16,24,64] -> f32[16,24,64]{1,2,0}", {64, 1}, true},
        Row{"avx512_vbmi", "u16[4,4096] -> u16[4,4096]{0,1}", {64, 1}, true},
        Row{"avx512_vbmi", "u8[100,256,3] -> u8[100,256,3]{2,0,1}", {1}, true},
        Row{"avx512_vbmi", "f32[64,512] -> f32[64,512]", {64, 1}, true},
        Row{"avx512_vbmi", "f32[] -> f32[64,512] dims={}", {64, 1}, false},
        // What looks where its lines begin anyway.
        Row{"avx512_vbmi", "f32[1001,999] -> f32[1001,999]{0,1}", {4, 1}, false},
        Row{"avx512_vbmi", "u8[1001,999] -> u8[1001,999]{0,1}", {1}, true},
        // Shifts of at least two bytes; copies of any.
        Row{"avx512", "f32[512,256] -> f32[512,256]{0,1}", {64, 64, 2, 1}, false},
        Row{"avx2", "f32[512,256] -> f32[512,256]{0,1}", {64, 32, 1}, true}}) {
    const IterationSpace space = simplified_space(row.text);
    const Target target = target_of({row.target, Caches::hold_nothing});
    const std::vector<Program> programs = plan_programs(space, target);
    std::vector<int64_t> promised;
    for (const Program& program : programs) promised.push_back(program.operands[0].alignment);
    EXPECT_EQ(promised, row.promised) << row.target << ' ' << row.text;
    EXPECT_EQ(uses_nontemporal_stores(programs.back()), row.last_streams) << row.text;
  }
}

TEST(Streaming, LetsRowsThatAreNoWholeLinesLeaveInWholeLines) {
  for (const char* text :
       {// Batches of small matrices.
        "u8[400,12,12] -> u8[400,12,12]{1,2,0}", "u8[400,10,10] -> u8[400,10,10]{1,2,0}",
        "u64[400,5,5] -> u64[400,5,5]{1,2,0}",
        // Planes that are interleaved, or put into short tiles.
        "f32[4,1000] -> f32[4,1000]{0,1}", "f32[10,1000] -> f32[10,1000]{0,1}",
        "u16[16,1000] -> u16[16,1000]{0,1}", "u8[20,1000] -> u8[20,1000]{0,1}",
        "f64[6,1000] -> f64[6,1000]{0,1}", "f16[16,256] -> f16[16,256]{1,0:T(16,1)}",
        "u8[2,32,28,28] -> u8[2,32,28,28]{3,2,1,0:T(16,1,1)}",
        // Columns into small tiles.
        "f32[128,128]{0,1} -> f32[128,128]{1,0:T(4,4)}",
        "f32[128,128]{0,1} -> f32[128,128]{1,0:T(8,8)}",
        "u8[128,128]{0,1} -> u8[128,128]{1,0:T(8,8)}",
        // Rows that begin between lines.
        "f32[30] -> f32[8,100,30] dims={2}", "f32[64] -> f32[64,1003] dims={0}",
        "f32[64] -> f32[64,20] dims={0}", "u16[40,3,707] -> u16[40,3,707]{2,0,1}",
        // Short rows that a permutation keeps.
        "f32[200,19,5] -> f32[200,19,5]{2,0,1}", "u8[90,19,33] -> u8[90,19,33]{2,0,1}"}) {
    const IterationSpace space = simplified_space(text);
    const Target target = target_of({"avx512_vbmi", Caches::hold_nothing});
    EXPECT_TRUE(uses_nontemporal_stores(on_lines(plan_programs(space, target)))) << text;
  }
}

}  // namespace
}  // namespace restride::testing
