// The interpreter: every operation and every kind of loop against bytes spelled out by hand.
#include "backend/interpreter.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/run_kernel.hpp"

namespace restride {
namespace {

using testing::ProgramCase;
using testing::writes_what_it_must;

TEST(Interpreter, DoesEveryOperationThatSomeTargetHas) {
  for (const int vector_bytes : {16, 32, 64}) {
    for (const ProgramCase& test : testing::operation_cases(vector_bytes)) {
      const auto target =
          std::find_if(known_targets().begin(), known_targets().end(),
                       [&](const Target& known) { return bool(verify(test.program, known)); });
      ASSERT_NE(target, known_targets().end()) << test.name;
      ASSERT_TRUE(writes_what_it_must(test, interpreter_backend(), *target));
    }
  }
}

TEST(Interpreter, RunsLoops) {
  const Target target = *find_target("sse2");
  for (const ProgramCase& test : testing::loop_cases()) {
    const Result<void> verified = verify(test.program, target);
    ASSERT_TRUE(verified) << test.name << ": " << verified.error().message;
    EXPECT_TRUE(writes_what_it_must(test, interpreter_backend(), target));
  }
}

TEST(Interpreter, RunsOnlyTheUnitsAskedFor) {
  const ProgramCase units = testing::loop_cases()[1];
  std::vector<uint8_t> written(units.expected.size(), testing::untouched);
  std::vector<uint8_t> source = units.source;
  void* const operands[] = {written.data(), source.data()};
  interpret(units.program, operands, 1, 3);
  EXPECT_EQ(written, (std::vector<uint8_t>{testing::untouched, 3, 5, testing::untouched}));
}

TEST(Interpreter, IsTheLastBackend) { EXPECT_EQ(backends().back(), &interpreter_backend()); }

}  // namespace
}  // namespace restride
