// What is planned for processors that read ahead of an instruction by the steps that it takes, and
// that like long runs: which order rows have, how long runs of a box are, where lines are asked
// for, and how networks load rows. None of this changes what arrives.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "plan/planner.hpp"
#include "support/asked_lines.hpp"
#include "support/reading_ahead.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

TEST(Rows, LieInTheOrderOfTheSource) {
  struct Row {
    const char* text;
    std::vector<int64_t> strides;
  };
  for (const Row& row :
       {Row{"f32[384,300,368] -> f32[384,300,368]{2,0,1}", {300 * 1472, 1472}},
        Row{"f32[96,75,16,464] -> f32[96,75,16,464]{3,0,1,2}", {2227200, 29696, 1856}},
        // Short ones that the source does not come back to soon: four of the target, then the next
        // of the source in the same tile.
        Row{"f32[1000,3200,16] -> f32[1000,3200,16]{2,0,1}", {4 * 204800, 256}},
        // As many as make whole lines.
        Row{"f32[64,3200,22] -> f32[64,3200,22]{2,0,1}", {8 * 281600, 88}},
        // That it comes back to soon.
        Row{"f32[200,300,64,16] -> f32[200,300,64,16]{3,1,0,2}", {4096, 1024}}}) {
    EXPECT_EQ(source_strides(scheduled(row.text, reading_ahead())), row.strides) << row.text;
  }
}

TEST(Rows, KeepTheOrderOfTheTargetOnOtherProcessors) {
  const std::vector<int64_t> strides =
      source_strides(scheduled("f32[384,300,368] -> f32[384,300,368]{2,0,1}", streaming_target()));
  EXPECT_LT(strides.front(), strides.back());
}

void count_operations(const program::Body& body, program::Code code, std::multiset<int>& widths) {
  for (const auto& item : body) {
    if (const program::For* loop = std::get_if<program::For>(&item)) {
      count_operations(loop->body, code, widths);
      continue;
    }
    for (const program::Op& op : std::get<program::Block>(item)) {
      if (op.code == code) widths.insert(op.width);
    }
  }
}

/// The widths of operations of a kind in the first program of a problem.
std::multiset<int> widths(const char* text, const Target& target, program::Code code) {
  const IterationSpace space = simplified_space(text);
  std::multiset<int> result;
  count_operations(on_lines(plan_programs(space, target)).root, code, result);
  return result;
}

TEST(Rows, AreReadByOneLoadWhereTheyFollowEachOther) {
  for (const char* text : {"f32[384,300,368] -> f32[384,300,368]{2,0,1}",
                           "f32[200,300,64,16] -> f32[200,300,64,16]{3,1,0,2}"}) {
    EXPECT_EQ(widths(text, reading_ahead(), program::Code::load).size(), 1U) << text;
    EXPECT_GT(widths(text, streaming_target(), program::Code::load).size(), 1U) << text;
  }
  // Four streams.
  EXPECT_EQ(
      widths("f32[1000,3200,16] -> f32[1000,3200,16]{2,0,1}", reading_ahead(), program::Code::load)
          .size(),
      16U);
}

TEST(Boxes, WriteLongerRuns) {
  struct Row {
    const char* text;
    int64_t rows, columns;
  };
  for (const Row& row :
       {Row{"f32[7264,7264] -> f32[7264,7264]{0,1}", 64, 128},
        Row{"f16[4096,4096] -> f16[4096,4096]{0,1}", 128, 256},
        // Bytes where columns crowd sets of L1.
        Row{"u8[4096,4096] -> u8[4096,4096]{0,1}", 256, 512},
        Row{"u8[4160,4160] -> u8[4160,4160]{0,1}", 128, 512},
        // A whole digit.
        Row{"f32[75,75,96,96] -> f32[75,75,96,96]{2,3,0,1}", 96, 96},
        Row{"f32[28,28,28,48,48] -> f32[28,28,28,48,48]{3,1,4,0,2}", 48, 48},
        // Of the source, too.
        Row{"f32[28,28,4,48,352] -> f32[28,28,4,48,352]{3,1,4,0,2}", 48, 352},
        // Rows touch in the source; or they do not.
        Row{"f32[64,640,100] -> f32[64,640,100]{1,2,0}", 64, 112},
        Row{"f32[28,256,28,4,48] -> f32[28,256,28,4,48]{1,2,3,0,4}", 32, 192},
        // The next digit of the target lies elsewhere in the source, of which a digit is not cut;
        // or it is.
        Row{"f32[15,15,32,15,15,32] -> f32[15,15,32,15,15,32]{2,3,5,0,4,1}", 32, 480},
        Row{"f32[15,15,32,15,20,32] -> f32[15,15,32,15,20,32]{2,3,5,0,4,1}", 32, 128}}) {
    const Schedule schedule = scheduled(row.text, reading_ahead());
    EXPECT_EQ(target_run_elements(schedule), row.rows) << row.text;
    EXPECT_EQ(source_run_elements(schedule), row.columns) << row.text;
  }
}

