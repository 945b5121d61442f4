// What written_once refuses: bytes that are written twice, or read unwritten.
#include <gtest/gtest.h>

#include "program/program.hpp"
#include "support/sample_programs.hpp"

namespace restride {
namespace {

using namespace program;
using testing::block_program;
using testing::load;
using testing::root_loop;
using testing::store;
using testing::valid_program;

TEST(WrittenOnce, LetsAUnitPutBackWhatItHasRead) {
  const Op read{.code = Code::load, .bytes = 4, .to = 0};
  EXPECT_TRUE(written_once(block_program(16, {read, store(0, 4), store(0, 4)}), 4));
  EXPECT_FALSE(written_once(block_program(16, {load(0, 4), store(0, 4), store(0, 4)}), 4));
  // Not in the bytes of another unit.
  Program two = block_program(16, {read, store(0, 4)});
  two.root.push_back(Block{read});
  EXPECT_FALSE(written_once(two, 4));
}

TEST(WrittenOnce, LetsStoresOfAUnitOverlapByHalf) {
  Op behind = store(0, 8);
  behind.offset = 4;
  EXPECT_TRUE(written_once(block_program(16, {load(0, 8), store(0, 8), behind}), 12));
  behind.offset = 1;
  EXPECT_FALSE(written_once(block_program(16, {load(0, 8), store(0, 8), behind}), 9));
}

TEST(WrittenOnce, CountsTheTarget) {
  EXPECT_TRUE(written_once(valid_program(), 64));
  EXPECT_FALSE(written_once(valid_program(), 63));
}

TEST(WrittenOnce, RefusesWhatIsWrittenTwiceOrReadUnwritten) {
  Program twice = valid_program();
  root_loop(twice).steps[0].stride = 0;
  EXPECT_FALSE(written_once(twice, 64));
  // Inside the hull of what was written, but not written: only the walk sees it.
  Program gap =
      block_program(16, {load(0, 8),
                         {.code = Code::store, .stream = 2, .bytes = 4, .a = 0},
                         {.code = Code::store, .stream = 2, .bytes = 4, .a = 0, .offset = 8},
                         {.code = Code::load, .stream = 2, .bytes = 4, .to = 1, .offset = 4},
                         store(1, 4)});
  gap.operands.push_back({Role::scratch, 0, 12});
  gap.streams.push_back(2);
  EXPECT_TRUE(verify(gap, *find_target("sse2")));
  const Result<void> walked = written_once(gap, 4);
  ASSERT_FALSE(walked);
  EXPECT_NE(walked.error().message.find("byte 4 is read but not written"), std::string::npos)
      << walked.error().message;
}

}  // namespace
}  // namespace restride
