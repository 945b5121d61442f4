// Transposes in the caches whose rows are short: those of the target are permuted, those of the
// source loaded by whole lanes.
#include <gtest/gtest.h>

#include <string>

#include "plan/planner.hpp"
#include "schedule/scheduling.hpp"
#include "support/each_block.hpp"
#include "support/microkernel_tails.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

Target permuting_target() {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 32 * 1024;
  target.l1_vector_bytes = 64;
  target.lane_rows_bytes = 0;
  target.skews_rows = true;
  target.permuted_row_bytes = 64;
  return target;
}

bool permutes(const char* text, const Target& target) {
  return scheduled(text, target).movement == Movement::permute;
}

TEST(PermutedRows, AreShortInTheTarget) {
  struct Row {
    const char* text;
    bool permuted;
  };
  Target target = permuting_target();
  for (const Row& row : {Row{"f64[6,45,30,24] -> f64[6,45,30,24]{0,1,3,2}", true},
                         Row{"f64[5,45,30,24] -> f64[5,45,30,24]{0,1,3,2}", true},
                         Row{"f32[22,11,15,33] -> f32[22,11,15,33]{1,2,0,3}", true},
                         // Networks of less of the source than that.
                         Row{"bf16[60,20,17,17] -> bf16[60,20,17,17]{3,2,1,0:T(16,1,1)}", true},
                         // A vector or more.
                         Row{"f64[8,45,30,24] -> f64[8,45,30,24]{0,1,3,2}", false},
                         // Of half a vector, which are skewed; few of them.
                         Row{"u16[16,128] -> u16[16,128]{0,1}", false},
                         Row{"f64[6,3,3,4] -> f64[6,3,3,4]{0,1,3,2}", false},
                         Row{"u16[12,45,300] -> u16[12,45,300]{0,2,1}", true},
                         // Shorter in the source.
                         Row{"f64[10,12,3,6] -> f64[10,12,3,6]{1,3,0,2}", false},
                         Row{"f64[48,40,6,44,6] -> f64[48,40,6,44,6]{0,1,2,3,4}", false}}) {
    EXPECT_EQ(permutes(row.text, target), row.permuted) << row.text;
  }
  // Networks of less of the source than rows have.
  Target narrow = target;
  narrow.network_piece_bytes = 16;
  EXPECT_TRUE(permutes("bf16[60,20,17,17] -> bf16[60,20,17,17]{3,2,1,0:T(16,1,1)}", narrow));
  // Narrow registers are vectors of what stays in L1.
  target.l1_vector_bytes = 32;
  target.skews_rows = false;
  EXPECT_FALSE(permutes("f32[48,64] -> f32[48,64]{0,1}", target));
  target.lane_rows_bytes = 48;
  EXPECT_FALSE(permutes("u16[12,45,300] -> u16[12,45,300]{0,2,1}", target));
  const char* const text = "f64[6,45,30,24] -> f64[6,45,30,24]{0,1,3,2}";
  target.permuted_row_bytes = 48;
  EXPECT_FALSE(permutes(text, target));
  target.permuted_row_bytes = 49;
  EXPECT_TRUE(permutes(text, target));
  stream_beyond(target, 0);
  EXPECT_FALSE(permutes(text, target));
}

TEST(PermutedRows, AreThoseThatLeaveMostOfAVector) {
  struct Row {
    const char* text;
    bool permuted;
  };
  Target target = permuting_target();
  for (const Row& row : {Row{"f64[13,54,96] -> f64[13,54,96]{0,1,2}", true},
                         Row{"f64[15,32,13,13] -> f64[15,32,13,13]{0,1,2,3}", true},
                         Row{"f32[26,62,110] -> f32[26,62,110]{0,2,1}", true},
                         Row{"f32[31,31,24] -> f32[31,31,24]{0,2,1}", true},
                         // Rests of less; whole vectors; more than one.
                         Row{"f64[12,54,96] -> f64[12,54,96]{0,1,2}", false},
                         Row{"f32[25,62,110] -> f32[25,62,110]{0,2,1}", false},
                         Row{"f64[16,54,96] -> f64[16,54,96]{0,1,2}", false},
                         Row{"f64[21,54,96] -> f64[21,54,96]{0,1,2}", false},
                         // Narrow elements; what stays in L1.
                         Row{"u16[52,54,96] -> u16[52,54,96]{0,1,2}", false},
                         Row{"f64[13,10,12] -> f64[13,10,12]{0,1,2}", false}}) {
    EXPECT_EQ(permutes(row.text, target), row.permuted) << row.text;
  }
  const char* const text = "f64[13,54,96] -> f64[13,54,96]{0,1,2}";
  target.permuted_row_bytes = 0;
  EXPECT_FALSE(permutes(text, target));
  target.permuted_row_bytes = 64;
  stream_beyond(target, 0);
  EXPECT_FALSE(permutes(text, target));
}

