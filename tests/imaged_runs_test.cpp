// Runs of the target that begin between lines: how long images of rows make them, and how they end.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "plan/planner.hpp"
#include "program/code_size.hpp"
#include "support/asked_lines.hpp"
#include "support/each_block.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

/// Of a machine that images short rows.
Target imaging_target() {
  Target target = streaming_target();
  target.reads_ahead_by_step = target.images_rows = true;
  return target;
}

struct Row {
  const char* text;
  int64_t run_bytes;  // 0: no images
  int64_t beside;     // rows of the source that lie side by side
};

void expect_runs(const std::vector<Row>& rows, bool begins_line) {
  for (const Row& row : rows) {
    const IterationSpace space = simplified_space(row.text);
    const Schedule schedule =
        restride::schedule(space, imaging_target(), CodeGoal::fast, begins_line);
    const bool images = schedule.staging == Staging::images;
    EXPECT_EQ(images, row.run_bytes != 0) << row.text;
    if (!images || !row.run_bytes) continue;
    EXPECT_EQ(target_run_elements(schedule) * schedule.space.op.bytes, row.run_bytes) << row.text;
    EXPECT_EQ(source_run_elements(schedule), row.beside) << row.text;
  }
}

TEST(ImagedRows, MakeWholeLinesWhereTheyCan) {
  const std::vector<Row> rows{{"f32[7,1376,432,12] -> f32[7,1376,432,12]{3,0,2,1}", 12 * 336, 1},
                              // Others lie beside them, so that they make no more than lines.
                              {"f32[7,32,200,40,12] -> f32[7,32,200,40,12]{4,0,1,3,2}", 1344, 5},
                              // Eight times 1000 bytes would be too long.
                              {"f32[5,992,144,50] -> f32[5,992,144,50]{3,0,2,1}", 4000, 1},
                              // Eight and sixteen rows make lines by themselves.
                              {"f32[40,500,301,14] -> f32[40,500,301,14]{3,0,2,1}", 0, 0},
                              {"f32[544,482,15,13] -> f32[544,482,15,13]{3,1,0,2}", 0, 0},
                              // The last tile of a row has eight elements.
                              {"f32[24,50,24200]{2,1,0:T(2,16)} -> f32[24,50,24200]{2,0,1}", 0, 0}};
  expect_runs(rows, true);
}

/// Of arrays that begin on lines, where processors gain by it.
TEST(ImagedRows, MayLeaveRests) {
  Target target = imaging_target();
  for (const char* const text :
       {"bf16[5992,2001]{1,0:T(16,128)} -> bf16[5992,2001]",
        "f32[8,3722,13,13]{3,2,1,0:T(8,1,1)} -> f32[8,3722,13,13]{1,3,2,0}"}) {
    for (const bool rests : {false, true}) {
      target.images_rows_with_rests = rests;
      target.reads_ahead_by_step = false;
      EXPECT_EQ(scheduled(text, target).staging == Staging::images, rests) << text;
    }
  }
}

TEST(ImagedRows, MakeLongRunsOfFewRowsFarApartWhereNoneLieBeside) {
  const std::vector<Row> far{{"f32[17,112,192,47] -> f32[17,112,192,47]{3,0,1,2}", 9 * 188, 1},
                             {"f32[60,300,30,61,9] -> f32[60,300,30,61,9]{4,2,0,3,1}", 540, 7}};
  expect_runs(far, true);
  expect_runs(far, false);
  expect_runs({{"f32[4,3000,301,14] -> f32[4,3000,301,14]{3,0,2,1}", 14 * 224, 1}}, true);
  expect_runs({{"f32[4,3000,301,14] -> f32[4,3000,301,14]{3,0,2,1}", 15 * 224, 1}}, false);
}

TEST(ImagedColumns, MakeRunsOfWholeLinesWhereArraysBeginOnThem) {
  struct Row {
    const char* text;
    int64_t run;  // elements; 0: as where lines need not be whole
  };
  for (const Row& row : {Row{"f32[80,72,72,31] -> f32[80,72,72,31]{2,0,3,1}", 144},
                         Row{"f32[32,22,192,80] -> f32[32,22,192,80]{1,2,3,0}", 176},
                         // Of 448 bytes, and of 1344.
                         Row{"f32[72,64,14,128] -> f32[72,64,14,128]{2,0,1,3}", 0},
                         Row{"f32[42,32,108,192] -> f32[42,32,108,192]{0,1,2,3}", 0},
                         // Columns begin between lines.
                         Row{"f32[90,71,72,31] -> f32[90,71,72,31]{2,1,3,0}", 0}}) {
    const IterationSpace space = simplified_space(row.text);
    Target any = streaming_target(), whole = any;
    whole.whole_line_image_bytes = 1024;
    const auto run = [&](const Target& target, bool begins_line) {
      return target_run_elements(restride::schedule(space, target, CodeGoal::fast, begins_line));
    };
    EXPECT_EQ(run(whole, true), row.run > 0 ? row.run : run(any, true)) << row.text;
    EXPECT_EQ(run(whole, false), run(any, false)) << row.text;
  }
}

