// Executors: the pool and the adapters run every task once, and plans split over them move the same
// bytes.
#include "restride/executor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "restride/plan.hpp"
#include "restride/thread_pool.hpp"

// ThreadSanitizer does not see the synchronisation inside libraries that were built without it.
#if defined(__SANITIZE_THREAD__)
#undef RESTRIDE_TEST_TBB
#elif defined(_OPENMP)
#define RESTRIDE_TEST_OPENMP
#endif

#ifdef RESTRIDE_TEST_OPENMP
#include "restride/openmp_executor.hpp"
#endif
#ifdef RESTRIDE_TEST_TBB
#include "restride/tbb_executor.hpp"
#endif

namespace restride {
namespace {

/// Runs a function object for every index.
void run(Executor& executor, int64_t n, const std::function<void(int64_t)>& function) {
  const auto task = [](void* context, int64_t index) {
    (*static_cast<const std::function<void(int64_t)>*>(context))(index);
  };
  executor.parallel_for(n, task, const_cast<std::function<void(int64_t)>*>(&function));
}

/// Runs tasks backwards on the calling thread and counts them.
class Backwards final : public Executor {
 public:
  explicit Backwards(int concurrency) : concurrency_(concurrency) {}
  int concurrency() const noexcept override { return concurrency_; }
  void parallel_for(int64_t n, Task task, void* context) noexcept override {
    tasks += n;
    while (n-- > 0) task(context, n);
  }
  int64_t tasks = 0;

