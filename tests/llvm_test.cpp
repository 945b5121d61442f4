// The LLVM backend beside what every backend must do: threads, address space, forcing it, and
// systems that refuse.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "backend/backend.hpp"
#include "code_arena.hpp"
#include "llvm_backend.hpp"
#include "restride/plan.hpp"
#include "support/child_process.hpp"
#include "support/run_kernel.hpp"

namespace restride {
namespace {

using testing::in_child;
using testing::ProgramCase;

/// A Program that is like no other: byte k of the target becomes byte `number + k` of the source.
ProgramCase distinct_case(int number) {
  ProgramCase test{.name = "kernel " + std::to_string(number), .program = {.vector_bytes = 16}};
  for (int k = 0; k < 16 * 8 + number; ++k) test.source.push_back(uint8_t(k * 7 + number));
  test.expected.assign(test.source.begin() + number, test.source.end());
  test.program.operands = {{program::Role::target, 0, int64_t(test.expected.size())},
                           {program::Role::source, 0, int64_t(test.source.size())}};
  test.program.streams = {0, 1};
  const program::Block block = {
      {.code = program::Code::load, .stream = 1, .bytes = 16, .to = 0, .offset = number},
      {.code = program::Code::store, .stream = 0, .bytes = 16, .a = 0}};
  test.program.root.push_back(program::For{8, {{0, 16}, {1, 16}}, {block}});
  return test;
}

int lines_of_own_maps() {
  FILE* const file = std::fopen("/proc/self/maps", "r");
  int lines = 0;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) lines += c == '\n';
  std::fclose(file);
  return lines;
}

TEST(Llvm, CompilesOnSixteenThreadsAtOnce) {
  constexpr int threads = 16, kernels = 200;
  std::vector<::testing::AssertionResult> results(threads, ::testing::AssertionSuccess());
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&results, t] {
      for (int k = 0; k < kernels && results[size_t(t)]; ++k) {
        results[size_t(t)] = testing::writes_what_it_must(distinct_case(t * kernels + k),
                                                          llvm_backend(), host_target());
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  for (const auto& result : results) EXPECT_TRUE(result);
}

TEST(Llvm, ThousandsOfKernelsCostFewMappings) {
  CodeArena arena;
  const LlvmBackend backend(arena);
  std::vector<Kernel> kernels = {*backend.compile(distinct_case(0).program, host_target())};
  const int before = lines_of_own_maps();
  constexpr int compiled = 2000;
  for (int k = 1; k < compiled; ++k) {
    kernels.push_back(*backend.compile(distinct_case(k).program, host_target()));
  }
  // The heap grows as well; that of sanitizers by some tens of mappings.
  EXPECT_LE(lines_of_own_maps(), before + compiled / 10);
  EXPECT_LE(arena.statistics().reserved_bytes, 2 << 20);
  kernels.clear();
  EXPECT_EQ(arena.statistics().used_bytes, 0);
}

TEST(Llvm, PutsConstantsBesideTheCode) {
  const Target target = *find_target("sse2");
  for (const ProgramCase& test : testing::operation_cases(16)) {
    if (test.name.find("constant") == test.name.npos || !verify(test.program, target)) continue;
    const Kernel kernel = *llvm_backend().compile(test.program, target);
    EXPECT_EQ(reinterpret_cast<const void*>(kernel.entry), kernel.machine_code.data());
    EXPECT_LT(kernel.machine_code.size(), 256u);
    if (!runs_here(target)) continue;
    EXPECT_TRUE(testing::writes_what_it_must(test, llvm_backend(), target));
  }
}

TEST(Llvm, CanBeForced) {
  const Problem problem = *parse_problem("f32[7,9] -> f32[7,9]{0,1}");
  const Result<Plan> plan = Plan::create(problem, {.backend = BackendChoice::llvm});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->backend(), "llvm");
}

TEST(Llvm, SaysThatTheArenaIsFull) {
  CodeArena arena({.budget_bytes = 1 << 12});
  const LlvmBackend backend(arena);
  std::vector<Kernel> kernels;
  Result<Kernel> kernel = backend.compile(distinct_case(0).program, host_target());
  while (kernel && kernels.size() < 100) {
    kernels.push_back(*kernel);
    kernel = backend.compile(distinct_case(int(kernels.size())).program, host_target());
  }
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::compile_failed);
  EXPECT_NE(kernel.error().message.find("budget of 4096"), std::string::npos)
      << kernel.error().message;
  kernels.clear();
  EXPECT_TRUE(backend.compile(distinct_case(0).program, host_target()));
}

TEST(Llvm, MakesCodeForOtherMachinesToBeLookedAt) {
  for (const Target& target : known_targets()) {
    const Result<Kernel> kernel = llvm_backend().compile(distinct_case(3).program, target);
    ASSERT_TRUE(kernel) << kernel.error().message;
    EXPECT_FALSE(kernel->machine_code.empty()) << target.name;
  }
}

#if defined(__x86_64__)
TEST(Llvm, FailsWhereTheSystemRefusesExecutableMemory) {
  enum { refused = 0, compiled, wrong_error, no_filter };
  ASSERT_TRUE(llvm_backend().compile(distinct_case(0).program, host_target()));
  const int status = in_child([] {
    if (!testing::deny_executable_memory()) return int(no_filter);
    CodeArena arena;
    const Result<Kernel> kernel =
        LlvmBackend(arena).compile(distinct_case(0).program, host_target());
    if (kernel) return int(compiled);
    return kernel.error().code == ErrorCode::compile_failed ? int(refused) : int(wrong_error);
  });
  if (status == no_filter) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(status, refused);
}
#endif

}  // namespace
}  // namespace restride
