// How large the blocks of transposes are. None of this changes what arrives.
#include <gtest/gtest.h>

#include "plan/planner.hpp"
#include "program/program.hpp"
#include "schedule/scheduling.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"
#include "target/target.hpp"

namespace restride::testing {
namespace {

/// How much of an axis a tile takes.
int64_t in_tile(const Schedule& schedule, int axis) {
  int64_t product = 1;
  for (auto loop = schedule.space.loops.end() - schedule.tile_loops;
       loop != schedule.space.loops.end(); ++loop) {
    if (loop->axis == axis) product *= loop->extent;
  }
  return product;
}

/// Of 256 and 512 bytes, by filters.
TEST(Blocks, WriteWholeRowsAlongWhichTheSourceGoesOnBehindShortOnes) {
  Target target = streaming_target();
  for (const int64_t most : {0, 512}) {
    target.run_along_source_bytes = most;
    const auto expect = [&](const char* text, int64_t row, bool whole) {
      EXPECT_EQ(target_run_elements(scheduled(text, target)) >= row, whole) << text << most;
    };
    expect("f32[976,768,3,3] -> f32[976,768,3,3]{3,2,1,0:T(8,8,1,1)}", 64, most > 0);
    expect("bf16[1104,1072,3,3] -> bf16[1104,1072,3,3]{3,2,1,0:T(16,16,1,1)}", 256, most > 0);
    // Longer rows, wider filters, a source that goes on elsewhere; the target may.
    expect("bf16[1120,1056,3,3] -> bf16[1120,1056,3,3]{3,2,1,0:T(32,32,1,1)}", 1024, false);
    expect("f32[480,384,7,7] -> f32[480,384,7,7]{3,2,1,0:T(8,8,1,1)}", 64, false);
    expect("f32[4096,4096]{0,1} -> f32[4096,4096]{1,0:T(8,128)}", 128, false);
    expect("f32[56,84,48,24] -> f32[56,84,48,24]{2,0,1,3}", 48, most > 0);
  }
}

TEST(Blocks, KeepDigitsOfTheSourceWholeWhoseLinesRowsShare) {
  constexpr int64_t cut = 64;
  struct Row {
    const char* text;
    int64_t columns;
  };
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 32 * 1024;
  target.translated_pages = 1024;
  target.claims_transposed_lines = false;
  const auto columns = [&](const char* text) { return in_tile(scheduled(text, target), 0); };
  for (const Row& row : {Row{"u8[4160,100] -> u8[4160,100]{0,1}", 4 * 32},  // 100 and a rest
                         Row{"f32[2000,333] -> f32[2000,333]{0,1}", 21 * 16},
                         Row{"u8[2112,1000] -> u8[2112,1000]{0,1}", 32 * 32},
                         Row{"u8[192,2001] -> u8[192,2001]{0,1}", 63 * 32},  // 21 to a page
                         Row{"u8[128,2001] -> u8[128,2001]{0,1}", cut},      // two blocks below
                         Row{"u8[4160,1100] -> u8[4160,1100]{0,1}", cut},    // on so many pages
                         Row{"u8[512,1001] -> u8[512,1001]{0,1}", 16 * 64},
                         Row{"u8[1024,1001] -> u8[1024,1001]{0,1}", cut},  // columns fill sets
                         // Whole lines: narrow elements, long rows, columns on lines.
                         Row{"u8[4160,320] -> u8[4160,320]{0,1}", 10 * 32},
                         Row{"u8[4160,192] -> u8[4160,192]{0,1}", cut},
                         Row{"u8[4150,320] -> u8[4150,320]{0,1}", cut},
                         Row{"f32[1040,160] -> f32[1040,160]{0,1}", cut}}) {
    EXPECT_EQ(columns(row.text), row.columns) << row.text;
  }
  target.claims_transposed_lines = true;
  EXPECT_EQ(columns("u8[4160,100] -> u8[4160,100]{0,1}"), cut);
  // Half lines wait for the rest of them.
  target.l1_bytes = 48 * 1024;
  target.claims_transposed_lines = false;
  EXPECT_GT(columns("u8[512,1001] -> u8[512,1001]{0,1}"), cut);
  target.vector_bytes = 32;
  EXPECT_EQ(columns("u8[512,1001] -> u8[512,1001]{0,1}"), cut);
}

TEST(Blocks, HoldBothLinesOfRowsThatBeginBetweenThem) {
  struct Row {
    const char* text;
    int64_t l1_bytes, rows;
  };
  for (const Row& row : {Row{"f64[520,99] -> f64[520,99]{0,1}", 32 * 1024, 128},
                         Row{"f64[520,99] -> f64[520,99]{0,1}", 64 * 1024, 256},
                         Row{"f64[520,96] -> f64[520,96]{0,1}", 32 * 1024, 256},  // whole lines
                         Row{"c128[520,97] -> c128[520,97]{0,1}", 48 * 1024, 128},
                         Row{"f32[520,99] -> f32[520,99]{0,1}", 32 * 1024, 64}}) {
    Target target = target_of({"avx512_vbmi", Caches::hold_everything});
    target.l1_bytes = row.l1_bytes;
    EXPECT_EQ(in_tile(scheduled(row.text, target), 1), row.rows) << row.text;
  }
}

TEST(Blocks, WriteTwoLinesOfBytesWhoseColumnsMeetInSets) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.pairs_meeting_lines = true;
  target.l1_bytes = 32 * 1024;
  target.l2_bytes = 1024 * 1024;
  target.l3_bytes = 32 * target.l2_bytes;
  struct Row {
    const char* text;
    bool pairs;
  };
  for (const Row& row : {Row{"u8[2048,784] -> u8[2048,784]{0,1}", true},
                         Row{"u8[8,1024,48] -> u8[8,1024,48]{1,2,0}", true},
                         // Columns in more sets; arrays in half of L2; wider elements.
                         Row{"u8[2112,784] -> u8[2112,784]{0,1}", false},
                         Row{"u8[2048,100] -> u8[2048,100]{0,1}", false},
                         Row{"u16[2048,784] -> u16[2048,784]{0,1}", false}}) {
    const int64_t rows = target_run_elements(scheduled(row.text, target));
    EXPECT_EQ(rows == 2 * target.line_bytes, row.pairs) << row.text << ": " << rows;
  }
  // Halves of lines only where they come from scratch.
  target.vector_bytes = 32;
  const char* const pairs_of_bytes = "u16[2048,784] -> u16[2048,784]{0,1}";
  EXPECT_NE(target_run_elements(scheduled(pairs_of_bytes, target)), target.line_bytes);
}

TEST(Blocks, OfTwoLinesMoveAllBytes) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  if (!runs_here(target)) GTEST_SKIP() << "this machine lacks AVX-512";
  target.pairs_meeting_lines = true;
  target.l1_bytes = 32 * 1024;
  target.l2_bytes = 64 * 1024;
  for (const char* text :
       {"u8[1024,49] -> u8[1024,49]{0,1}", "u8[3,2048,37] -> u8[3,2048,37]{1,2,0}",
        "s8[1024,3,21] -> s8[1024,3,21]{0,1,2}",
        "u8[1000,50] -> u8[1000,50]{0,1:PAD(1024,50;zero)}"}) {
    EXPECT_EQ(target_run_elements(scheduled(text, target)), 128) << text;
    const Report report = run_for(target, text);
    EXPECT_EQ(report.outcome, Outcome::passed) << report.text;
  }
}