TEST(ImagedColumns, OfWideElementsMakeShortRuns) {
  struct Columns {
    const char* text;
    bool imaged;
  };
  Target target = streaming_target();
  const char* const short_runs = "f64[36,38650]{1,0:T(8,128)} -> f64[36,38650]{0,1}";
  EXPECT_NE(scheduled(short_runs, target).staging, Staging::images);
  target.wide_image_run_bytes = 256;
  for (const Columns& row :
       {Columns{"f32[90,51675]{1,0:T(8,128)} -> f32[90,51675]{0,1}", true},
        Columns{short_runs, true},
        // Still shorter ones; narrow elements.
        Columns{"f32[37,51675]{1,0:T(8,128)} -> f32[37,51675]{0,1}", false},
        Columns{"bf16[172,46741]{1,0:T(16,128)} -> bf16[172,46741]{0,1}", false}}) {
    EXPECT_EQ(scheduled(row.text, target).staging == Staging::images, row.imaged) << row.text;
  }
}

TEST(ImagedColumns, MakePiecesInBoxesOfAnyWidth) {
  Target target = streaming_target();
  const auto run_of = [&](const char* text) {
    return target_run_elements(scheduled(text, target));
  };
  // Boxes of five panels of six times as many, and all fifteen panels.
  const char* const some = "f32[108,24,3840] -> f32[108,24,3840]{0,1,2}";
  const char* const all = "f32[84,928,240] -> f32[84,928,240]{0,1,2}";
  const char* const narrow = "u16[162,24,3840] -> u16[162,24,3840]{0,1,2}";
  const int64_t whole = run_of(some), whole_of_all = run_of(all), whole_of_narrow = run_of(narrow);
  EXPECT_LE(whole * 4, 1024);
  target.piece_element_bytes = 4;
  EXPECT_GT(run_of(some), whole);
  EXPECT_GT(run_of(all), whole_of_all);
  EXPECT_EQ(source_run_elements(scheduled(all, target)), 240);
  EXPECT_EQ(run_of(narrow), whole_of_narrow);
}

TEST(ImagedColumns, MakeShorterRunsWhereVectorsArePartsOfLines) {
  struct Images {
    const char* text;
    bool of_halves, of_lines;
  };
  for (const Images& row :
       {Images{"u8[1840,7000] -> u8[1840,7000]{0,1}", true, false},
        Images{"f16[424,396,40] -> f16[424,396,40]{0,1,2}", true, false},
        // Bytes of a line; more of others.
        Images{"u8[528,76,448] -> u8[528,76,448]{1,2,0}", true, false},
        Images{"u8[528,60,448] -> u8[528,60,448]{1,2,0}", false, false},
        Images{"f16[721,104,184] -> f16[721,104,184]{1,2,0}", true, false},
        Images{"f16[1421,60,184] -> f16[1421,60,184]{1,2,0}", false, false},
        Images{"f32[10,94,70,104] -> f32[10,94,70,104]{2,3,1,0}", true, false},
        // Few elements that lie side by side in the target,
        Images{"f16[2,360,37,344] -> f16[2,360,37,344]{0,2,3,1}", false, false},
        Images{"f16[208,360,137,2] -> f16[208,360,137,2]{0,2,1,3}", true, false},
        // in the source; bytes.
        Images{"f64[17,312,174,2] -> f64[17,312,174,2]{0,2,1,3}", false, false},
        Images{"f64[17,312,174,8] -> f64[17,312,174,8]{0,3,1,2}", true, false},
        Images{"u8[272,1952,27,3] -> u8[272,1952,27,3]{0,3,1,2}", true, false},
        Images{"u8[272,1952,27,2] -> u8[272,1952,27,2]{0,3,1,2}", false, false}}) {
    const IterationSpace space = simplified_space(row.text);
    for (const bool halves : {true, false}) {
      Target target = target_of({halves ? "avx2" : "avx512", Caches::hold_everything});
      stream_beyond(target, int64_t{14} << 20);
      target.imaging_bytes = int64_t{20} << 20;
      target.l3_bytes = int64_t{1} << 30;
      const bool images = schedule(space, target).staging == Staging::images;
      EXPECT_EQ(images, halves ? row.of_halves : row.of_lines) << row.text << halves;
    }
  }
}

