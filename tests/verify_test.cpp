// What verify refuses of whole Programs: one broken Program per invariant.
#include <gtest/gtest.h>

#include <functional>

#include "program/program.hpp"
#include "support/sample_programs.hpp"

namespace restride {
namespace {

using namespace program;
using testing::block_of;
using testing::block_program;
using testing::root_loop;
using testing::store;
using testing::valid_program;

TEST(Verify, AcceptsAValidProgramOnEveryTarget) {
  for (const Target& target : known_targets()) {
    Program program = valid_program();
    if (!target.nontemporal) block_of(program)[3].code = Code::store;
    const Result<void> verified = verify(program, target);
    EXPECT_TRUE(verified) << target.name << ": " << verified.error().message;
  }
  EXPECT_TRUE(verify(Program{}, *find_target("sse2")));
}

/// A change to valid_program() and the start of the message it must lead to.
struct Broken {
  const char* what;
  int invariant;
  std::function<void(Program&)> change;
};

TEST(Verify, RefusesProgramsWithOneFault) {
  const std::vector<Broken> table = {
      {"used before it is defined", 1, [](Program& p) { block_of(p)[1].a = 9; }},
      {"used before it is defined", 1, [](Program& p) { block_of(p)[1].a = -5; }},
      {"defined twice", 1, [](Program& p) { block_of(p)[2].to = 0; }},
      {"defined twice", 1, [](Program& p) { block_of(p)[2].to = -7; }},
      {"names a register", 1, [](Program& p) { block_of(p)[0].b = 0; }},
      {"names a register", 1, [](Program& p) { block_of(p)[0].to = none; }},
      {"names a register", 1, [](Program& p) { block_of(p)[3].a = none; }},
      {"outside its operand", 2, [](Program& p) { block_of(p)[0].offset = 1; }},
      {"outside its operand", 2, [](Program& p) { block_of(p)[0].offset = -1; }},
      {"outside its operand", 2, [](Program& p) { block_of(p)[0].offset = INT64_MAX; }},
      {"outside its operand", 2, [](Program& p) { root_loop(p).extent = 5; }},
      {"outside its operand", 2, [](Program& p) { root_loop(p).steps[1].stride = 17; }},
      {"outside its operand", 2, [](Program& p) { p.operands[1].end = 63; }},
      {"outside its operand", 2, [](Program& p) { p.operands[1].begin = 1; }},
      {"stores to a source", 2, [](Program& p) { block_of(p)[1].stream = 1; }},
      {"has not written", 2,
       [](Program& p) {
         std::swap(block_of(p)[1], block_of(p)[2]);
         block_of(p)[2].a = 1;
         block_of(p)[1].to = 1;
       }},
      {"has not written", 2, [](Program& p) { block_of(p)[1].bytes = 8; }},
      {"not a whole vector", 3, [](Program& p) { block_of(p)[3].bytes = 8; }},
      {"not proved aligned", 3, [](Program& p) { p.operands[0].alignment = 8; }},
      {"not proved aligned", 3, [](Program& p) { root_loop(p).steps[0].stride = 8; }},
      {"not proved aligned", 3,
       [](Program& p) {
         block_of(p)[3].offset = 8;
         root_loop(p).extent = 3;
       }},
      {"no such vector", 4, [](Program& p) { p.vector_bytes = 24; }},
      {"wider than", 4, [](Program& p) { p.vector_bytes = 32; }},
      {"no such operation", 4,
       [](Program& p) { block_of(p)[0].code = Code(int(Code::prefetch) + 1); }},
      {"bytes outside", 4, [](Program& p) { block_of(p)[0].bytes = 0; }},
      {"bytes outside", 4, [](Program& p) { block_of(p)[0].at = 1; }},
      {"no byte masks", 4, [](Program& p) { block_of(p)[0].bytes = 3; }},
      {"a multiple of its size", 4,
       [](Program& p) {
         block_of(p)[0].bytes = 4;
         block_of(p)[0].at = 2;
       }},
      {"only walks", 5, [](Program& p) { root_loop(p).steps[0].phase = 1; }},
      {"only walks", 5,
       [](Program& p) {
         root_loop(p).steps[0].wraps = {{1, 0}};
       }},
      {"one root loop", 5,
       [](Program& p) {
         p.open = true;
         p.root.push_back(Block{});
       }},
      {"one root loop", 5,
       [](Program& p) {
         p.open = true;
         p.root = {Block{}};
       }},
      {"never runs", 6, [](Program& p) { root_loop(p).extent = 0; }},
      {"never runs", 6, [](Program& p) { root_loop(p).extent = -1; }},
      {"do not fit", 6, [](Program& p) { root_loop(p).steps[0].stride = INT64_MAX; }},
      {"outside its operand", 2, [](Program& p) { root_loop(p).steps[1].stream = 0; }},
      {"stream that is not there", 6, [](Program& p) { root_loop(p).steps[1].stream = 3; }},
      {"stream that is not there", 6, [](Program& p) { root_loop(p).steps[1].stream = -1; }},
      {"no such stream", 6, [](Program& p) { block_of(p)[0].stream = 3; }},
      {"operand that is not there", 6, [](Program& p) { p.streams[0] = 3; }},
      {"an operand's bytes", 6, [](Program& p) { p.operands[2].end = -1; }},
      {"no power of two", 6, [](Program& p) { p.operands[0].alignment = 48; }},
      {"no power of two", 6, [](Program& p) { p.operands[0].alignment = 0; }},
      {"an operand's phase", 6, [](Program& p) { p.operands[0].phase = p.operands[0].alignment; }},
      {"an operand's phase", 6,
       [](Program& p) {
         p.operands[2].alignment = 64;
         p.operands[2].phase = 16;
       }},
      {"the order target", 6, [](Program& p) { p.operands[2].role = Role::target; }},
      {"too many streams", 6, [](Program& p) { p.streams.resize(max_streams + 1); }},
      {"too many operands", 6, [](Program& p) { p.operands.resize(max_operands + 1); }},
      {"too deep", 6,
       [](Program& p) {
         for (int k = 0; k < max_depth; ++k) {
           For outer{1, {}, std::move(p.root)};
           p.root.clear();
           p.root.push_back(std::move(outer));
         }
       }},
      {"too many units", 6,
       [](Program& p) {
         root_loop(p).steps.clear();
         root_loop(p).extent = INT64_MAX;
         p.root.push_back(Block{});
       }},
  };
  const Target target = *find_target("sse2");
  for (const Broken& broken : table) {
    Program program = valid_program();
    broken.change(program);
    const Result<void> verified = verify(program, target);
    ASSERT_FALSE(verified) << broken.what << "\n" << to_string(program);
    const std::string& message = verified.error().message;
    const std::string start = "program: invariant " + std::to_string(broken.invariant) + ": ";
    EXPECT_EQ(message.substr(0, start.size()), start) << broken.what << ": " << message;
    EXPECT_NE(message.find(broken.what), std::string::npos) << broken.what << ": " << message;
  }
}

TEST(Verify, ChecksStepsOfInnerLoops) {
  const Target target = *find_target("sse2");
  const auto with = [&](Step step, int64_t extent) {
    Program program = valid_program();
    For inner{extent, {std::move(step)}, std::move(root_loop(program).body)};
    root_loop(program).body.clear();
    root_loop(program).body.push_back(std::move(inner));
    return verify(program, target);
  };
  EXPECT_TRUE(with({2, 0}, 1000000000));
  EXPECT_FALSE(with({2, 0, 0, -1}, 2));
  EXPECT_FALSE(with({2, 0, 0, 0, {{0, 0}}}, 2));
  EXPECT_FALSE(with({2, 0, 0, 0, std::vector<Wrap>(max_wraps + 1, {2, 0})}, 2));
}

TEST(Verify, LetsAUnitReadItsTarget) {
  const Op read{.code = Code::load, .bytes = 4, .to = 0};
  EXPECT_TRUE(verify(block_program(16, {read, store(0, 4)}), *find_target("sse2")));
}

}  // namespace
}  // namespace restride
