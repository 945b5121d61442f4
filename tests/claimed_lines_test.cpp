// Which lines of the target are asked for before they are written, where transposes go through the
// caches, and which blocks leave time for that. None of this changes what arrives.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "plan/planner.hpp"
#include "program/program.hpp"
#include "schedule/scheduling.hpp"
#include "support/each_block.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"
#include "target/target.hpp"

namespace restride::testing {
namespace {

constexpr int to_write = 0;

Target claiming_target() {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  target.claims_transposed_lines = true;
  target.claiming_bytes = int64_t{1} << 60;  // of rows
  target.permuted_row_bytes = 0;
  return target;
}

/// How often the program for targets on lines asks for lines to write to, in however many
/// iterations.
int64_t asks(const char* text, const Target& target) {
  int64_t count = 0;
  const Program program = on_lines(plan_programs(simplified_space(text), target));
  each_block(program.root, [&](const program::Block& block, int64_t) {
    for (const program::Op& op : block)
      count += op.code == program::Code::prefetch && op.width == to_write ? 1 : 0;
  });
  return count;
}

struct Direction {
  const char* text;
  bool target_first;
};

void expect_directions(const std::vector<Direction>& rows, const Target& target) {
  for (const Direction& row : rows)
    EXPECT_EQ(scheduled(row.text, target).target_first, row.target_first) << row.text;
}

/// What comes next in a row of the target is asked for where there is that much of it.
TEST(ClaimedLines, AreThoseOfRowsThatGoOn) {
  struct Row {
    const char* text;
    bool claims;
  };
  Target target = claiming_target();
  for (const Row& row : {Row{"f32[31,7641] -> f32[31,7641]{0,1}", false},
                         Row{"f32[33,7641] -> f32[33,7641]{0,1}", true},
                         Row{"f64[15,2621] -> f64[15,2621]{0,1}", false},
                         Row{"f64[17,2621] -> f64[17,2621]{0,1}", true},
                         // Of several digits; two lines ahead.
                         Row{"f64[15,39,121] -> f64[15,39,121]{0,1,2}", true},
                         Row{"u16[79,1001] -> u16[79,1001]{0,1}", false},
                         Row{"u16[81,1001] -> u16[81,1001]{0,1}", true},
                         Row{"u16[64,1001] -> u16[64,1001]{0,1}", true}}) {  // whole lines
    EXPECT_EQ(scheduled(row.text, target).claimed_ahead > 0, row.claims) << row.text;
  }
  target.claims_transposed_lines = false;
  EXPECT_EQ(scheduled("f32[33,7641] -> f32[33,7641]{0,1}", target).claimed_ahead, 0);
}

TEST(ClaimedLines, MayBeOfAnyNumberOfRows) {
  // Counted one by one they would take an hour.
  expect_movements({{"f32[4000000000000,27]{1,0:PAD(4000000000000,32;zero)} -> "
                     "f32[4000000000000,27]",
                     Movement::row}},
                   target_of({"avx512_vbmi", Caches::hold_everything}));
}

/// Columns that a block does not have crowd nothing.
TEST(ClaimedLines, AreThoseOfAsManyColumnsAsThereAre) {
  struct Row {
    const char* text;
    bool claims;
  };
  const Target target = claiming_target();
  for (const Row& row : {Row{"u32[24,1025,4] -> u32[24,1025,4]{1,2,0}", true},
                         Row{"f32[32,64,16,8] -> f32[32,64,16,8]{2,0,1,3}", true},
                         // Sixteen of two digits.
                         Row{"f32[1024,4,4] -> f32[1024,4,4]{0,1,2}", false}}) {
    EXPECT_EQ(scheduled(row.text, target).claimed_ahead > 0, row.claims) << row.text;
  }
}

TEST(ClaimedLines, AreThoseToWhichBlocksLeaveScratch) {
  Target target = claiming_target();
  const char* const text = "c128[65,256] -> c128[65,256]{0,1}";
  ASSERT_EQ(scheduled(text, target).movement, Movement::gather);
  EXPECT_GT(asks(text, target), 0);
  // Short rows.
  ASSERT_EQ(scheduled("u8[24,4096] -> u8[24,4096]{0,1}", target).movement, Movement::gather);
  EXPECT_EQ(asks("u8[24,4096] -> u8[24,4096]{0,1}", target), 0);
  target.claims_transposed_lines = false;
  EXPECT_EQ(asks(text, target), 0);
  // Around the caches.
  const char* const streams = "u8[128,64,64,64] -> u8[128,64,64,64]{0,2,3,1}";
  Target streaming = target_of({"avx512_vbmi", Caches::hold_nothing});
  const Schedule gathered = scheduled(streams, streaming);
  ASSERT_EQ(gathered.movement, Movement::gather);
  ASSERT_TRUE(gathered.nontemporal);
  EXPECT_EQ(gathered.claimed_ahead, 0);
}

/// What is brought to scratch is not what is asked for.
TEST(ClaimedLines, AreNotInScratch) {
  const Target target = claiming_target();
  const char* const text = "convert(f32[512,300]) -> f16[512,300]{0,1}";
  EXPECT_EQ(asks(text, target), 0);
}

TEST(ClaimedLines, AreThoseOfTheNextBoxThatIsComputedBetweenLines) {
  struct Row {
    const char* text;
    int64_t asks;
  };
  Target target = streaming_target();
  target.claims_streamed_lines = true;
  for (const Row& row :
       {// On lines; then the lines that ends of rows are in, too.
        Row{"convert(u8[640,640]) -> f32[640,640]{0,1}", 0},
        Row{"convert(u8[648,640]) -> f32[648,640]{0,1}", 5 + 2},
        Row{"add(f64[324,320], f64[324] dims={0}) -> f64[324,320]{0,1}", 9 + 2},
        Row{"convert(u8[648,650]) -> f32[648,650]{1,0:PAD(648,655;unknown)}", 0},  // no boxes
        Row{"convert(u8[648,320]) -> f32[648,320]{0,1}", 0}}) {  // stays in the caches
    EXPECT_EQ(asks(row.text, target), row.asks) << row.text;
    EXPECT_EQ(scheduled(row.text, target).claimed_ahead > 0, row.asks > 0) << row.text;
  }
  target.claims_streamed_lines = false;
  EXPECT_EQ(asks("convert(u8[648,640]) -> f32[648,640]{0,1}", target), 0);
}

TEST(ClaimedLines, AreThoseOfPermutedBlocksOfLargeArraysBetweenLines) {
  struct Row {
    const char* text;
    bool asks;
  };
  Target target = streaming_target();
  target.claims_transposed_lines = true;
  for (const bool claims : {false, true}) {
    target.claims_streamed_lines = claims;
    for (const Row& row : {Row{"s8[1034,1611]{0,1:T(8,128)(4,1)} -> s8[1034,1611]", true},
                           Row{"u16[900,1501]{0,1:T(8,128)(2,1)} -> u16[900,1501]", true},
                           Row{"u8[3,1000000] -> u8[3,1000000]{0,1}", false}}) {  // on lines
      ASSERT_EQ(scheduled(row.text, target).movement, Movement::permute) << row.text;
      EXPECT_EQ(asks(row.text, target) > 0, claims && row.asks) << row.text;
      EXPECT_EQ(scheduled(row.text, target).claimed_ahead > 0, claims && row.asks) << row.text;
    }
  }
}

/// Though loops around blocks lead from line to line.
TEST(ClaimedLines, AreThoseOfBlocksWhoseRunsBeginBetweenLines) {
  Target target = streaming_target();
  target.claims_streamed_lines = true;
  for (const auto& [text, claims] :
       {std::pair("s8[8,1120,1360]{2,1,0:T(32,128)(4,1)} -> s8[8,1120,1360]", true),
        std::pair("s8[8,1120,1408]{2,1,0:T(32,128)(4,1)} -> s8[8,1120,1408]", false)}) {
    ASSERT_EQ(scheduled(text, target).movement, Movement::permute) << text;
    EXPECT_EQ(asks(text, target) > 0, claims) << text;
  }
}

TEST(ClaimedLines, AreThoseOfPermutedRowsThatAreNotTooShort) {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  const char* const rows = "s8[2610,477]{1,0:T(8,128)(4,1)} -> s8[2610,477]";
  ASSERT_EQ(scheduled(rows, target).movement, Movement::permute);
  for (const int64_t least : {512, 513}) {
    target.claimed_permuted_run_bytes = least;
    EXPECT_EQ(asks(rows, target) > 0, least <= 512) << least;
  }
}

/// Columns that crowd sets of L1 are written a network of them at a time where rows of the source
/// stay meanwhile.
TEST(ClaimedLines, AreThoseOfOneNetworkOfCrowdedColumns) {
  Target target = claiming_target();
  target.network_piece_bytes = 16;
  expect_directions({{"u16[1024,257] -> u16[1024,257]{0,1}", true},
                     {"u8[2048,64] -> u8[2048,64]{0,1}", true},
                     // They have room; rows do not stay, be they of several digits.
                     {"u16[1000,257] -> u16[1000,257]{0,1}", false},
                     {"u16[1024,20] -> u16[1024,20]{0,1}", false},
                     {"u16[512,64] -> u16[512,64]{0,1}", false},
                     {"u16[24,64,65] -> u16[24,64,65]{0,1,2}", false}},
                    target);
  target.claims_transposed_lines = false;
  expect_directions({{"u16[1024,257] -> u16[1024,257]{0,1}", false}}, target);
}

/// Longer blocks would come back to rows of the source that are gone, be they of several digits.
TEST(ClaimedLines, AreNotWrittenForLongWhereRowsOfSeveralDigitsDoNotStay) {
  Target target = claiming_target();
  target.rereads_crowded_rows = true;
  expect_directions({{"u8[24,17,1024] -> u8[24,17,1024]{0,1,2}", false},
                     {"u16[24,17,257] -> u16[24,17,257]{1,0,2}", true},
                     {"u8[1025,1023] -> u8[1025,1023]{0,1}", true}},
                    target);
  target.claims_transposed_lines = false;
  expect_directions({{"u8[24,17,1024] -> u8[24,17,1024]{0,1,2}", true}}, target);
}

/// Lines that are asked for leave no room for whole digits of the source, unless rows of the target
/// are short and the source is far apart.
TEST(ClaimedLines, LeaveDigitsOfTheSourceWholeBesideShortRows) {
  struct Row {
    const char* text;
    int64_t digit;
    bool whole;
  };
  Target target = claiming_target();
  for (const Row& row : {Row{"u8[24,16,1023] -> u8[24,16,1023]{0,1,2}", 1023, true},
                         Row{"u16[31,60,65] -> u16[31,60,65]{0,1,2}", 65, true},
                         // A line; nearer than half a page.
                         Row{"u16[32,60,65] -> u16[32,60,65]{0,1,2}", 65, false},
                         Row{"u8[24,15,127] -> u8[24,15,127]{0,1,2}", 127, false}}) {
    EXPECT_EQ(source_run_elements(scheduled(row.text, target)) >= row.digit, row.whole) << row.text;
  }
  target.claims_transposed_lines = false;
  EXPECT_GE(source_run_elements(scheduled("u8[24,15,127] -> u8[24,15,127]{0,1,2}", target)), 127);
}

}  // namespace
}  // namespace restride::testing
