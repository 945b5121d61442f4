// Programs as text, and what they say of themselves.
#include "program/program.hpp"

#include <gtest/gtest.h>

#include "support/sample_programs.hpp"

namespace restride {
namespace {

using namespace program;
using testing::block_of;
using testing::valid_program;

TEST(Program, PrintsOneOperationALine) {
  EXPECT_EQ(to_string(valid_program()),
            "program of 16-byte vectors\n"
            "operand 0: target [0, 64) aligned 16\n"
            "operand 1: source [0, 64) aligned 1\n"
            "operand 2: scratch [0, 16) aligned 1\n"
            "s0: operand 0\n"
            "s1: operand 1\n"
            "s2: operand 2\n"
            "table 0: 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7\n"
            "for 4  s0+16  s1+16\n"
            "  v0 = load 16 [s1 + 0]\n"
            "  store 16 [s2 + 0] v0\n"
            "  v1 = load 16 [s2 + 0]\n"
            "  store_nontemporal 16 [s0 + 0] v1\n");
}

TEST(Program, PrintsSteps) {
  EXPECT_EQ(to_string(Step{3, 64, 128, 1, {{2, 0}, {5, -8}}}), "s3:128+64%2+0%5-8@1");
  EXPECT_EQ(to_string(Step{0, -4}), "s0-4");
  EXPECT_EQ(to_string(Step{0, INT64_MIN}), "s0-9223372036854775808");
}

TEST(Program, PrintsEveryPartOfAnOperation) {
  EXPECT_EQ(to_string(Op{.code = Code::lanes, .select = 136, .to = 2, .a = 0, .b = 1}),
            "v2 = lanes v0 v1 select 136");
  EXPECT_EQ(to_string(Op{.code = Code::permute, .width = 2, .table = 3, .to = 2, .a = 0}),
            "v2 = permute.2 v0 table 3");
  EXPECT_EQ(
      to_string(
          Op{.code = Code::load, .stream = 4, .bytes = 4, .at = 8, .to = 2, .a = 1, .offset = -12}),
      "v2 = load 4 [s4 - 12] v1 at 8");
  EXPECT_EQ(to_string(Op{.code = Code(99)}), "unknown 99");
}

TEST(Program, CountsUnits) {
  Program program = valid_program();
  EXPECT_EQ(unit_count(program), 4);
  program.root.push_back(Block{});
  EXPECT_EQ(unit_count(program), 5);
  EXPECT_EQ(unit_count(Program{}), 0);
}

TEST(Program, KnowsItsNontemporalStores) {
  Program program = valid_program();
  EXPECT_TRUE(uses_nontemporal_stores(program));
  block_of(program)[3].code = Code::store;
  EXPECT_FALSE(uses_nontemporal_stores(program));
}

}  // namespace
}  // namespace restride