 private:
  const int concurrency_;
};

struct Named {
  std::string name;
  std::unique_ptr<Executor> executor;
};

std::vector<Named> executors() {
  std::vector<Named> all;
  all.push_back({"backwards", std::make_unique<Backwards>(3)});
  all.push_back({"pool of one", std::make_unique<ThreadPool>(1)});
  all.push_back({"pool", std::make_unique<ThreadPool>(4)});
#ifdef RESTRIDE_TEST_OPENMP
  all.push_back({"OpenMP", std::make_unique<OpenMpExecutor>()});
#endif
#ifdef RESTRIDE_TEST_TBB
  all.push_back({"TBB", std::make_unique<TbbExecutor>()});
#endif
  return all;
}

TEST(Executor, RunsEveryTaskOnce) {
  for (const Named& each : executors()) {
    EXPECT_GE(each.executor->concurrency(), 1) << each.name;
    for (const int64_t n : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> times(static_cast<size_t>(n));
      run(*each.executor, n, [&](int64_t index) { ++times[static_cast<size_t>(index)]; });
      for (const std::atomic<int>& count : times) EXPECT_EQ(count, 1) << each.name << ' ' << n;
    }
  }
}

TEST(ThreadPool, HasTheThreadsAskedFor) {
  struct Row {
    int asked, got;
  };
  for (const Row& row : {Row{1, 1}, Row{2, 2}, Row{5, 5}, Row{0, 1}, Row{-3, 1}}) {
    EXPECT_EQ(ThreadPool(row.asked).concurrency(), row.got) << row.asked;
  }
}

TEST(ThreadPool, RunsTasksAtTheSameTime) {
  ThreadPool pool(4);
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> arrived = 0;
    run(pool, 4, [&](int64_t) {
      ++arrived;
      while (arrived < 4) std::this_thread::yield();  // hangs unless four run at once
    });
    EXPECT_EQ(arrived, 4);
  }
}

TEST(ThreadPool, RunsNothingForNoTasks) {
  ThreadPool pool(2);
  for (const int64_t n : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    run(pool, n, [](int64_t) { ADD_FAILURE(); });
  }
}

TEST(ThreadPool, EndsNestedCalls) {
  ThreadPool pool(3);
  std::atomic<int> count = 0;
  run(pool, 8,
      [&](int64_t) { run(pool, 8, [&](int64_t) { run(pool, 3, [&](int64_t) { ++count; }); }); });
  EXPECT_EQ(count, 8 * 8 * 3);
}

TEST(ThreadPool, ServesManyCallers) {
  ThreadPool pool(4);
  std::atomic<int64_t> sum = 0;
  std::vector<std::thread> callers;
  for (int t = 0; t < 8; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        run(pool, 20, [&](int64_t index) { sum += index; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 8 * 50 * 190);
}

Plan planned(const std::string& text) {
  const Result<Problem> problem = parse_problem(text);
  EXPECT_TRUE(problem) << problem.error().message;
  Result<Plan> plan = Plan::create(*problem);
  EXPECT_TRUE(plan) << plan.error().message;
  return *std::move(plan);
}

TEST(PlanOnExecutor, MovesTheSameBytes) {
  for (const char* text : {
           "f32[700,900] -> f32[700,900]{0,1}",
           "u8[3000000] -> u8[3000000]",
           "f32[8,37,41,41] -> f32[8,37,41,41]{3,2,1,0:T(16,1,1)}",
           "u16[1000,1001] -> u16[1000,1001]{0,1:PAD(1003,1024;one)}",
           "f32[1000] -> f32[1000,1000]{0,1} dims={0}",
       }) {
    const Plan plan = planned(text);
    std::vector<std::byte> source(static_cast<size_t>(plan.source_bytes()));
    for (size_t i = 0; i < source.size(); ++i)
      source[i] = static_cast<std::byte>(i * 2654435761u >> 13);
    std::vector<std::byte> serial(static_cast<size_t>(plan.target_bytes()), std::byte{1});
    plan.execute(source.data(), serial.data());
    for (const Named& each : executors()) {
      std::vector<std::byte> target(serial.size(), std::byte{2});
      plan.execute(source.data(), target.data(), *each.executor);
      EXPECT_TRUE(target == serial) << text << " on " << each.name;
      std::fill(target.begin(), target.end(), std::byte{3});
      EXPECT_TRUE(plan.execute(source, target, *each.executor));
      EXPECT_TRUE(target == serial) << text << " with sizes on " << each.name;
    }
  }
}

TEST(PlanOnExecutor, KeepsSmallProblemsOnOneThread) {
  const Plan plan = planned("f32[64,64] -> f32[64,64]{0,1}");  // 32 KiB read and written
  std::vector<float> source(4096), target(4096);
  Backwards executor(8);
  plan.execute(source.data(), target.data(), executor);
  EXPECT_EQ(executor.tasks, 0);
}

TEST(PlanOnExecutor, GivesEveryThreadSomethingToDo) {
  const Plan plan = planned("f32[1024,4096] -> f32[1024,4096]{0,1}");
  // Lines, so that the target is aligned and the program that unit_count() speaks of runs.
  struct alignas(64) Line {
    float elements[16];
  };
  std::vector<Line> source((1 << 22) / 16), target((1 << 22) / 16);
  Backwards executor(4);
  plan.execute(source.data(), target.data(), executor);
  EXPECT_GE(executor.tasks, 4);
  EXPECT_LE(executor.tasks, plan.unit_count());
}

TEST(PlanOnExecutor, TroublesNoExecutorWithoutThreads) {
  const Plan plan = planned("u8[2000000] -> u8[2000000]");
  const std::vector<std::byte> source(2000000);
  std::vector<std::byte> target(2000000);
  Backwards executor(1);
  plan.execute(source.data(), target.data(), executor);
  EXPECT_EQ(executor.tasks, 0);
}

TEST(PlanOnExecutor, SurvivesAnExecutorWithoutConcurrency) {
  const Plan plan = planned("u8[2000000] -> u8[2000000]");
  const std::vector<std::byte> source(2000000, std::byte{5});
  for (const int concurrency : {0, -5, INT32_MIN, INT32_MAX}) {
    std::vector<std::byte> target(2000000);
    Backwards executor(concurrency);
    plan.execute(source.data(), target.data(), executor);
    EXPECT_TRUE(target == source) << concurrency;
  }
}

}  // namespace
}  // namespace restride