TEST(Boxes, AreAskedForTowardsTheLevelThatSuits) {
  const char* const aligned = "f32[4096,4096] -> f32[4096,4096]{0,1}";
  EXPECT_EQ(*widths(aligned, reading_ahead(), program::Code::prefetch).begin(), 1);
  EXPECT_EQ(*widths(aligned, streaming_target(), program::Code::prefetch).begin(), 2);
  const char* const between = "f32[4096,4095] -> f32[4096,4095]{0,1}";
  EXPECT_EQ(*widths(between, reading_ahead(), program::Code::prefetch).rbegin(), 2);
}

TEST(Boxes, FollowTheSourceOutsideOfLoopsInWhichTheTargetGoesOn) {
  struct Row {
    const char* text;
    std::vector<int64_t> strides;
  };
  for (const Row& row :
       {// Runs of 128 bytes go on by the next loop but one.
        Row{"f32[3,4,32,5,5,112] -> f32[3,4,32,5,5,112]{2,3,5,0,4,1}",
            {1433600, 358400, 2240, 448}},
        Row{"f32[32,15,6,7,5,112] -> f32[32,15,6,7,5,112]{0,1,2,3,4,5}", {15680, 2240, 94080, 448}},
        Row{"f32[3,3,3,32,5,112] -> f32[3,3,3,32,5,112]{3,5,1,4,0,2}",
            {645120, 215040, 71680, 448}}}) {
    EXPECT_EQ(source_strides(scheduled(row.text, reading_ahead())), row.strides) << row.text;
  }
}

TEST(Boxes, GoOnInTheTargetWhereRunsOfTheSourceAreLongOrAllRowsStayAtHand) {
  struct Row {
    const char* text;
    int64_t innermost;  // bytes of the target
  };
  Target target = reading_ahead();
  target.translated_pages = 2688;
  for (const Row& row :
       {Row{"f32[384,355,384] -> f32[384,355,384]{0,1,2}", 256},
        Row{"f32[2560,10240] -> f32[2560,10240]{0,1}", 256},
        // More rows than pages; bytes.
        Row{"f32[3072,10240] -> f32[3072,10240]{0,1}", 128 * 3072 * 4},
        Row{"u8[640,81920] -> u8[640,81920]{0,1}", 512 * 640},
        // Another digit of the target comes next.
        Row{"f32[28,28,4,48,352] -> f32[28,28,4,48,352]{3,1,4,0,2}", 28 * 28 * 48 * 352 * 4}}) {
    const Schedule schedule = scheduled(row.text, target);
    const auto tile = schedule.space.loops.end() - schedule.tile_loops;
    EXPECT_EQ((tile - 1)->stride[0], row.innermost) << row.text;
  }
}

TEST(Images, AskForAllRowsWhateverDigitsTheyAreOf) {
  for (const char* text :
       {"u16[3,2157,676] -> u16[3,2157,676]{0,1,2}", "f32[3,1186,404] -> f32[3,1186,404]{0,1,2}",
        "f32[5,722,389] -> f32[5,722,389]{0,1,2}"}) {
    const Schedule images = scheduled(text, reading_ahead());
    ASSERT_EQ(images.staging, Staging::images) << text;
    const Program program = on_lines(plan_programs(simplified_space(text), reading_ahead()));
    const int64_t lines = (program.operands[1].end - program.operands[1].begin) / 64;
    EXPECT_GE(AskedLines(program).count(), lines / 100 * 95) << text;
  }
}

/// Most lines are asked for before they are read, and most of those in a row with others.
void expect_asked_as_rows_come(const char* text, const Target& target, int64_t least_hundredths) {
  const Program program = on_lines(plan_programs(simplified_space(text), target));
  const AskedLines asked(program);
  const int64_t lines = program.operands[1].end / 64;
  EXPECT_GE(asked.in_time() * 100, least_hundredths * lines) << text;
  EXPECT_GT(asked.side_by_side() * 2, lines) << text;
}

TEST(Images, AskForAllRowsOfTheNextBoxAsThoseOfOneComeIn) {
  Target target = reading_ahead();
  target.asks_as_rows_come = true;
  for (const char* text :
       {"f32[104,200,320] -> f32[104,200,320]{0,1,2}", "f32[59,100,320] -> f32[59,100,320]{0,1,2}",
        "f32[13,24,40,320] -> f32[13,24,40,320]{0,1,2,3}",
        "f32[59,16,48,128] -> f32[59,16,48,128]{0,2,1,3}"}) {
    const Schedule images = scheduled(text, target);
    ASSERT_EQ(images.staging, Staging::images) << text;
    expect_asked_as_rows_come(text, target, 90);
  }
}

