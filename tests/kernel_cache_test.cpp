// KernelCache: what is made once, what is remembered, what is forgotten. Through Plan::create, and
// by itself with made-up kernels where order and timing matter.
#include "restride/kernel_cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "plan/compile.hpp"
#include "plan/kernel_cache_state.hpp"
#include "restride/plan.hpp"

namespace restride {
namespace {

using State = KernelCache::State;

PlanOptions with(KernelCache& cache) {
  PlanOptions options;
  options.cache = &cache;
  return options;
}

Plan plan(const std::string& text, KernelCache& cache) {
  const Result<Problem> problem = parse_problem(text);
  EXPECT_TRUE(problem) << text << ": " << problem.error().message;
  Result<Plan> result = Plan::create(*problem, with(cache));
  EXPECT_TRUE(result) << text << ": " << result.error().message;
  return *std::move(result);
}

Outcome made(const std::string& signature, int64_t code_bytes = 1) {
  auto kernels = std::make_shared<KernelSet>();
  kernels->signature = signature;
  kernels->code_bytes = code_bytes;
  return std::shared_ptr<const KernelSet>(std::move(kernels));
}

/// Looks `key` up in a cache of made-up kernels.
std::shared_ptr<State::Entry> look_up(KernelCache& cache, const std::string& key,
                                      int64_t code_bytes = 1) {
  return cache.state()->find_or_make(key, [&] { return made(key, code_bytes); });
}

/// Whether `key` is held. Looks without making anything new stay: an error of this kind is not
/// kept.
bool holds(KernelCache& cache, const std::string& key) {
  const auto fail = [] { return Outcome(Error{ErrorCode::resource_exhausted, "not held"}); };
  return cache.state()->find_or_make(key, fail)->outcome.has_value();
}

TEST(KernelCache, CompilesOneSignatureOnce) {
  KernelCache cache;
  const Plan first = plan("f32[2,3] -> f32[2,3]{0,1}", cache);
  const Plan second = plan("f32[3,2]{0,1} -> f32[3,2]{1,0}", cache);
  const Plan third = plan("u32[2,3] -> u32[2,3]{0,1}", cache);
  EXPECT_EQ(first.signature(), second.signature());
  EXPECT_EQ(first.signature(), third.signature());
  const KernelCacheStatistics statistics = cache.statistics();
  EXPECT_EQ(statistics.compiles, 1);
  EXPECT_EQ(statistics.misses, 1);
  EXPECT_EQ(statistics.hits, 2);
  EXPECT_EQ(statistics.entries, 1);
  EXPECT_EQ(statistics.failures, 0);
}

TEST(KernelCache, FindsAProblemSeenBefore) {
  KernelCache cache;
  for (int i = 0; i < 5; ++i) plan("f32[2,3] -> f32[2,3]{0,1}", cache);
  EXPECT_EQ(cache.statistics().compiles, 1);
  EXPECT_EQ(cache.statistics().hits, 4);
}

TEST(KernelCache, KeepsBackendsAndTargetsApart) {
  unsetenv("RESTRIDE_BACKEND");  // it would say what is automatic
  KernelCache cache;
  const Result<Problem> problem = parse_problem("f32[2,3] -> f32[2,3]{0,1}");
  for ([[maybe_unused]] const std::string_view target : {"", "sse2"}) {
    for (const BackendChoice backend : {BackendChoice::automatic, BackendChoice::interpreter}) {
      PlanOptions options = with(cache);
      options.backend = backend;
#if defined(__x86_64__)
      options.target = target;
#endif
      ASSERT_TRUE(Plan::create(*problem, options));
    }
  }
#if defined(__x86_64__)
  EXPECT_EQ(cache.statistics().entries, 4);
#else
  EXPECT_EQ(cache.statistics().entries, 2);
#endif
}

TEST(KernelCache, ForgetsEverythingOnClear) {
  KernelCache cache;
  const Plan kept = plan("f32[2,3] -> f32[2,3]{0,1}", cache);
  cache.clear();
  EXPECT_EQ(cache.statistics().entries, 0);
  EXPECT_EQ(cache.statistics().code_bytes, 0);
  plan("f32[2,3] -> f32[2,3]{0,1}", cache);
  EXPECT_EQ(cache.statistics().compiles, 2);
}

TEST(KernelCache, KeepsEvictedKernelsInUseValid) {
  KernelCacheOptions options;
  options.max_entries = 1;
  KernelCache cache(options);
  const Plan evicted = plan("f32[2,3] -> f32[2,3]{0,1}", cache);
  plan("f32[5,7] -> f32[5,7]{0,1}", cache);
  plan("f32[9,4] -> f32[9,4]{0,1}", cache);
  EXPECT_EQ(cache.statistics().entries, 1);
  EXPECT_EQ(cache.statistics().evictions, 2);
  const std::vector<float> source = {1, 2, 3, 4, 5, 6};
  std::vector<float> target(6);
  evicted.execute(source.data(), target.data());
  EXPECT_EQ(target, (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(KernelCache, OutlivedByItsPlans) {
  auto cache = std::make_unique<KernelCache>();
  const Plan left = plan("f32[2,3] -> f32[2,3]{0,1}", *cache);
  cache.reset();
  const std::vector<float> source = {1, 2, 3, 4, 5, 6};
  std::vector<float> target(6);
  left.execute(source.data(), target.data());
  EXPECT_EQ(target, (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(KernelCache, CompilesEverySignatureOnceUnderManyThreads) {
  KernelCache cache;
  std::vector<Problem> problems;
  for (int rows = 2; rows < 8; ++rows) {
    for (const char* type : {"f32", "s32", "u8"}) {
      const std::string shape = std::string(type) + "[" + std::to_string(rows) + ",5]";
      problems.push_back(*parse_problem(shape + " -> " + shape + "{0,1}"));
    }
  }
  constexpr int threads = 16;
  std::barrier start(threads);
  std::vector<std::set<std::string>> signatures(threads);
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      start.arrive_and_wait();
      for (int round = 0; round < 3; ++round) {
        for (size_t i = 0; i < problems.size(); ++i) {
          const Problem& problem = problems[(i + static_cast<size_t>(t)) % problems.size()];
          signatures[static_cast<size_t>(t)].emplace(
              Plan::create(problem, with(cache))->signature());
        }
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  const KernelCacheStatistics statistics = cache.statistics();
  for (const std::set<std::string>& seen : signatures) {
    EXPECT_EQ(statistics.compiles, static_cast<int64_t>(seen.size()));
  }
  EXPECT_EQ(signatures[0].size(), 12u);  // f32 and s32 share theirs
  EXPECT_EQ(statistics.entries, 12);
  EXPECT_EQ(statistics.hits + statistics.misses, threads * 3 * 18);
}

TEST(KernelCache, StaysConsistentWhileEvictingAndClearing) {
  KernelCacheOptions options;
  options.max_entries = 3;
  KernelCache cache(options);
  std::vector<Problem> problems;
  for (int rows = 2; rows < 10; ++rows) {
    const std::string shape = "f32[" + std::to_string(rows) + ",3]";
    problems.push_back(*parse_problem(shape + " -> " + shape + "{0,1}"));
  }
  std::vector<std::thread> running;
  for (size_t t = 0; t < 16; ++t) {
    running.emplace_back([&, t] {
      for (size_t i = 0; i < 100; ++i) {
        const Result<Plan> created =
            Plan::create(problems[(i * (t + 1)) % problems.size()], with(cache));
        std::vector<float> source(30, 1.0f), target(30);
        if (created) created->execute(source.data(), target.data());
        EXPECT_EQ(target[0], 1.0f);
        if (t == 0 && i % 10 == 0) cache.clear();
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_LE(cache.statistics().entries, 3);
  cache.clear();
  EXPECT_EQ(cache.statistics().code_bytes, 0);
}

TEST(KernelCache, WaitsForTheThreadThatIsMaking) {
  KernelCache cache;
  std::atomic<int> made_count = 0, waiting = 0;
  const auto slow = [&] {
    ++made_count;
    while (waiting < 15) std::this_thread::yield();  // so that all others ask meanwhile
    return made("slow");
  };
  std::vector<std::thread> running;
  std::vector<const KernelSet*> found(16);
  for (size_t t = 0; t < found.size(); ++t) {
    running.emplace_back([&, t] {
      if (t != 0) {
        while (made_count == 0) std::this_thread::yield();
        ++waiting;
      }
      found[t] = cache.state()->find_or_make("slow", slow)->outcome->get();
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(made_count, 1);
  EXPECT_EQ(std::set<const KernelSet*>(found.begin(), found.end()).size(), 1u);
}

TEST(KernelCache, MakesOnceWhoeverComesFirst) {
  KernelCache cache;
  constexpr int threads = 2, rounds = 20000;
  std::atomic<int> made_count = 0;
  std::atomic<int> arrived = 0;
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        const std::string key = std::to_string(round);
        ++arrived;
        while (arrived < threads * (round + 1)) std::this_thread::yield();
        cache.state()->find_or_make(key, [&] {
          ++made_count;
          return made(key);
        });
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(made_count, rounds);
}

TEST(KernelCache, LetsOthersPassWhileOneIsMaking) {
  KernelCache cache;
  std::atomic<bool> started = false, passed = false;
  std::thread slow([&] {
    cache.state()->find_or_make("slow", [&] {
      started = true;
      while (!passed) std::this_thread::yield();
      return made("slow");
    });
  });
  while (!started) std::this_thread::yield();
  look_up(cache, "other");
  passed = true;
  slow.join();
  EXPECT_EQ(cache.statistics().entries, 2);
}

TEST(KernelCache, RemembersFailures) {
  KernelCache cache;
  int tries = 0;
  const auto fail = [&] {
    ++tries;
    return Outcome(Error{ErrorCode::compile_failed, "no"});
  };
  for (int i = 0; i < 3; ++i) {
    const auto entry = cache.state()->find_or_make("bad", fail);
    ASSERT_FALSE(entry->outcome);
    EXPECT_EQ(entry->outcome.error(), (Error{ErrorCode::compile_failed, "no"}));
  }
  EXPECT_EQ(tries, 1);
  EXPECT_EQ(cache.statistics().failures, 1);
  EXPECT_EQ(cache.statistics().entries, 1);
}

TEST(KernelCache, TriesAgainWhenResourcesWereShort) {
  KernelCache cache;
  const auto fail = [] { return Outcome(Error{ErrorCode::resource_exhausted, "no code space"}); };
  EXPECT_FALSE(cache.state()->find_or_make("key", fail)->outcome);
  EXPECT_EQ(cache.statistics().entries, 0);
  EXPECT_TRUE(look_up(cache, "key")->outcome);
}

TEST(KernelCache, EvictsTheLeastRecentlyUsed) {
  KernelCacheOptions options;
  options.max_entries = 3;
  KernelCache cache(options);
  for (const char* key : {"a", "b", "c"}) look_up(cache, key);
  look_up(cache, "a");  // b is the oldest now
  look_up(cache, "d");
  EXPECT_EQ(cache.statistics().evictions, 1);
  EXPECT_EQ(cache.statistics().entries, 3);
  EXPECT_FALSE(holds(cache, "b"));
  for (const char* key : {"a", "c", "d"}) EXPECT_TRUE(holds(cache, key)) << key;
}

TEST(KernelCache, CountsFindingAProblemAsUse) {
  KernelCacheOptions options;
  options.max_entries = 2;
  KernelCache cache(options);
  const std::string first = "f32[2,3] -> f32[2,3]{0,1}", second = "f32[4,3] -> f32[4,3]{0,1}";
  plan(first, cache);
  plan(second, cache);
  plan(first, cache);
  plan("f32[5,3] -> f32[5,3]{0,1}", cache);  // takes the place of `second`
  EXPECT_EQ(cache.statistics().compiles, 3);
  plan(first, cache);
  EXPECT_EQ(cache.statistics().compiles, 3);
  plan(second, cache);
  EXPECT_EQ(cache.statistics().compiles, 4);
}

TEST(KernelCache, BoundsCodeBytes) {
  KernelCacheOptions options;
  options.max_code_bytes = 100;
  KernelCache cache(options);
  for (const char* key : {"a", "b", "c"}) look_up(cache, key, 40);
  EXPECT_EQ(cache.statistics().code_bytes, 80);
  EXPECT_FALSE(holds(cache, "a"));
  look_up(cache, "larger than all", 101);
  EXPECT_LE(cache.statistics().code_bytes, 100);
  EXPECT_FALSE(holds(cache, "larger than all"));
}

TEST(KernelCache, KeepsNothingWithoutRoom) {
  KernelCacheOptions options;
  options.max_entries = 0;
  KernelCache cache(options);
  EXPECT_TRUE(look_up(cache, "a")->outcome);
  EXPECT_EQ(cache.statistics().entries, 0);
  options.max_entries = -7;
  KernelCache negative(options);
  EXPECT_TRUE(look_up(negative, "a")->outcome);
  EXPECT_EQ(negative.statistics().entries, 0);
}

TEST(KernelCache, IsClearedWhileAKernelIsMade) {
  KernelCache cache;
  const auto entry = cache.state()->find_or_make("key", [&] {
    cache.clear();
    return made("key", 50);
  });
  EXPECT_TRUE(entry->outcome);
  EXPECT_EQ(cache.statistics().entries, 0);
  EXPECT_EQ(cache.statistics().code_bytes, 0);
}

TEST(KernelCache, BoundsTheProblemsOfASignature) {
  KernelCache cache;
  // All are the same contiguous copy of 64 bytes.
  for (int rank = 1; rank < 40; ++rank) {
    std::string shape = "u8[64";
    for (int i = 1; i < rank; ++i) shape += ",1";
    shape += "]";
    plan(shape + " -> " + shape, cache);
  }
  EXPECT_EQ(cache.statistics().compiles, 1);
  const Plan last = plan("u8[64] -> u8[64]", cache);
  const std::string key = std::string(last.signature()) + '\n' + std::string(last.target()) + '\n' +
                          std::string(to_string(*effective_backend({})));
  EXPECT_EQ(look_up(cache, key)->problems.size(), 8u);
}

}  // namespace
}  // namespace restride
