// Every backend on every target it can run must write what the oracle says, over the corpus and
// over random problems. RESTRIDE_TEST_RANDOM is the number of random problems, RESTRIDE_TEST_SEED
// the first of their seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include "space/iteration_space.hpp"
#include "support/cases.hpp"
#include "support/coverage.hpp"
#include "support/run_case.hpp"
#include "support/sampling.hpp"

namespace restride::testing {
namespace {

int64_t number_in_environment(const char* name, int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoll(text, nullptr, 10);
}

/// The corpus, prepared once for all tests.
const std::vector<PreparedCase>& corpus() {
  static const std::vector<PreparedCase> cases = [] {
    std::vector<PreparedCase> result;
    for (const std::string_view text : text_cases()) {
      const Result<Problem> problem = parse_problem(text);
      if (problem) result.emplace_back(*problem, result.size());
    }
    for (const Problem& problem : built_cases()) result.emplace_back(problem, result.size());
    return result;
  }();
  return cases;
}

/// A backend and a target that it can run on this machine.
struct Way {
  const Backend* backend;
  const Target* target;
};

/// The interpreter runs everything; generated code runs where the machine does.
std::vector<Way> ways() {
  std::vector<Way> result;
  for (const Backend* backend : backends()) {
    for (const Target& target : known_targets()) {
      if (backend->name() == "interpreter" || runs_here(target))
        result.push_back({backend, &target});
    }
  }
  return result;
}

void PrintTo(const Way& way, std::ostream* out) {
  *out << way.backend->name() << " for " << way.target->name;
}

/// Whether arithmetic may go to the next backend.
bool lacks(const Problem& problem, const Way& way) {
  if (way.backend->name() == "llvm") return !llvm_translates(problem);
  return way.backend->name() == "xbyak" && !xbyak_translates(problem, *way.target);
}

/// Counts outcomes and turns failures into test failures, the first few of them.
class Tally {
 public:
  /// Returns whether to go on.
  bool add(const PreparedCase& prepared, const Report& report, const Way& way) {
    ++cases_;
    if (report.outcome == Outcome::passed) return true;
    if (report.outcome == Outcome::unsupported && lacks(prepared.problem(), way)) return true;
    if (report.outcome == Outcome::unsupported && may_be_unsupported(prepared.problem())) {
      ++unsupported_;
      return true;
    }
    ADD_FAILURE() << report.text;
    return ++failures_ < 10;
  }
  int64_t cases() const { return cases_; }
  int64_t unsupported() const { return unsupported_; }

 private:
  int64_t cases_ = 0, unsupported_ = 0, failures_ = 0;
};

Report run_directly(const PreparedCase& prepared, const Way& way) {
  const Programs planned = plan_directly(prepared, *way.target);
  if (planned.report.outcome != Outcome::passed) return planned.report;
  for (const Program& program : planned.programs) {
    const Report report = run_program(prepared, program, *way.backend, *way.target);
    if (report.outcome != Outcome::passed) return report;
  }
  return {};
}

Report run_through_plan(const PreparedCase& prepared, const Way& way) {
  const Result<BackendChoice> choice = parse_backend(way.backend->name());
  if (!choice) return {Outcome::failed, choice.error().message};
  return run_plan(prepared, *choice, way.target->name);
}

TEST(Corpus, IsValidAndParsesBackToItself) {
  for (const std::string_view text : text_cases()) {
    const Result<Problem> problem = parse_problem(text);
    ASSERT_TRUE(problem) << text << ": " << problem.error().message;
    const Result<Problem> again = parse_problem(to_string(*problem));
    ASSERT_TRUE(again) << to_string(*problem) << ": " << again.error().message;
    EXPECT_EQ(*again, *problem) << text << " prints as " << to_string(*problem);
  }
  for (const Problem& problem : built_cases()) {
    const Result<void> valid = validate(problem);
    EXPECT_TRUE(valid) << to_string(problem) << ": " << valid.error().message;
  }
}

TEST(RandomProblems, AreValidAndParseBackToThemselves) {
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    const Problem problem = random_problem(seed);
    const Result<void> valid = validate(problem);
    ASSERT_TRUE(valid) << to_string(problem) << ": " << valid.error().message;
    if (!problem.sources[0].byte_strides.empty() || !problem.target_byte_strides.empty()) continue;
    const Result<Problem> again = parse_problem(to_string(problem));
    ASSERT_TRUE(again) << to_string(problem) << ": " << again.error().message;
    EXPECT_EQ(to_string(*again), to_string(problem));
  }
}

TEST(RandomProblems, ThatComputeAreValidAndMostlyCompute) {
  int64_t copies = 0;
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    const Problem problem = random_arithmetic_problem(seed);
    const Result<void> valid = validate(problem);
    ASSERT_TRUE(valid) << to_string(problem) << ": " << valid.error().message;
    if (problem.operation == Operation::copy) ++copies;
  }
  EXPECT_LT(copies, 1500);
}