TEST(ImagedColumns, MakeLongerRunsOfWideElementsInLargeArrays) {
  struct Run {
    const char* text;
    int64_t most;  // bytes of a run where vectors are parts of lines
  };
  for (const Run& row : {Run{"c128[2811,1783] -> c128[2811,1783]{0,1}", 2048},
                         Run{"f32[3781,3401] -> f32[3781,3401]{0,1}", 1408},
                         Run{"f32[31,47,15540] -> f32[31,47,15540]{0,1,2}", 1408},
                         Run{"f16[3781,6801] -> f16[3781,6801]{0,1}", 1024},
                         // Rows that crowd sets of L1; which do not matter to wider elements.
                         Run{"f32[3781,4097] -> f32[3781,4097]{0,1}", 1024},
                         Run{"f64[3781,2049] -> f64[3781,2049]{0,1}", 2048},
                         // Less than a page of each row, and smaller arrays.
                         Run{"c128[8811,253] -> c128[8811,253]{0,1}", 1024},
                         Run{"c128[1111,1783] -> c128[1111,1783]{0,1}", 1024}}) {
    for (const bool halves : {true, false}) {
      Target target = target_of({halves ? "avx2" : "avx512", Caches::hold_everything});
      stream_beyond(target, int64_t{14} << 20);
      target.imaging_bytes = int64_t{20} << 20;
      target.l3_bytes = int64_t{32} << 20;
      target.spreads_runs = false;
      const IterationSpace space = simplified_space(row.text);
      const Schedule made = schedule(space, target);
      EXPECT_EQ(made.long_images, halves && row.most > 1024) << row.text;
      if (!halves) continue;
      EXPECT_EQ(made.staging, Staging::images) << row.text;
      const int64_t run = target_run_elements(made) * made.space.op.bytes;
      EXPECT_LE(run, row.most) << row.text;
      EXPECT_GT(run, row.most / 3 * 2) << row.text;
      // They come in whole.
      const int64_t columns = made.network_column_bytes / made.space.op.bytes;
      const Program program = on_lines(plan_programs(space, target));
      EXPECT_GE(program.operands[2].end, columns * run) << row.text;
    }
  }
}

TEST(ImagedColumns, ComeInTogetherWhereTheyAreFew) {
  struct ColumnRow {
    const char* text;
    int64_t together;
  };
  for (const ColumnRow& row : std::vector<ColumnRow>{
           {"f32[10,12,33,10,42,19] -> f32[10,12,33,10,42,19]{2,3,0,5,1,4}", 19},
           {"f32[49,5,31,5,24,31] -> f32[49,5,31,5,24,31]{2,1,4,3,5,0}", 31},
           {"f64[22,15,49,144,13] -> f64[22,15,49,144,13]{2,3,0,4,1}", 13},
           {"u16[80,4,40,5,22,39] -> u16[80,4,40,5,22,39]{4,0,3,1,2,5}", 39},
           // More by halves, of four bytes alone, or by thirds without a rest; not pieces.
           {"f32[746,36,43,41] -> f32[746,36,43,41]{0,2,1,3}", 21},
           {"f64[373,36,43,22] -> f64[373,36,43,22]{0,2,1,3}", 8},
           {"f32[746,36,43,57] -> f32[746,36,43,57]{0,2,1,3}", 19},
           {"f32[60,37,420,38] -> f32[60,37,420,38]{1,0,2,3}", 16},
           // What else makes runs is left to them.
           {"f32[77,66,36,44,6] -> f32[77,66,36,44,6]{2,3,4,1,0}", 6},
           {"u16[165,108,96,15] -> u16[165,108,96,15]{1,2,3,0}", 15},
           // Whole panels; more than twice as many.
           {"f32[746,36,43,48] -> f32[746,36,43,48]{0,2,1,3}", 16},
           {"f32[51,36,13,12,95] -> f32[51,36,13,12,95]{2,3,0,1,4}", 16}}) {
    const Schedule schedule =
        restride::schedule(simplified_space(row.text), imaging_target(), CodeGoal::fast, true);
    EXPECT_EQ(schedule.staging, Staging::images) << row.text;
    EXPECT_EQ(schedule.network_column_bytes, row.together * schedule.space.op.bytes) << row.text;
  }
}

TEST(ImagedColumns, AreAskedForLineByLine) {
  // Rows of two lines: the last byte of each would ask for half of them.
  for (const char* const text : {"f32[49,5,31,5,24,31] -> f32[49,5,31,5,24,31]{2,1,4,3,5,0}",
                                 "f32[45,40,9,31] -> f32[45,40,9,31]{1,0,2,3}"}) {
    const Program program = on_lines(plan_programs(simplified_space(text), imaging_target()));
    EXPECT_GE(AskedLines(program).count() * 100, program.operands[1].end / 64 * 90) << text;
  }
}

