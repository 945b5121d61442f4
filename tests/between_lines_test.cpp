// What is planned where rows of a target begin between lines, or have prime lengths: by how many
// lines they come in, which ends are asked for again, and that no block is a single column. None of
// this changes what arrives.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "plan/planner.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

using program::Code;

struct Counted {
  std::map<std::pair<Code, int>, int> operations;  // by code and width

  int of(Code code, int width) const {
    const auto found = operations.find({code, width});
    return found == operations.end() ? 0 : found->second;
  }

  int of(Code code) const {
    int count = 0;
    for (const auto& [operation, times] : operations) count += operation.first == code ? times : 0;
    return count;
  }

  void add(const program::Body& body) {
    for (const auto& item : body) {
      if (const program::For* loop = std::get_if<program::For>(&item)) {
        add(loop->body);
        continue;
      }
      for (const program::Op& op : std::get<program::Block>(item))
        ++operations[{op.code, op.width}];
    }
  }
};

Counted planned(const char* text, const Target& target) {
  Counted counted;
  counted.add(plan_programs(simplified_space(text), target).front().root);
  return counted;
}

TEST(ShiftedRows, ComeInByAsManyLinesAsSuitTheProcessor) {
  Target two = streaming_target(), four = two;
  four.shifted_chunk_lines = 4;
  for (const char* wide :
       {"f32[4097,4095] -> f32[4097,4095]{0,1}", "f64[3001,2999] -> f64[3001,2999]{0,1}",
        "c128[2001,1999] -> c128[2001,1999]{0,1}"}) {
    EXPECT_GT(planned(wide, four).of(Code::store_line), planned(wide, two).of(Code::store_line))
        << wide;
  }
  // Narrow ones always by two.
  for (const char* narrow :
       {"u8[4097,4095] -> u8[4097,4095]{0,1}", "u16[4097,4095] -> u16[4097,4095]{0,1}"}) {
    EXPECT_EQ(planned(narrow, four).operations, planned(narrow, two).operations) << narrow;
  }
}

TEST(ShiftedRows, ComeInByTwoLinesWhereCodeWouldBeLong) {
  Target two = streaming_target(), four = two;
  four.shifted_chunk_lines = 4;
  for (const char* text :
       {"f32[6538,1970] -> f32[6538,1970]{0,1}", "f32[4,3731,957] -> f32[4,3731,957]{1,2,0}"}) {
    EXPECT_EQ(planned(text, four).operations, planned(text, two).operations) << text;
  }
}

TEST(Images, AskAgainForTheEndsOfColumnsThatLeaveSoon) {
  constexpr int to_write = 0;
  const char* const text = "u16[37,53,97,96] -> u16[37,53,97,96]{2,0,1,3}";
  Target once = streaming_target(), again = once;
  again.columns_claimed_again = 2;
  const int claims = planned(text, once).of(Code::prefetch, to_write);
  EXPECT_GT(claims, 0);
  EXPECT_EQ(planned(text, again).of(Code::prefetch, to_write), 2 * claims);
}

TEST(Blocks, AreNoSingleColumnsWhereNothingDividesThem) {
  for (const char* text : {"u8[28,20,575,317] -> u8[28,20,575,317]{1,2,3,0}",
                           "u8[17,20,575,289] -> u8[17,20,575,289]{1,2,3,0}"}) {
    Target target = streaming_target();
    target.streaming_bytes = target.imaging_bytes = 20 << 20;
    const Schedule blocks = schedule(simplified_space(text), target, CodeGoal::small);
    EXPECT_GT(source_run_elements(blocks), 1) << text;
  }
}

}  // namespace
}  // namespace restride::testing
