// Tiers: a backend that compiles at once serves while a slower one works in the background, and
// nothing but speed changes when it is done.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "backend/backend.hpp"
#include "backend/interpreter.hpp"
#include "plan/later_kernels.hpp"
#include "plan/plan_state.hpp"
#include "restride/plan.hpp"

namespace restride {
namespace {

/// A background that does nothing until it is told to.
class Drawer {
 public:
  Background background() {
    return {[](void* context, void (*task)(void*), void* argument) {
              static_cast<Drawer*>(context)->tasks_.emplace_back(task, argument);
            },
            this};
  }
  size_t size() const { return tasks_.size(); }
  void empty() {
    for (const auto& [task, argument] : tasks_) task(argument);
    tasks_.clear();
  }

 private:
  std::vector<std::pair<void (*)(void*), void*>> tasks_;
};

/// A quotient of wide integers: no backend that compiles at once does it.
constexpr const char* slow_problem = "divide(s64[1000], s64[1000]) -> s64[1000]";

Plan planned(const char* text, KernelCache& cache, const Background& background) {
  PlanOptions options;
  options.cache = &cache;
  options.background = background;
  return *Plan::create(*parse_problem(text), options);
}

/// Whether this build has a backend for it that is worth waiting for.
bool has_slow_backend() {
  KernelCache cache;
  return planned(slow_problem, cache, {}).backend() != "interpreter";
}

struct Quotients {
  std::vector<int64_t> dividend, divisor, result;

  Quotients() : dividend(1000), divisor(1000), result(1000) {
    for (int64_t k = 0; k < 1000; ++k) {
      dividend[static_cast<size_t>(k)] = 7919 * k - 3000000;
      divisor[static_cast<size_t>(k)] = k % 37 - 18;
    }
  }
  const std::vector<int64_t>& run(const Plan& plan) {
    const void* const sources[] = {dividend.data(), divisor.data()};
    plan.execute_sources(sources, result.data());
    return result;
  }
};

TEST(LaterKernels, AreMadeOnceAndPublished) {
  std::atomic<int> made = 0;
  const auto kernels = std::make_shared<const KernelSet>();
  LaterKernels later([&] {
    ++made;
    return kernels;
  });
  EXPECT_EQ(later.ready(), nullptr);
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k) {
    threads.emplace_back([&] {
      later.finish();
      EXPECT_EQ(later.ready(), kernels.get());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST(Tiers, WhatCompilesAtOnceNeedsNoBackground) {
  KernelCache cache;
  Drawer drawer;
  planned("f32[64,64] -> f32[64,64]{0,1}", cache, drawer.background());
#if defined(__x86_64__)
  EXPECT_EQ(drawer.size(), 0u);
#endif
}

TEST(Tiers, TheInterpreterServesUntilTheBackgroundIsDone) {
  if (!has_slow_backend()) GTEST_SKIP() << "no slow backend of this build does it";
  KernelCache cache;
  Drawer drawer;
  const Plan plan = planned(slow_problem, cache, drawer.background());
  EXPECT_EQ(plan.backend(), "interpreter");
  Quotients quotients;
  const std::vector<int64_t> interpreted = quotients.run(plan);
  ASSERT_EQ(drawer.size(), 1u);
  // Another plan of the signature shares the kernels that are on their way.
  planned(slow_problem, cache, drawer.background());
  EXPECT_EQ(drawer.size(), 1u);
  drawer.empty();
  EXPECT_NE(plan.backend(), "interpreter");
  EXPECT_EQ(quotients.run(plan), interpreted);
  EXPECT_EQ(cache.statistics().code_bytes, plan.code_bytes());
  EXPECT_GT(plan.code_bytes(), 0);
}

TEST(Tiers, WhoLendsNoBackgroundDoesNotWaitForThatOfOthers) {
  if (!has_slow_backend()) GTEST_SKIP() << "no slow backend of this build does it";
  KernelCache cache;
  Drawer drawer;
  const Plan first = planned(slow_problem, cache, drawer.background());
  EXPECT_EQ(first.backend(), "interpreter");
  EXPECT_NE(planned(slow_problem, cache, {}).backend(), "interpreter");
  EXPECT_NE(first.backend(), "interpreter");
  drawer.empty();
}

TEST(Tiers, TheBackgroundMayOutliveCacheAndPlan) {
  Drawer drawer;
  {
    KernelCache cache;
    planned(slow_problem, cache, drawer.background());
  }
  drawer.empty();
}

TEST(Tiers, ResultsAreTheSameWhileTheKernelsChange) {
  if (!has_slow_backend()) GTEST_SKIP() << "no slow backend of this build does it";
  KernelCache cache;
  Drawer drawer;
  const Plan plan = planned(slow_problem, cache, drawer.background());
  const std::vector<int64_t> expected = Quotients().run(plan);
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; ++k) {
    threads.emplace_back([&] {
      Quotients quotients;
      do EXPECT_EQ(quotients.run(plan), expected);
      while (!stop);
    });
  }
  drawer.empty();
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace restride
