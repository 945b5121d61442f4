// Which tables of permutes stay in registers that no Block needs.
#include "xbyak/held_tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace restride::xbyak {
namespace {

using namespace program;

/// The bytes of a vector, so many places on, around its end.
std::vector<uint8_t> turned_by(int bytes) {
  std::vector<uint8_t> table(64);
  for (int k = 0; k < 64; ++k)
    table[static_cast<size_t>(k)] = static_cast<uint8_t>((k + bytes) % 64);
  return table;
}

Program of_tables(int count) {
  Program program{.vector_bytes = 64};
  program.operands = {{Role::target, 0, 4096}, {Role::source, 0, 4096}};
  program.streams = {0, 1};
  for (int k = 0; k < count; ++k) program.tables.push_back(turned_by(k + 1));
  return program;
}

/// Loads `live` vectors, permutes the first by each of some tables, and stores all.
Block permuting(int live, const std::vector<int>& tables) {
  Block block;
  for (int k = 0; k < live; ++k)
    block.push_back({.code = Code::load, .stream = 1, .bytes = 64, .to = Reg(k)});
  Reg last = 0;
  for (const int table : tables) {
    block.push_back(
        {.code = Code::permute, .width = 1, .table = int16_t(table), .to = Reg(live), .a = last});
    last = Reg(live++);
  }
  block.push_back({.code = Code::store, .bytes = 64, .a = last});
  for (int k = 1; k < live; ++k) block.push_back({.code = Code::store, .bytes = 64, .a = Reg(k)});
  return block;
}

TEST(HeldTables, AreThoseThatLoopsUseMost) {
  Program program = of_tables(4);
  program.root = {For{8, {}, {permuting(1, {0}), For{8, {}, {permuting(1, {2, 3, 2})}}}},
                  permuting(1, {1})};
  const HeldTables held = hold_tables(program, InstructionSet::avx512);
  ASSERT_EQ(held.size, 3);
  EXPECT_EQ(held.find({2, 1}), 31);
  EXPECT_EQ(held.find({3, 1}), 30);
  EXPECT_EQ(held.find({0, 1}), 29);
  EXPECT_EQ(held.find({1, 1}), -1);  // once
  EXPECT_EQ(held.find({2, 2}), -1);  // as other elements
}

TEST(HeldTables, LeaveWhatBlocksNeed) {
  constexpr int count = 40;
  for (const int live : {1, 16, 28}) {
    Program program = of_tables(count);
    Block block = permuting(live, {});
    const auto stores = block.end() - live;
    Block permutes;
    for (int table = 0; table < count; ++table) {
      permutes.push_back({.code = Code::permute,
                          .width = 1,
                          .table = int16_t(table),
                          .to = Reg(live + table),
                          .a = 0});
    }
    block.insert(stores, permutes.begin(), permutes.end());
    program.root = {For{8, {}, {block}}};
    // One for the result, and one that no Program uses.
    EXPECT_EQ(hold_tables(program, InstructionSet::avx512).size,
              std::min(HeldTables::most, 32 - live - 2))
        << live;
  }
}

TEST(HeldTables, LeaveSomeToWhatComputes) {
  Program program = of_tables(24);
  Block block = permuting(8, {});
  for (int table = 0; table < 24; ++table) {
    block.push_back(
        {.code = Code::permute, .width = 1, .table = int16_t(table), .to = Reg(8 + table), .a = 0});
  }
  program.root = {For{8, {}, {block}}};
  const int without = hold_tables(program, InstructionSet::avx512).size;
  const Op adds{.code = Code::compute,
                .select = static_cast<uint8_t>(Operation::add),
                .type = ElementType::f32,
                .to = 40,
                .a = 0,
                .b = 1};
  block.insert(block.begin() + 8, adds);
  program.root = {For{8, {}, {block}}};
  EXPECT_LT(hold_tables(program, InstructionSet::avx512).size, without);
}

TEST(HeldTables, AreNoneWhereNothingRepeats) {
  Program program = of_tables(2);
  program.root = {For{1, {}, {permuting(1, {0, 1})}}, permuting(1, {0, 0})};
  EXPECT_EQ(hold_tables(program, InstructionSet::avx512).size, 0);
}

TEST(HeldTables, AreNoBlends) {
  Program program = of_tables(0);
  std::vector<uint8_t> blend(64);
  for (int k = 0; k < 64; ++k)
    blend[static_cast<size_t>(k)] = static_cast<uint8_t>(k % 2 == 0 ? k : 64 + k);
  program.tables = {blend, turned_by(1)};
  Block block = permuting(2, {1});
  block.insert(block.begin() + 2,
               {.code = Code::permute, .width = 1, .table = 0, .to = 60, .a = 0, .b = 1});
  program.root = {For{8, {}, {block}}};
  const HeldTables held = hold_tables(program, InstructionSet::avx512);
  EXPECT_EQ(held.size, 1);
  EXPECT_EQ(held.find({1, 1}), 31);
}

/// Where the processor has funnel shifts.
TEST(HeldTables, AreNoFunnels) {
  Program program = of_tables(0);
  std::vector<uint8_t> funnel(64);
  for (int k = 0; k < 64; ++k) funnel[static_cast<size_t>(k)] = uint8_t(k % 2 * 64 + (k ^ 1));
  program.tables = {funnel, turned_by(1)};
  Block block = permuting(2, {1});
  block.insert(block.begin() + 2,
               {.code = Code::permute, .width = 1, .table = 0, .to = 60, .a = 0, .b = 1});
  program.root = {For{8, {}, {block}}};
  EXPECT_EQ(hold_tables(program, InstructionSet::avx512_vbmi).size, 1);
  EXPECT_EQ(hold_tables(program, InstructionSet::avx512).size, 2);
}

}  // namespace
}  // namespace restride::xbyak