TEST(Blocks, WriteLongerRunsWhereRowsAreFarApart) {
  Target target = target_of_long_runs();
  target.far_long_run_bytes = 384;
  struct Row {
    const char* text;
    int64_t rows;
  };
  for (const Row& row : {Row{"f32[384,8192] -> f32[384,8192]{0,1}", 96},
                         Row{"f64[96,8192] -> f64[96,8192]{0,1}", 48},
                         Row{"f32[160,8192] -> f32[160,8192]{0,1}", 80},
                         Row{"f32[96,75,12,608] -> f32[96,75,12,608]{0,1,2,3}", 96},
                         // Neither 384 nor 320 bytes divide them; they are long.
                         Row{"f32[112,16384] -> f32[112,16384]{0,1}", 64},
                         Row{"f32[768,8192] -> f32[768,8192]{0,1}", 64},
                         // Rows of the source lie closer together; are narrow.
                         Row{"f32[384,4032] -> f32[384,4032]{0,1}", 64},
                         Row{"u16[768,16384] -> u16[768,16384]{0,1}", 128}}) {
    EXPECT_EQ(target_run_elements(scheduled(row.text, target)), row.rows) << row.text;
  }
}

TEST(Blocks, ReadRowsOfTheSourceForLongerWhereTheseAreWholeLines) {
  Target target = streaming_target();
  target.page_element_bytes = 16;
  target.streamed_column_bytes = 1024;
  target.streamed_digits_bytes = 3072;
  struct Row {
    const char* text;
    int64_t columns;
  };
  for (const Row& row : {Row{"f32[4000,4000] -> f32[4000,4000]{0,1}", 256},
                         Row{"u16[4000,4000] -> u16[4000,4000]{0,1}", 512},
                         Row{"f64[4000,4000] -> f64[4000,4000]{0,1}", 160},
                         // Digits of 384 bytes, eight of them; of just as many as are read.
                         Row{"f32[640,20,24,96] -> f32[640,20,24,96]{0,1,2,3}", 8 * 96},
                         Row{"f32[640,48,256] -> f32[640,48,256]{0,1,2}", 256},
                         // Rows between lines; bytes.
                         Row{"f32[4000,4001] -> f32[4000,4001]{0,1}", 128},
                         Row{"u8[4096,4096] -> u8[4096,4096]{0,1}", 512},
                         // Columns beside each other, of 256 bytes, and of more; wide ones; of
                         // several digits.
                         Row{"f32[64,16384] -> f32[64,16384]{0,1}", 128},
                         Row{"f32[80,16384] -> f32[80,16384]{0,1}", 256},
                         Row{"f64[32,16384] -> f64[32,16384]{0,1}", 128},
                         Row{"f32[28,28,48,28,48] -> f32[28,28,48,28,48]{2,4,0,3,1}", 48 * 16}}) {
    EXPECT_EQ(source_run_elements(scheduled(row.text, target)), row.columns) << row.text;
  }
}

