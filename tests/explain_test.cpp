// What `explain` says of a problem.
#include "restride/explain.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/forced_backend.hpp"
#include "support/planned.hpp"
#include "target/target.hpp"

namespace restride {
namespace {

using testing::error_of;
using testing::ForcedBackend;
using testing::parsed;
using testing::planned;

constexpr const char* transpose = "f32[2,3] -> f32[2,3]{0,1}";

TEST(Explain, ShowsEveryStage) {
  const Result<Explanation> shown = explain(parsed("f32[2,3] -> f32[2,3]{0,1:PAD(3,5;zero)}"));
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_EQ(shown->problem, "f32[2,3] -> f32[2,3]{0,1:PAD(3,5;zero)}");
  EXPECT_EQ(shown->signature, planned(shown->problem).signature());
  EXPECT_EQ(shown->backend, planned(shown->problem).backend());
  EXPECT_EQ(shown->target, host_target().name);
  EXPECT_EQ(shown->bytes_read, 24);
  EXPECT_EQ(shown->bytes_written, 60);
  EXPECT_GT(shown->operations, 0);
  EXPECT_FALSE(shown->microkernels.empty());
  for (const std::string* text : {&shown->space, &shown->schedule, &shown->nest, &shown->program}) {
    EXPECT_FALSE(text->empty());
  }
  EXPECT_EQ(shown->code.empty(), shown->backend == "interpreter");
}

TEST(Explain, NamesWhatIsCalledForEveryElement) {
  const Result<Explanation> called = explain(*parse_problem("power(f32[8], f32[8]) -> f32[8]"));
  ASSERT_TRUE(called) << called.error().message;
  EXPECT_EQ(called->slow_path, "power of f32: a library function for every element");
  for (const char* text : {"power(s32[8], s32[8]) -> s32[8]", "divide(f32[8], f32[8]) -> f32[8]",
                           "convert(f64[8]) -> bf16[8]", "f32[8] -> f32[8]"}) {
    const Result<Explanation> computed = explain(*parse_problem(text));
    ASSERT_TRUE(computed) << computed.error().message;
    EXPECT_EQ(computed->slow_path, "") << text;
  }
}

TEST(Explain, CountsRepeatedElementsOnce) {
  EXPECT_EQ(explain(parsed("f32[3] -> f32[2,3]{0,1} dims={1}"))->bytes_read, 12);
  Problem problem = parsed("f32[2,3] -> f32[2,3]");
  problem.sources[0].byte_strides = {0, 4};
  EXPECT_EQ(explain(problem)->bytes_read, 12);
  EXPECT_EQ(explain(problem)->bytes_written, 24);
}

TEST(Explain, PlansForMachinesThatAreNotHere) {
  const ForcedBackend none(nullptr);
  for (const Target& target : known_targets()) {
    PlanOptions options;
    options.target = target.name;
    const Result<Explanation> shown = explain(parsed(transpose), options);
    ASSERT_TRUE(shown) << target.name << ": " << shown.error().message;
    EXPECT_EQ(shown->target, target.name);
  }
}

TEST(Explain, ExplainsNothingToDo) {
  const Result<Explanation> shown = explain(parsed("f32[0] -> f32[0]"));
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_EQ(shown->bytes_read, 0);
  EXPECT_EQ(shown->bytes_written, 0);
  EXPECT_EQ(shown->operations, 0);
}

TEST(Explain, FailsAsPlanningFails) {
  const ForcedBackend forced("nothing");
  EXPECT_EQ(explain(parsed(transpose)).error(), error_of(transpose));
}

}  // namespace
}  // namespace restride