TEST(RandomProblems, AreRefusedOnlyForDocumentedReasons) {
  constexpr uint64_t problems = 5000;
  int64_t refused = 0;
  for (uint64_t seed = 0; seed < problems; ++seed) {
    const Problem problem = random_problem(seed);
    const Result<IterationSpace> space = iteration_space(problem);
    if (space) continue;
    ++refused;
    EXPECT_EQ(space.error().code, ErrorCode::unsupported) << space.error().message;
    EXPECT_TRUE(may_be_unsupported(problem)) << to_string(problem) << ": " << space.error().message;
  }
  RecordProperty("refused", static_cast<int>(refused));
  EXPECT_LT(refused, static_cast<int64_t>(problems / 12));
}

class Conformance : public ::testing::TestWithParam<Way> {};

TEST_P(Conformance, RunsTheCorpusThroughPlan) {
  if (!runs_here(*GetParam().target)) GTEST_SKIP() << "Plan refuses targets that do not run here";
  Tally tally;
  int64_t number = 0;
  for (const PreparedCase& prepared : corpus()) {
    if (!takes_part(*GetParam().backend, ++number, 3)) continue;
    if (!tally.add(prepared, run_through_plan(prepared, GetParam()), GetParam())) break;
  }
  RecordProperty("unsupported", static_cast<int>(tally.unsupported()));
}

TEST_P(Conformance, RunsTheProgramsOfTheCorpus) {
  Tally tally;
  int64_t number = 0;
  for (const PreparedCase& prepared : corpus()) {
    if (!takes_part(*GetParam().backend, ++number, 2)) continue;
    if (!tally.add(prepared, run_directly(prepared, GetParam()), GetParam())) break;
  }
  RecordProperty("unsupported", static_cast<int>(tally.unsupported()));
}

INSTANTIATE_TEST_SUITE_P(Every, Conformance, ::testing::ValuesIn(ways()), [](const auto& info) {
  return std::string(info.param.backend->name()) + "_" + info.param.target->name;
});

/// Every problem goes to all backends, on a target that its seed chooses for each.
void expect_to_conform(Problem (*make)(uint64_t), int64_t usual_problems) {
  const int64_t problems = number_in_environment("RESTRIDE_TEST_RANDOM", usual_problems);
  const int64_t first = number_in_environment("RESTRIDE_TEST_SEED", 1);
  const std::vector<Way> all = ways();
  Tally tally;
  for (int64_t seed = first; seed < first + problems; ++seed) {
    const PreparedCase prepared(make(static_cast<uint64_t>(seed)), static_cast<uint64_t>(seed));
    for (const Backend* backend : backends()) {
      if (!takes_part(*backend, seed, 5)) continue;
      std::vector<Way> own;
      std::ranges::copy_if(all, std::back_inserter(own),
                           [&](const Way& way) { return way.backend == backend; });
      if (own.empty()) continue;
      const Way& way = own[static_cast<size_t>(seed) % own.size()];
      const bool on =
          tally.add(prepared, run_directly(prepared, way), way) &&
          (!runs_here(*way.target) || tally.add(prepared, run_through_plan(prepared, way), way));
      if (!on) return;
    }
  }
  std::cout << tally.cases() << " runs, " << tally.unsupported() << " of them unsupported\n";
  if (problems >= 1000) {
    EXPECT_LE(tally.unsupported(), tally.cases() / 12);
  }
}

TEST(RandomProblems, ConformOnEveryBackend) { expect_to_conform(random_problem, 2000); }

TEST(RandomProblems, ConformOnEveryBackendWhenTheyCompute) {
  expect_to_conform(random_arithmetic_problem, 2000);
}

}  // namespace
}  // namespace restride::testing
