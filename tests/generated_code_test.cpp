// What every backend that generates code must do: every operation on every target that runs here,
// loops, and what a kernel is.
#include <gtest/gtest.h>

#include <cstring>

#include "backend/backend.hpp"
#include "support/run_kernel.hpp"
#include "support/sampling.hpp"

namespace restride {
namespace {

using namespace program;
using testing::ProgramCase;
using testing::writes_what_it_must;

class GeneratedCode : public ::testing::TestWithParam<const Backend*> {};

INSTANTIATE_TEST_SUITE_P(Every, GeneratedCode,
                         ::testing::ValuesIn(backends().begin(), backends().end() - 1),
                         [](const auto& info) { return std::string(info.param->name()); });

std::vector<Target> targets_here() {
  std::vector<Target> targets;
  for (const Target& target : known_targets()) {
    if (runs_here(target)) targets.push_back(target);
  }
  return targets;
}

/// The families with thousands of members.
bool is_one_of_many(const ProgramCase& test) {
  const std::string_view name = test.name;
  return name.starts_with("load") || name.starts_with("merge") || name.starts_with("store ") ||
         name.starts_with("lanes");
}

TEST_P(GeneratedCode, DoesEveryOperationOfEveryTarget) {
  for (const Target& target : targets_here()) {
    int done = 0, number = 0;
    for (const int vector_bytes : {16, 32, 64}) {
      for (const ProgramCase& test : testing::operation_cases(vector_bytes)) {
        if (!verify(test.program, target)) continue;
        ++done;
        if (is_one_of_many(test) && !testing::takes_part(*GetParam(), ++number, 29)) continue;
        ASSERT_TRUE(writes_what_it_must(test, *GetParam(), target));
      }
    }
    // unpacks 8, constants 2, splats 5, loads, merges (two kinds) and stores of 31 pieces, a
    // non-temporal store.
    EXPECT_GE(done, 8 + 2 + 5 + 4 * 31 + 1) << target.name;
  }
}

TEST_P(GeneratedCode, RunsLoops) {
  for (const Target& target : targets_here()) {
    for (const ProgramCase& test : testing::loop_cases()) {
      EXPECT_TRUE(writes_what_it_must(test, *GetParam(), target));
    }
  }
}

TEST_P(GeneratedCode, AnOpenProgramRunsUnitsThatVerificationNeverSaw) {
  ProgramCase open = testing::loop_cases().back();
  ASSERT_TRUE(open.program.open);
  const Kernel kernel = *GetParam()->compile(open.program, host_target());
  std::vector<uint8_t> source(200), written(100);
  for (size_t k = 0; k < source.size(); ++k) source[k] = uint8_t(k);
  void* const operands[] = {written.data(), source.data()};
  kernel.entry(kernel.code.get(), operands, 0, 100);
  for (size_t k = 0; k < written.size(); ++k) EXPECT_EQ(written[k], 2 * k);
}

TEST_P(GeneratedCode, NoUnitsIsNothing) {
  for (const ProgramCase& test : testing::loop_cases()) {
    const Kernel kernel = *GetParam()->compile(test.program, host_target());
    void* const nowhere[] = {nullptr, nullptr, nullptr};
    kernel.entry(kernel.code.get(), nowhere, 0, 0);
    kernel.entry(kernel.code.get(), nowhere, unit_count(test.program), unit_count(test.program));
  }
}

/// Copies pieces of 1 to 9 and 17 to 19 bytes: more masks than mask registers.
TEST_P(GeneratedCode, MoreMasksThanRegisters) {
  const Target target = *find_target("avx512");
  if (!runs_here(target)) GTEST_SKIP() << "needs AVX-512";
  ProgramCase test{.name = "many masks", .program = {.vector_bytes = 32}};
  Block block;
  int64_t at = 0;
  for (const int bytes : {1, 3, 5, 6, 7, 9, 10, 11, 13, 17, 19, 23}) {
    const Reg r = Reg(block.size());
    block.push_back(
        {.code = Code::load, .stream = 1, .bytes = uint8_t(bytes), .to = r, .offset = at});
    block.push_back(
        {.code = Code::store, .stream = 0, .bytes = uint8_t(bytes), .a = r, .offset = at});
    at += bytes;
  }
  for (int64_t k = 0; k < at; ++k) test.source.push_back(uint8_t(k + 1));
  test.expected = test.source;
  test.program.operands = {{Role::target, 0, at}, {Role::source, 0, at}};
  test.program.streams = {0, 1};
  test.program.root.push_back(std::move(block));
  ASSERT_TRUE(verify(test.program, target));
  EXPECT_TRUE(writes_what_it_must(test, *GetParam(), target));
}

TEST_P(GeneratedCode, EndsWithAFenceWhereStoresGoAroundTheCaches) {
  if (host_target().architecture != Architecture::x86_64) GTEST_SKIP() << "an x86-64 instruction";
  const uint8_t sfence[] = {0x0f, 0xae, 0xf8};
  int with = 0;
  for (const ProgramCase& test : testing::operation_cases(16)) {
    const Target target = *find_target("sse2");
    if (!verify(test.program, target)) continue;
    const Kernel kernel = *GetParam()->compile(test.program, target);
    const auto code = kernel.machine_code;
    const bool found = memmem(code.data(), code.size(), sfence, sizeof sfence) != nullptr;
    EXPECT_EQ(found, uses_nontemporal_stores(test.program)) << test.name;
    with += found;
  }
  EXPECT_GT(with, 0);
}

}  // namespace
}  // namespace restride