TEST(RowsThatTouch, AreAskedForAsOthersComeIn) {
  Target target = reading_ahead();
  target.asks_as_rows_come = true;
  for (const char* text :
       {"u16[100,60,1000] -> u16[100,60,1000]{0,2,1}", "f32[16,169,256] -> f32[16,169,256]{1,2,0}",
        "f32[8,7,7,2048] -> f32[8,7,7,2048]{2,1,3,0}"}) {
    expect_asked_as_rows_come(text, target, 85);
  }
}

TEST(PermutedBlocks, AreAskedForWhereTheProcessorDoesNotReadAhead) {
  struct Row {
    const char* text;
    bool asked;
  };
  for (const Row& row : {// A page apart.
                         Row{"f64[3,1186,814] -> f64[3,1186,814]{0,1,2}", true},
                         // Several runs, a line apart; three of them.
                         Row{"u16[15,352,5,608] -> u16[15,352,5,608]{2,3,1,0}", true},
                         Row{"f32[32,3,224,224] -> f32[32,3,224,224]{1,3,2,0}", false}}) {
    ASSERT_EQ(scheduled(row.text, reading_ahead()).movement, Movement::permute) << row.text;
    const Program program = on_lines(plan_programs(simplified_space(row.text), reading_ahead()));
    const int64_t lines = (program.operands[1].end - program.operands[1].begin) / 64;
    const int64_t asked = AskedLines(program).count();
    EXPECT_EQ(asked > 0, row.asked) << row.text;
    if (row.asked) {
      EXPECT_GE(asked, lines / 100 * 85) << row.text;
    }
  }
}

TEST(Rows, ThatShareSetsOfAllCachesComeToScratchAFewAheadOfEachOther) {
  Target target = streaming_target();
  target.l3_bytes = 1 << 20;
  struct Row {
    const char* text;
    int64_t rows_ahead;
  };
  for (const Row& row :
       {Row{"u8[128,16,64,64] -> u8[128,16,64,64]{0,2,3,1}", 12},
        Row{"u16[128,64,512] -> u16[128,64,512]{0,1,2}", 12},
        Row{"u8[128,8,64,64] -> u8[128,8,64,64]{0,2,3,1}", 0},    // 32 KB apart
        Row{"u8[128,48,64,64] -> u8[128,48,64,64]{0,2,3,1}", 0},  // no power of two
        // Rests, of rows and columns.
        Row{"u16[96,64,512] -> u16[96,64,512]{0,1,2}", 0},
        Row{"u8[128,16,128,32,3] -> u8[128,16,128,32,3]{0,4,2,3,1}", 0},
        Row{"u8[64,16,64,64] -> u8[64,16,64,64]{0,2,3,1}", 0},  // single lines
        Row{"f32[64,16,32,32] -> f32[64,16,32,32]{0,2,3,1}", 0},
        // Runs of the target side by side.
        Row{"u16[128,64,512] -> u16[128,64,512]{0,2,1}", 0},
        // Runs that are no whole lines of it: pages apart, of bytes, not long.
        Row{"u8[333,12,1024] -> u8[333,12,1024]{0,1,2}", 12},
        Row{"u8[333,13,1024] -> u8[333,13,1024]{0,1,2}", 0},
        Row{"u8[700,12,1024] -> u8[700,12,1024]{0,1,2}", 0},
        Row{"u16[333,12,512] -> u16[333,12,512]{0,1,2}", 0}}) {
    const Schedule schedule = scheduled(row.text, target);
    EXPECT_EQ(schedule.rows_ahead, row.rows_ahead) << row.text;
    EXPECT_EQ(schedule.movement == Movement::gather, row.rows_ahead > 0) << row.text;
  }
  const char* const text = "u8[128,16,64,64] -> u8[128,16,64,64]{0,2,3,1}";
  const Program program = on_lines(plan_programs(simplified_space(text), target));
  constexpr int64_t lines = 128 * 16 * 64 * 64 / 64, rows = 64;
  EXPECT_GE(AskedLines(program).count(), lines / rows * (rows - 12));
  target.gathers_streamed_lines = false;
  EXPECT_EQ(scheduled(text, target).rows_ahead, 0);
  EXPECT_EQ(scheduled("u8[333,12,1024] -> u8[333,12,1024]{0,1,2}", target).rows_ahead, 12);
  target.gathers_streamed_lines = true;
  target.l3_bytes = 64 << 20;
  EXPECT_EQ(scheduled(text, target).rows_ahead, 0);
}

TEST(Boxes, AreAskedForWithLinesBehindThemWhereThatSuits) {
  Target target = streaming_target();
  const char* const text = "f32[48,200,1024] -> f32[48,200,1024]{0,1,2}";
  const auto asked = [&] { return widths(text, target, program::Code::prefetch).size(); };
  const size_t before = asked();
  target.asked_lines_beyond = 1;
  EXPECT_GT(asked(), before);
}

