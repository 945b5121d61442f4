// What a plan costs before it runs: made for the first time, found by its problem, found by its
// signature.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "restride/plan.hpp"

namespace {

using restride::KernelCache;
using restride::parse_problem;
using restride::Plan;
using restride::PlanOptions;
using restride::Problem;
using restride::Result;

/// NCHW to NHWC of a vision model's size.
constexpr const char* nchw_to_nhwc = "f32[32,64,56,56] -> f32[32,64,56,56]{1,3,2,0}";

Problem problem_of(const char* text) {
  Result<Problem> problem = parse_problem(text);
  if (!problem) {
    std::fprintf(stderr, "%s: %s\n", text, problem.error().message.c_str());
    std::exit(1);
  }
  return *std::move(problem);
}

void create(benchmark::State& state, const Problem& problem, const PlanOptions& options) {
  const Result<Plan> plan = Plan::create(problem, options);
  if (!plan) state.SkipWithError(plan.error().message.c_str());
  benchmark::DoNotOptimize(plan);
}

/// Planned and compiled, into a cache that is empty.
void cold(benchmark::State& state) {
  const Problem problem = problem_of(nchw_to_nhwc);
  for (auto _ : state) {
    KernelCache cache;
    PlanOptions options;
    options.cache = &cache;
    create(state, problem, options);
  }
}
BENCHMARK(cold)->Unit(benchmark::kMicrosecond);

/// The same problem once more.
void found_by_problem(benchmark::State& state) {
  static KernelCache cache;
  PlanOptions options;
  options.cache = &cache;
  const Problem problem = problem_of(nchw_to_nhwc);
  for (auto _ : state) create(state, problem, options);
}
BENCHMARK(found_by_problem)->ThreadRange(1, 4)->UseRealTime();

/// Problems that are written differently and have one signature: more than the cache remembers by
/// problem.
void found_by_signature(benchmark::State& state) {
  KernelCache cache;
  PlanOptions options;
  options.cache = &cache;
  std::vector<Problem> problems;
  for (size_t ones = 0; ones < 16; ++ones) {
    Problem problem = problem_of("f32[32,64,3136] -> f32[32,64,3136]{1,2,0}");
    for (restride::Shape* shape : {&problem.sources[0].shape, &problem.target}) {
      for (size_t i = 0; i < ones; ++i) {
        shape->layout.minor_to_major.push_back(static_cast<int64_t>(shape->dimensions.size()));
        shape->dimensions.push_back(1);
      }
    }
    problems.push_back(problem);
  }
  size_t next = 0;
  for (auto _ : state) create(state, problems[next++ % problems.size()], options);
}
BENCHMARK(found_by_signature)->Unit(benchmark::kMicrosecond);

/// Parsing, for comparison.
void parse(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(parse_problem(nchw_to_nhwc));
}
BENCHMARK(parse)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
