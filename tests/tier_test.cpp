// Tiers: a backend that compiles at once serves while a slower one works in the background, and
// nothing but speed changes when it is done.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "backend.hpp"
#include "interpreter.hpp"
#include "later_kernels.hpp"
#include "plan_state.hpp"
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

/// A power of floats: no backend compiles it at once.
constexpr const char* slow_problem = "power(f32[1000], f32[1000]) -> f32[1000]";

bool has_slow_backend() {
  for (const Backend* backend : backends()) {
    if (!backend->compiles_at_once()) return true;
  }
  return false;
}

Plan planned(const char* text, KernelCache& cache, const Background& background) {
  PlanOptions options;
  options.cache = &cache;
  options.background = background;
  return *Plan::create(*parse_problem(text), options);
}

struct Powers {
  std::vector<float> base, exponent, result;

  Powers() : base(1000), exponent(1000), result(1000) {
    for (size_t k = 0; k < base.size(); ++k) {
      base[k] = 0.25f * static_cast<float>(k % 37);
      exponent[k] = 0.5f * static_cast<float>(k % 11);
    }
  }
  const std::vector<float>& run(const Plan& plan) {
    const void* const sources[] = {base.data(), exponent.data()};
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
  if (!has_slow_backend()) GTEST_SKIP() << "every backend of this build compiles at once";
  KernelCache cache;
  Drawer drawer;
  const Plan plan = planned(slow_problem, cache, drawer.background());
  EXPECT_EQ(plan.backend(), "interpreter");
  Powers powers;
  const std::vector<float> interpreted = powers.run(plan);
  ASSERT_EQ(drawer.size(), 1u);
  // Another plan of the signature shares the kernels that are on their way.
  planned(slow_problem, cache, drawer.background());
  EXPECT_EQ(drawer.size(), 1u);
  drawer.empty();
  EXPECT_NE(plan.backend(), "interpreter");
  EXPECT_EQ(powers.run(plan), interpreted);
  EXPECT_EQ(cache.statistics().code_bytes, plan.code_bytes());
  EXPECT_GT(plan.code_bytes(), 0);
}

TEST(Tiers, WhoLendsNoBackgroundDoesNotWaitForThatOfOthers) {
  if (!has_slow_backend()) GTEST_SKIP() << "every backend of this build compiles at once";
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
  if (!has_slow_backend()) GTEST_SKIP() << "every backend of this build compiles at once";
  KernelCache cache;
  Drawer drawer;
  const Plan plan = planned(slow_problem, cache, drawer.background());
  const std::vector<float> expected = Powers().run(plan);
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; ++k) {
    threads.emplace_back([&] {
      Powers powers;
      do EXPECT_EQ(powers.run(plan), expected);
      while (!stop);
    });
  }
  drawer.empty();
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace restride
