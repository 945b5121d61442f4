// Transposes in L1 whose networks get rows that are skewed.
#include "microkernel/transpose/skewed_network.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "plan/planner.hpp"
#include "schedule/scheduling.hpp"
#include "space/iteration_space.hpp"
#include "support/each_block.hpp"
#include "support/microkernel_tails.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

using program::Code;
using program::Op;

Target skewing_target() {
  Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  target.l1_bytes = 48 * 1024;
  target.skews_rows = true;
  target.dense_ring_bytes = 0;
  target.network_piece_bytes = 16;
  target.permuted_row_bytes = 0;
  return target;
}

Program planned(const char* text, const Target& target) {
  return on_lines(plan_programs(simplified_space(text), target));
}

struct Counts {
  int permutes_of_one = 0, permutes_of_two = 0;
  std::set<int> unpacked;  ///< bytes of elements
  std::set<int> stored;    ///< bytes

  bool operator==(const Counts&) const = default;
};

Counts count(const Program& program) {
  Counts counts;
  each_block(program.root, [&](const program::Block& block, int64_t) {
    for (const Op& op : block) {
      if (op.code == Code::permute) ++(op.b < 0 ? counts.permutes_of_one : counts.permutes_of_two);
      if (op.code == Code::unpack_low) counts.unpacked.insert(op.width);
      if (op.code == Code::store) counts.stored.insert(op.bytes);
    }
  });
  return counts;
}

/// Of half a line of rows: a permute a register, a blend and a funnel shift for two of each size
/// under 8 bytes.
TEST(SkewedNetworks, UnpackNothingThatFunnelsShift) {
  struct Row {
    const char* text;
    Counts counts;
  };
  for (const Row& row : {Row{"u8[32,64] -> u8[32,64]{0,1}", {16, 3 * 16, {8}, {32}}},
                         Row{"u16[16,64] -> u16[16,64]{0,1}", {8, 2 * 8, {8}, {32}}},
                         Row{"f32[8,64] -> f32[8,64]{0,1}", {4, 4, {8}, {32}}}}) {
    Target target = skewing_target();
    const Counts counts = count(planned(row.text, target));
    // As often as networks are unrolled.
    ASSERT_GT(counts.permutes_of_one, 0) << row.text;
    EXPECT_EQ(counts.permutes_of_two * row.counts.permutes_of_one,
              counts.permutes_of_one * row.counts.permutes_of_two)
        << row.text;
    EXPECT_EQ(counts.unpacked, row.counts.unpacked) << row.text;
    EXPECT_EQ(counts.stored, row.counts.stored) << row.text;
    target.skews_rows = false;
    EXPECT_EQ(count(planned(row.text, target)).permutes_of_two, 0) << row.text;
  }
}

TEST(SkewedNetworks, AreOfNarrowElementsInL1) {
  struct Row {
    const char* text;
    bool skews;
  };
  const Target target = skewing_target();
  Target other = target;
  other.skews_rows = false;
  for (const Row& row :
       {Row{"f32[64,64] -> f32[64,64]{0,1}", true}, Row{"u8[150,150] -> u8[150,150]{0,1}", true},
        Row{"f32[64,100] -> f32[64,100]{0,1}", false},  // 51 KB
        Row{"f64[32,32] -> f64[32,32]{0,1}", false}, Row{"f32[20,32] -> f32[20,32]{0,1}", true},
        // A lane of rows, of columns, and of those behind a line of rows.
        Row{"f32[4,320] -> f32[4,320]{0,1}", false}, Row{"f32[320,4] -> f32[320,4]{0,1}", false},
        Row{"f32[320,3] -> f32[320,3]{0,1}", false}}) {
    EXPECT_NE(count(planned(row.text, target)) == count(planned(row.text, other)), row.skews)
        << row.text;
  }
}

/// Without permutes of bytes, in short code, by halves of lines, and where all leaves around the
/// caches.
TEST(SkewedNetworks, AreNotEverywhere) {
  const char* const text = "f32[64,64] -> f32[64,64]{0,1}";
  const IterationSpace space = simplified_space(text);
  Target words = target_of({"avx512", Caches::hold_everything}), streaming = skewing_target();
  words.skews_rows = true;
  EXPECT_FALSE(scheduled(text, words).skews_rows);
  EXPECT_TRUE(schedule(space, streaming).skews_rows);
  EXPECT_FALSE(schedule(space, streaming, CodeGoal::compact).skews_rows);
  EXPECT_FALSE(schedule(space, streaming, CodeGoal::small).skews_rows);
  EXPECT_FALSE(schedule(space, streaming, CodeGoal::part).skews_rows);
  EXPECT_FALSE(schedule(space, streaming, CodeGoal::leaving).skews_rows);
  Target halves = streaming;
  halves.l1_vector_bytes = 32;
  EXPECT_EQ(count(planned(text, halves)).permutes_of_two, 0);
  stream_beyond(streaming, 0);
  EXPECT_EQ(count(planned(text, streaming)).permutes_of_two, 0);
}

TEST(SkewedNetworks, MoveEveryTail) {
  for (const char* type : {"u8", "u16", "f32"}) {
    for (const int rows : {8, 15, 16, 17, 24, 31, 32, 33, 47, 48, 49, 63, 64, 65, 81, 96}) {
      for (const int columns : {5, 8, 9, 15, 16, 17, 25, 31, 32, 33, 40, 49}) {
        const std::string from = array(type, {rows, columns});
        expect_conforms(from + " -> " + from + "{0,1}", {"avx512_vbmi", Caches::hold_everything});
        expect_conforms(from + " -> " + from + "{0,1:PAD(" + std::to_string(rows + 7) + "," +
                            std::to_string(columns) + ";one)}",
                        {"avx512_vbmi", Caches::hold_everything});
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// Windows that share blends are better than networks that are not full.
TEST(SkewedNetworks, AreFullWhereDenseBlocksTakeThem) {
  Target target = skewing_target();
  const auto transposes = [&](const char* text) {
    return scheduled(text, target).movement == Movement::transpose;
  };
  EXPECT_TRUE(transposes("u16[32,16] -> u16[32,16]{0,1}"));
  EXPECT_FALSE(transposes("u16[8,32] -> u16[8,32]{0,1}"));
  EXPECT_TRUE(transposes("f32[16,16] -> f32[16,16]{0,1}"));
  EXPECT_FALSE(transposes("f32[8,16] -> f32[8,16]{0,1}"));
  target.skews_rows = false;
  EXPECT_TRUE(transposes("u16[8,32] -> u16[8,32]{0,1}"));
  EXPECT_TRUE(transposes("f32[8,16] -> f32[8,16]{0,1}"));
}

}  // namespace
}  // namespace restride::testing