TEST(Blocks, WriteLongRunsBesideShortRowsOfTheSourceThatTouch) {
  Target target = target_of_long_runs();
  target.touching_rows_run_bytes = 4096;
  struct Row {
    const char* text;
    int64_t bytes;
  };
  for (const Row& row :
       {Row{"f32[32768,16] -> f32[32768,16]{0,1}", 4096},
        Row{"f64[32768,8] -> f64[32768,8]{0,1}", 4096},
        Row{"f32[64,512,16] -> f32[64,512,16]{1,0,2}", 4096},
        Row{"f32[256,16,128,16] -> f32[256,16,128,16]{2,0,3,1}", 512},
        Row{"f32[256,16,3,256,16] -> f32[256,16,3,256,16]{3,0,4,2,1}", 1024},
        // Narrow elements; two lines of them; rows of the source that do not touch.
        Row{"u16[32768,32] -> u16[32768,32]{0,1}", 256},
        Row{"f32[32768,32] -> f32[32768,32]{0,1}", 256},
        Row{"f32[256,16,128,32] -> f32[256,16,128,32]{2,0,3,1}", 256},
        Row{"f32[32768,8]{1,0:PAD(32768,16;zero)} -> f32[32768,8]{0,1}", 128},
        // Of less than a line: where they are short, or elements have two bytes.
        Row{"f32[256,16,128,8] -> f32[256,16,128,8]{2,0,3,1}", 512},
        Row{"u8[256,16,640,24] -> u8[256,16,640,24]{2,0,3,1}", 640},
        Row{"f32[65536,8] -> f32[65536,8]{0,1}", 256},
        Row{"u16[65536,16] -> u16[65536,16]{0,1}", 1024},
        Row{"u8[65536,24] -> u8[65536,24]{0,1}", 256},
        // Wide ones.
        Row{"c128[65536,4] -> c128[65536,4]{0,1}", 256}}) {
    const Schedule planned = scheduled(row.text, target);
    EXPECT_EQ(target_run_elements(planned) * planned.space.op.bytes, row.bytes) << row.text;
  }
}

TEST(Blocks, TakeRowsOfTheTargetWholeWhereTheirBoxIsSmall) {
  Target target = target_of_long_runs();
  target.uncut_run_bytes = 2048;
  target.whole_row_box_bytes = 128 * 1024;
  struct Row {
    const char* text;
    int64_t rows;
  };
  for (const Row& row : {Row{"f32[128,48,640] -> f32[128,48,640]{0,1,2}", 128},
                         Row{"f32[256,48,640] -> f32[256,48,640]{0,1,2}", 256},
                         Row{"f64[104,8192] -> f64[104,8192]{0,1}", 104},
                         // Their box is not; digits of the source stay whole.
                         Row{"f32[320,48,640] -> f32[320,48,640]{0,1,2}", 64},
                         Row{"f32[256,48,300] -> f32[256,48,300]{0,1,2}", 64},
                         // Columns of narrow elements lie side by side; rows are near each other.
                         Row{"f32[128,8192] -> f32[128,8192]{0,1}", 64},
                         Row{"f64[104,1024] -> f64[104,1024]{0,1}", 32}}) {
    EXPECT_EQ(target_run_elements(scheduled(row.text, target)), row.rows) << row.text;
  }
}

