// Plans chosen by measuring: right whichever wins, remembered, and within their time.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "plan/planner.hpp"
#include "restride/plan.hpp"
#include "space/rewrites.hpp"
#include "support/run_case.hpp"
#include "support/scheduled.hpp"
#include "target/target.hpp"

namespace restride {
namespace {

Problem parsed(const std::string& text) {
  Result<Problem> problem = parse_problem(text);
  EXPECT_TRUE(problem) << text << ": " << problem.error().message;
  return *std::move(problem);
}

PlanOptions measuring(KernelCache& cache) {
  PlanOptions options;
  options.cache = &cache;
  options.effort = PlanEffort::measure;
  return options;
}

class MeasuredPlan : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(
    Every, MeasuredPlan,
    ::testing::Values("f32[64,64] -> f32[64,64]{0,1}", "u8[] -> u8[]", "u8[0,3] -> u8[0,3]{0,1}",
                      "f32[3] -> f32[2,3]{0,1} dims={1}",
                      "u8[300,301] -> u8[300,301]{0,1:PAD(304,320;zero)}",
                      "f32[200,160] -> f32[200,160]{1,0:T(8,128)}",
                      "add(f32[70,65], f32[65] dims={1}) -> f32[70,65]{0,1}",
                      "convert(u8[30,20,3]) -> f32[30,20,3]{1,0,2} scale={0.5,2,4} dim=2",
                      "s4[33,34]{1,0:E(4)} -> s4[33,34]{0,1:E(4)}"));

TEST_P(MeasuredPlan, WritesWhatAnEstimatedOneDoes) {
  const testing::PreparedCase prepared(parsed(GetParam()), 7);
  const testing::Report report =
      testing::run_plan(prepared, BackendChoice::automatic, "host", PlanEffort::measure);
  EXPECT_EQ(report.outcome, testing::Outcome::passed) << report.text;
}

TEST(MeasuredPlans, AreKeptApartFromEstimatedOnes) {
  KernelCache cache;
  const Problem problem = parsed("f32[40,50] -> f32[40,50]{0,1}");
  ASSERT_TRUE(Plan::create(problem, {.cache = &cache}));
  ASSERT_TRUE(Plan::create(problem, measuring(cache)));
  EXPECT_EQ(cache.statistics().misses, 2);
  ASSERT_TRUE(Plan::create(problem, measuring(cache)));
  EXPECT_EQ(cache.statistics().misses, 2);
  EXPECT_EQ(cache.statistics().hits, 1);
}

TEST(MeasuredPlans, NeedNoTimeAtAll) {
  KernelCache cache;
  PlanOptions options = measuring(cache);
  options.measure_seconds = 0;
  EXPECT_TRUE(Plan::create(parsed("f32[40,50] -> f32[40,50]{0,1}"), options));
}

TEST(MeasuredPlans, RefuseATimeThatIsNone) {
  for (const double seconds : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    KernelCache cache;
    PlanOptions options = measuring(cache);
    options.measure_seconds = seconds;
    const Result<Plan> plan = Plan::create(parsed("f32[4] -> f32[4]"), options);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(plan.error().message.find("measure_seconds = "), std::string::npos)
        << plan.error().message;
  }
}

TEST(MeasuredPlans, ChooseAmongPlansThatDiffer) {
  // Else nothing would be measured.
  const IterationSpace space = testing::simplified_space("f32[1024,1024] -> f32[1024,1024]{0,1}");
  Target target = *find_target("avx512");
  target.streaming_bytes = 1 << 20;
  const Program estimated = on_lines(plan_programs(space, target));
  const std::vector<Target> others = rivals(space, target);
  EXPECT_EQ(others.size(), 2u);
  for (const Target& other : others) {
    EXPECT_NE(on_lines(plan_programs(space, other)), estimated);
  }
}

}  // namespace
}  // namespace restride