/// Short columns of bytes, as of filters, make long rows.
TEST(PermutedRows, AreNotMadeOfShortColumns) {
  struct Row {
    const char* text;
    bool permuted;
  };
  Target target = permuting_target();
  target.transposed_column_bytes = 9;
  for (const Row& row : {Row{"s8[96,128,3,3] -> s8[96,128,3,3]{3,2,1,0:T(16,16,1,1)}", false},
                         Row{"s8[96,129,3,3] -> s8[96,129,3,3]{3,2,1,0:T(8,8,1,1)}", false},
                         // Shorter ones, and rows; mostly padding; wider elements.
                         Row{"s8[96,128,2,4] -> s8[96,128,2,4]{3,2,1,0:T(16,16,1,1)}", true},
                         Row{"u8[33,64,3,3] -> u8[33,64,3,3]{3,2,1,0:T(3,8,1,1)}", true},
                         Row{"s8[96,13,3,3] -> s8[96,13,3,3]{3,2,1,0:T(16,16,1,1)}", true},
                         Row{"bf16[96,128,3,1] -> bf16[96,128,3,1]{3,2,1,0:T(16,16,1,1)}", true}}) {
    EXPECT_EQ(permutes(row.text, target), row.permuted) << row.text;
    target.transposed_column_bytes = 16;
    EXPECT_TRUE(permutes(row.text, target)) << row.text;
    target.transposed_column_bytes = 9;
  }
}

TEST(PermutedRows, AreThoseOfOneElementAndPadding) {
  struct Row {
    const char* text;
    bool permuted;
  };
  for (const Row& row : {Row{"f64[100,1,5,5] -> f64[100,1,5,5]{3,2,1,0:T(8,1,1)}", true},
                         Row{"f32[256,1,7,7] -> f32[256,1,7,7]{3,2,1,0:T(16,16,1,1)}", true},
                         // Long ones.
                         Row{"f64[100,1,5,5] -> f64[100,1,5,5]{3,2,1,0:T(16,1,1)}", false}}) {
    EXPECT_EQ(permutes(row.text, permuting_target()), row.permuted) << row.text;
    // Else they are rows that end in padding.
    const Target lanes = target_of({"avx2", Caches::hold_everything});
    EXPECT_EQ(scheduled(row.text, row.permuted ? lanes : permuting_target()).movement,
              Movement::row)
        << row.text;
  }
  // Elements that repeat.
  EXPECT_EQ(scheduled("f64[5,21] -> f64[5,21,16] dims={0,1}", permuting_target()).movement,
            Movement::splat);
}

TEST(PermutedRows, MoveEveryTail) {
  Target target = permuting_target();
  target.l1_bytes = 2048;
  for (const Element& element : every_width) {
    for (int row = 2; row * element.bytes < 128; ++row) {
      for (const int columns : {9, 16, 33}) {
        const std::string from = array(element.type, {row, 3, 7, columns});
        const std::string text = from + " -> " + from + "{0,1,3,2}";
        if (!in_sample("permuted rows " + text)) continue;
        const Report report = run_for(target, text);
        ASSERT_EQ(report.outcome, Outcome::passed) << report.text;
      }
    }
  }
}

/// What follows a short row of single bytes is of another row, but for those at the end of a block.
TEST(ShortRowsOfTheSource, AreLoadedByLanes) {
  struct Row {
    const char* text;
    bool lanes;
  };
  for (const Row& row : {Row{"u8[17,126,10] -> u8[17,126,10]{0,1,2}", true},
                         Row{"u8[28,41,15] -> u8[28,41,15]{0,1,2}", true},
                         // One load anyway; wider elements.
                         Row{"u8[64,40,8] -> u8[64,40,8]{0,1,2}", false},
                         Row{"u16[64,40,5] -> u16[64,40,5]{0,1,2}", false}}) {
    Target target = target_of({"avx512_vbmi", Caches::hold_everything});
    target.permuted_row_bytes = 0;
    target.transposed_column_bytes = 9;
    target.lane_rows_bytes = 0;
    int64_t lanes = 0, parts = 0;
    const Program program = on_lines(plan_programs(simplified_space(row.text), target));
    each_block(program.root, [&](const program::Block& block, int64_t times) {
      for (const program::Op& op : block) {
        if (op.code != program::Code::load || program.streams[op.stream] != 1) continue;
        (op.bytes == program::lane_bytes ? lanes : parts) += times;
      }
    });
    EXPECT_EQ(lanes > 4 * parts, row.lanes) << row.text << ' ' << lanes << ' ' << parts;
  }
}

}  // namespace
}  // namespace restride::testing