TEST(Blocks, AreMadeOfPagesUnlessRowsOfTheTargetAreTakenWhole) {
  struct Row {
    const char* text;
    int page_element_bytes;
    Staging staging;
  };
  for (const Row& row : {Row{"f64[2048,8192] -> f64[2048,8192]{0,1}", 8, Staging::registers},
                         Row{"f64[104,8192] -> f64[104,8192]{0,1}", 8, Staging::panels},
                         Row{"f64[2048,8192] -> f64[2048,8192]{0,1}", 16, Staging::panels},
                         Row{"c128[104,8192] -> c128[104,8192]{0,1}", 16, Staging::registers}}) {
    Target target = streaming_target();
    target.whole_row_box_bytes = 128 * 1024;
    target.page_element_bytes = row.page_element_bytes;
    EXPECT_EQ(scheduled(row.text, target).staging, row.staging) << row.text;
  }
}

TEST(Blocks, AreNotMadeOfPagesOfASourceInTheCaches) {
  Target target = streaming_target();
  target.transposed_streaming_bytes = 8 * 1024 * 1024;
  struct Row {
    const char* text;
    Staging staging;
  };
  for (const Row& row : {Row{"f64[512,512] -> f64[512,512]{0,1}", Staging::panels},
                         Row{"f64[512,1024] -> f64[512,1024]{0,1}", Staging::panels},
                         Row{"f64[1024,1024] -> f64[1024,1024]{0,1}", Staging::registers}}) {
    const Schedule schedule = scheduled(row.text, target);
    EXPECT_TRUE(schedule.nontemporal) << row.text;
    EXPECT_EQ(schedule.staging, row.staging) << row.text;
  }
}

TEST(Blocks, TakeAsManyOfASecondDigitOfTheSourceAsMakeLines) {
  const Target target = streaming_target();
  struct Row {
    const char* text;
    int64_t columns;
  };
  for (const Row& row :
       {Row{"f32[320,200,28] -> f32[320,200,28]{0,1,2}", 28 * 8},
        Row{"f32[320,204,28] -> f32[320,204,28]{0,1,2}", 28 * 12},
        Row{"f32[320,200,100] -> f32[320,200,100]{0,1,2}", 100 * 4},
        Row{"f32[320,200,30] -> f32[320,200,30]{0,1,2}", 30 * 8},
        Row{"f16[320,200,28] -> f16[320,200,28]{0,1,2}", 28 * 8},
        Row{"f32[64,200,100,28] -> f32[64,200,100,28]{0,2,1,3}", 28 * 8},
        // A rest of the second digit; columns that would leave apart, with odd lines, too; lines;
        // long digits.
        Row{"f32[320,202,28] -> f32[320,202,28]{0,1,2}", 2 * 16},
        Row{"f32[320,192,31] -> f32[320,192,31]{0,1,2}", 2 * 16},
        Row{"f32[304,200,30] -> f32[304,200,30]{0,1,2}", 2 * 16},
        Row{"f32[320,200,256] -> f32[320,200,256]{0,1,2}", 128},
        Row{"f32[320,200,260] -> f32[320,200,260]{0,1,2}", 128},
        // Wide elements; what comes next in the source are rows of the target.
        Row{"f64[320,200,28] -> f64[320,200,28]{0,1,2}", 64},
        Row{"f32[64,640,100] -> f32[64,640,100]{1,2,0}", 112},
        // Padding.
        Row{"f32[320,200,28] -> f32[320,200,28]{0,1,2:PAD(320,208,28;zero)}", 2 * 16}}) {
    EXPECT_EQ(source_run_elements(scheduled(row.text, target)), row.columns) << row.text;
  }
  Target apart = target;
  apart.joined_digits_bytes = 0;
  EXPECT_EQ(source_run_elements(scheduled("f32[320,200,28] -> f32[320,200,28]{0,1,2}", apart)),
            2 * 16);
}

TEST(Blocks, TakeDigitsOfTheSourceApartBehindAHeader) {
  const Target target = streaming_target();
  Target apart = target;
  apart.joined_digits_bytes = 0;
  const IterationSpace space = simplified_space("f32[320,200,28] -> f32[320,200,28]{0,1,2}");
  const auto behind = [&](const Target& planned_for) {
    for (const Program& program : plan_programs(space, planned_for)) {
      if (program.operands[0].phase != 0) return program.root;
    }
    return program::Body{};
  };
  EXPECT_FALSE(behind(target).empty());
  EXPECT_EQ(behind(target), behind(apart));
}

}  // namespace
}  // namespace restride::testing
