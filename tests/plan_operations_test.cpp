// How many operations programs of the planner take, and have. None of this changes what arrives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "plan/planner.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"
#include "target/target.hpp"

namespace restride::testing {
namespace {

/// But those that only ask for lines.
int64_t operations(const program::Body& body) {
  const auto counts = [](const program::Op& op) { return op.code != program::Code::prefetch; };
  int64_t count = 0;
  for (const auto& item : body) {
    if (const program::For* loop = std::get_if<program::For>(&item)) {
      count += loop->extent * operations(loop->body);
      continue;
    }
    const program::Block& block = std::get<program::Block>(item);
    count += std::count_if(block.begin(), block.end(), counts);
  }
  return count;
}

int64_t operations_a_line(const char* text, const Setup& setup) {
  const IterationSpace space = simplified_space(text);
  const ByteRange target = touched_bytes(space, 0);
  const Program program = on_lines(plan_programs(space, target_of(setup)));
  return operations(program.root) * 64 / (target.end - target.begin);
}

TEST(Operations, AreFewWhereTwoBlocksShareVectors) {
  struct Row {
    const char* text;
    int64_t most;
  };
  for (const Row& row :
       {Row{"u8[3,1920] -> u8[3,1920]{0,1}", 11}, Row{"u8[1920,3] -> u8[1920,3]{0,1}", 12},
        Row{"u16[3,1920] -> u16[3,1920]{0,1}", 13}, Row{"f32[3,1920] -> f32[3,1920]{0,1}", 13},
        Row{"u8[64,4,4] -> u8[64,4,4]{1,2,0}", 7}}) {
    EXPECT_LE(operations_a_line(row.text, {"avx2", Caches::hold_everything}), row.most) << row.text;
  }
}

TEST(Operations, AreFewForALineOfTheTarget) {
  struct Row {
    const char* text;
    int64_t most;
  };
  for (const Row& row :
       {Row{"u8[8,127,1023] -> u8[8,127,1023]{1,2,0}", 13},  // whole rows touch, matrices do not
        Row{"u16[8,65,1025] -> u16[8,65,1025]{1,2,0}", 13}, Row{"u8[1024,8] -> u8[1024,8]{0,1}", 9},
        Row{"u8[8,1024] -> u8[8,1024]{0,1}", 10}, Row{"u8[1024,14] -> u8[1024,14]{0,1}", 11},
        Row{"u8[14,1024] -> u8[14,1024]{0,1}", 26}, Row{"u8[1024,3] -> u8[1024,3]{0,1}", 5},
        Row{"u16[6,1024] -> u16[6,1024]{0,1}", 9},
        // Lines of the source are counted alike wherever in them rows begin.
        Row{"u8[11,1024] -> u8[11,1024]{0,1}", 14}, Row{"u8[11,1023] -> u8[11,1023]{0,1}", 14},
        Row{"u32[4,31] -> u32[4,31]{0,1}", 6}, Row{"u64[4,13] -> u64[4,13]{0,1}", 6},
        // Batches of small matrices.
        Row{"u8[400,8,8] -> u8[400,8,8]{1,2,0}", 4},
        Row{"u8[400,12,24] -> u8[400,12,24]{1,2,0}", 9},
        Row{"u16[400,8,16] -> u16[400,8,16]{1,2,0}", 7},
        Row{"u32[400,9,9] -> u32[400,9,9]{1,2,0}", 10},
        Row{"u64[400,5,5] -> u64[400,5,5]{1,2,0}", 5},
        // Uneven elements, more than half of what fills a network.
        Row{"u8[100,11,3] -> u8[100,11,3]{2,0,1}", 18},
        Row{"u8[11,100,3] -> u8[11,100,3]{2,0,1}", 18},
        Row{"u8[200,7,5] -> u8[200,7,5]{2,0,1}", 18},
        // Within pieces of a line that lie apart.
        Row{"f32[32,2,32,2,5] -> f32[32,2,32,2,5]{3,4,0,1,2}", 6},
        Row{"u16[32,2,32,2,9] -> u16[32,2,32,2,9]{3,4,0,1,2}", 7},
        Row{"u8[128,128]{0,1} -> u8[128,128]{1,0:T(8,8)}", 8},
        Row{"u8[128,128]{1,0:T(8,8)} -> u8[128,128]{0,1}", 8},
        // Many windows that share blends.
        Row{"u8[128,88,8]{2,1,0:T(16,4,1)} -> u8[128,88,8]", 9},
        Row{"u8[192,259] -> u8[192,259]{1,0:T(32,4)}", 10},
        Row{"u8[256,257]{0,1:T(2,128)(2,1)} -> u8[256,257]{1,0:T(8,128)}", 13},
        Row{"u8[256,128]{0,1} -> u8[256,128]{1,0:T(2,2)}", 16},
        Row{"u8[256,256]{0,1} -> u8[256,256]{1,0:T(32,8)}", 8},
        Row{"u8[128,640]{1,0:T(16,1)} -> u8[128,640]{1,0:T(2,16)}", 8}}) {
    for (const Caches caches : {Caches::hold_everything, Caches::hold_nothing}) {
      EXPECT_LE(operations_a_line(row.text, {"avx512_vbmi", caches}), row.most) << row.text;
    }
  }
}

TEST(Operations, AreFewWhereCodeHasToBeShort) {
  // Panels of 16 columns in place of 32 that would fill more than 16 KB.
  for (const char* text :
       {"u8[100,63,257] -> u8[100,63,257]{0,1,2}", "u8[100,1023,127] -> u8[100,1023,127]{1,2,0}",
        "u16[5,1000,257] -> u16[5,1000,257]{0,1,2}", "u8[212754,3,23] -> u8[212754,3,23]{0,2,1}"}) {
    EXPECT_LE(operations_a_line(text, {"avx512_vbmi", Caches::hold_nothing}), 22) << text;
  }
}

int64_t operations_of_text(const program::Body& body) {
  int64_t count = 0;
  for (const auto& item : body) {
    const program::For* loop = std::get_if<program::For>(&item);
    count += loop != nullptr ? operations_of_text(loop->body)
                             : static_cast<int64_t>(std::get<program::Block>(item).size());
  }
  return count;
}

TEST(Operations, StayFewWherePermutedWindowsWouldJoinManyOthers) {
  for (const char* text :
       {"u8[13,24,32,9] -> u8[13,24,32,9]{1,3,0,2}", "u8[24,8,9] -> u8[24,8,9]{0,1,2}",
        "u8[10,72,3] -> u8[10,72,3]{2,0,1}", "u32[60,127,7] -> u32[60,127,7]{1,2,0}"}) {
    const IterationSpace space = simplified_space(text);
    const Target target = target_of({"avx512_vbmi", Caches::hold_everything});
    EXPECT_LE(operations_of_text(on_lines(plan_programs(space, target)).root), 340) << text;
  }
}

}  // namespace
}  // namespace restride::testing