TEST(Rows, AreAskedForWhereTheyAreLoadedThroughMasks) {
  struct Row {
    const char* text;
    size_t lines;  // in the code of a box
  };
  for (const Row& row : {// Sixteen rows of 40 bytes.
                         Row{"u8[512,2048,40] -> u8[512,2048,40]{1,2,0}", 10},
                         // Networks of pieces of 24 bytes: 64 rows, and 3 * 4 again.
                         Row{"u8[1024,2048,24] -> u8[1024,2048,24]{1,2,0}", 28},
                         // Of lanes.
                         Row{"u8[1024,2048,16] -> u8[1024,2048,16]{1,2,0}", 16},
                         // Sixteen rows that are padded.
                         Row{"u8[1000000,40] -> u8[1000000,40]{1,0:T(8,64)}", 10},
                         // That lie far apart.
                         Row{"f32[8,100000,10] -> f32[8,100000,10]{2,0,1}", 0},
                         // Of whole pieces.
                         Row{"f32[512,2048,8] -> f32[512,2048,8]{1,2,0}", 0}}) {
    EXPECT_EQ(widths(row.text, reading_ahead(), program::Code::prefetch).size(), row.lines)
        << row.text;
    EXPECT_EQ(widths(row.text, streaming_target(), program::Code::prefetch).size(), 0U) << row.text;
  }
}

TEST(Networks, LoadPiecesOfTwoLanes) {
  struct Row {
    const char* text;
    size_t lanes, halves;  // loads of one network
  };
  for (const Row& row :
       {Row{"c128[64,64] -> c128[64,64]{0,1}", 16, 8}, Row{"f64[64,64] -> f64[64,64]{0,1}", 32, 16},
        Row{"f32[64,64] -> f32[64,64]{0,1}", 64, 32},
        // Four times as many columns.
        Row{"u16[64,64] -> u16[64,64]{0,1}", 32, 64},
        // Three registers have to be loaded again.
        Row{"u8[64,64] -> u8[64,64]{0,1}", 64, 64 + 3 * 4},
        // Few columns; few rows, for which two lanes are all there is.
        Row{"f32[64,8] -> f32[64,8]{0,1}", 32, 16}, Row{"f32[8,64] -> f32[8,64]{0,1}", 32, 32}}) {
    EXPECT_EQ(widths(row.text, streaming_target(), program::Code::load).size(), row.lanes)
        << row.text;
    EXPECT_EQ(widths(row.text, reading_ahead(), program::Code::load).size(), row.halves)
        << row.text;
  }
}

TEST(Networks, OfImagesLoadPiecesOfTwoLanesToo) {
  const char* const text = "f32[1000,1000,30] -> f32[1000,1000,30]{0,1,2}";
  ASSERT_EQ(scheduled(text, reading_ahead()).staging, Staging::images);
  Target of_lanes = reading_ahead();
  of_lanes.network_piece_bytes = program::lane_bytes;
  // Each of them makes twice as many columns.
  EXPECT_GT(widths(text, reading_ahead(), program::Code::store).size(),
            widths(text, of_lanes, program::Code::store).size());
}

TEST(Networks, OfBytesLoadAllRowsFirstWhereRegistersHoldThem) {
  for (const bool hold : {true, false}) {
    Target target = streaming_target();
    if (!hold) target.registers = 24;
    const std::string text =
        to_string(on_lines(plan_programs(simplified_space("u8[64,64] -> u8[64,64]{0,1}"), target)));
    const size_t unpacked = text.find("unpack");
    EXPECT_EQ(text.find(" load ", unpacked) == std::string::npos, hold) << text;
  }
}

TEST(DenseBlocks, ArePermutedUpToTheWidthThatPays) {
  const char* const bytes = "u8[32,32] -> u8[32,32]{0,1}";
  const char* const pairs = "u16[32,16] -> u16[32,16]{0,1}";
  for (const int widest : {0, 1, 2}) {
    Target target = reading_ahead();
    target.dense_ring_bytes = widest;
    EXPECT_EQ(scheduled(bytes, target).movement == Movement::permute, widest >= 1) << widest;
    EXPECT_EQ(scheduled(pairs, target).movement == Movement::permute, widest >= 2) << widest;
  }
}

TEST(Networks, TakeLanesWhereTheirCodeWouldBeLong) {
  Target target = reading_ahead();
  target.l1_bytes = 48 * 1024;
  for (const char* text :
       {"u8[1023,127] -> u8[1023,127]{0,1}", "u8[1023,191] -> u8[1023,191]{0,1}"})
    EXPECT_GE(widths(text, target, program::Code::store).size(), 32U)
        << text;  // not a column a time
}

}  // namespace
}  // namespace restride::testing