TEST(Images, AreMadeOfLongRunsOfFewColumnsWhereLinesWouldBePermutedElse) {
  Target target = imaging_target();
  for (const bool images : {false, true}) {
    target.images_long_runs = images;
    const auto expect = [&](const char* text, bool imaged) {
      EXPECT_EQ(scheduled(text, target).staging == Staging::images, imaged) << text << images;
    };
    expect("f32[300001,40] -> f32[300001,40]{0,1}", images);
    expect("f64[500001,7] -> f64[500001,7]{0,1}", images);
    expect("f32[500001,6] -> f32[500001,6]{0,1}", false);         // less than half a line
    expect("f32[300016,40] -> f32[300016,40]{0,1}", false);       // on lines
    expect("f32[300,1001,40] -> f32[300,1001,40]{1,2,0}", true);  // less than a page
  }
}

TEST(RunsBetweenLines, AreEndedByStoresOfOneLineEach) {
  for (const char* const text : {"f32[161,1027,205] -> f32[161,1027,205]{2,0,1}",
                                 "f32[33,14,77,7,64] -> f32[33,14,77,7,64]{0,2,3,4,1}",
                                 "f32[33] -> f32[33,5000,7] dims={0}"}) {
    const IterationSpace space = simplified_space(text);
    int64_t ends = 0;
    for (const Program& program : plan_programs(space, imaging_target())) {
      if (!uses_nontemporal_stores(program)) continue;
      each_block(program.root, [&](const program::Block& block, int64_t) {
        for (const program::Op& op : block) {
          if (!program::names_memory(op.code) || program.streams[op.stream] != 0) continue;
          EXPECT_NE(op.code, program::Code::store) << text << ": " << to_string(op);
          ends += op.code == program::Code::store_end ? 1 : 0;
        }
      });
    }
    EXPECT_GT(ends, 0) << text;
  }
}

/// Those that the target puts next to each other, where they lie apart in the source.
TEST(Images, AreMadeOfSmallerArraysWhereNeighboursAreFar) {
  Target target = streaming_target();
  target.far_imaging_bytes = 8 << 20;
  struct Row {
    const char* text;
    bool images;
  };
  for (const Row& row : {Row{"f32[77,22969] -> f32[77,22969]{0,1}", true},
                         Row{"f32[1601,901] -> f32[1601,901]{0,1}", true},
                         Row{"f32[8,301,601] -> f32[8,301,601]{0,2,1}", true},
                         Row{"f32[22969,63] -> f32[22969,63]{0,1}", false},
                         Row{"f32[421,421] -> f32[421,421]{0,1}", false}}) {
    target.imaging_bytes = int64_t{1} << 40;
    EXPECT_EQ(scheduled(row.text, target).nontemporal, row.images) << row.text;
    target.imaging_bytes = 0;
    EXPECT_TRUE(scheduled(row.text, target).nontemporal) << row.text;
  }
}

/// Rather than as blocks that are permuted, of which single lines leave.
TEST(Images, ComeInAndLeaveInSmallerStepsWhereTheirCodeWouldBeTooLong) {
  constexpr int64_t most_code_bytes = 16 * 1024;
  struct Row {
    const char* text;
    bool images;
  };
  const Target target = streaming_target();
  for (const Row& row : {Row{"f16[66,21,566] -> f16[66,21,566]{0,1,2}", true},
                         Row{"f16[49,3,21,362] -> f16[49,3,21,362]{2,0,3,1}", true},
                         Row{"f16[7,26,9,213] -> f16[7,26,9,213]{2,0,1,3}", true},
                         Row{"f16[82,6,3,453] -> f16[82,6,3,453]{1,2,0,3}", true},
                         // Smaller steps would have less than a lane: through the caches.
                         Row{"f16[26,7,13,183] -> f16[26,7,13,183]{1,2,3,0}", false}}) {
    const IterationSpace space = simplified_space(row.text);
    ASSERT_EQ(restride::schedule(space, target).movement, Movement::transpose) << row.text;
    ASSERT_EQ(restride::schedule(space, target, CodeGoal::small).movement, Movement::permute)
        << row.text;
    const std::string schedule = explain_stages(space, target).schedule;
    EXPECT_TRUE(schedule.starts_with("transpose")) << row.text;
    const bool images = schedule.find("by way of images") != std::string::npos;
    EXPECT_EQ(images, row.images) << row.text;
    EXPECT_LE(estimated_code_bytes(on_lines(plan_programs(space, target))), most_code_bytes)
        << row.text;
    const Report report = run_for(target, row.text);
    EXPECT_EQ(report.outcome, Outcome::passed) << report.text;
  }
}

}  // namespace
}  // namespace restride::testing
