// What the benchmarks share: suites as text, the arithmetic of tables, plain loops, and the fast
// walk of the oracle. Nothing here is timed.
#include <gtest/gtest.h>

#include <numeric>

#include "element_walk.hpp"
#include "oracle.hpp"
#include "results.hpp"
#include "results_text.hpp"
#include "source_places.hpp"
#include "suite.hpp"
#include "work.hpp"
#include "yardstick.hpp"

namespace restride::tools {
namespace {

TEST(Suite, HasNamesProblemsAndWhatItIsAbout) {
  const auto suite = parse_suite("mine",
                                 "# Two cases.\n# name: problem\n\n"
                                 "  a-1: f32[2,3] -> f32[2,3]{0,1}\r\nb: u8[4] -> u8[4]");
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_EQ(suite->about, "Two cases.");
  ASSERT_EQ(suite->cases.size(), 2u);
  EXPECT_EQ(suite->cases[0].name, "a-1");
  EXPECT_EQ(to_string(suite->cases[0].problem), "f32[2,3] -> f32[2,3]{0,1}");
}

TEST(Suite, ErrorsNameTheLine) {
  const struct {
    const char *text, *message;
  } rows[] = {
      {"", "mine: a suite without cases"},
      {"# only a comment\n", "mine: a suite without cases"},
      {"f32[2] -> f32[2]\n", "mine:1: not of the form"},
      {"\na b: f32[2] -> f32[2]\n", "mine:2: not of the form"},
      {"a: f32[2] -> f32[2]\na: f32[3] -> f32[3]\n", "mine:2: the name a comes twice"},
      {"# x\na: f32[2] -> f32[3]\n", "mine:2: "},
  };
  for (const auto& row : rows) {
    const auto suite = parse_suite("mine", row.text);
    ASSERT_FALSE(suite) << row.text;
    EXPECT_TRUE(suite.error().message.starts_with(row.message)) << suite.error().message;
  }
}

TEST(Suite, ThoseThatComeWithTheProgramAreValid) {
  const struct {
    const char* name;
    size_t cases;
  } rows[] = {{"ttc", 57},       {"dl", 35},     {"matrix", 45}, {"small", 10},
              {"broadcast", 13}, {"layout", 19}, {"fused", 15},  {"sizes", 19}};
  for (const auto& row : rows) {
    const auto suite = load_suite(row.name);
    ASSERT_TRUE(suite) << suite.error().message;
    EXPECT_EQ(suite->cases.size(), row.cases) << row.name;
  }
}

TEST(Suite, KeepsWhatMatchesByNameOrProblem) {
  auto suite = *parse_suite("mine", "a: f32[2] -> f32[2]\nb: u8[4] -> u8[4]\nc: u8[5] -> u8[5]");
  ASSERT_TRUE(keep_matching(suite, "^a|\\[5\\]"));
  ASSERT_EQ(suite.cases.size(), 2u);
  EXPECT_EQ(suite.cases[1].name, "c");
  EXPECT_FALSE(keep_matching(suite, "("));
}

CandidateResult timed(const char* name, Role role, double seconds) {
  return {.name = name, .role = role, .timing = {seconds, seconds, 3}};
}

CandidateResult wrong(const char* name) {
  return {.name = name, .role = Role::peer, .status = Status::wrong, .reason = "bytes"};
}

/// Ours 4 s and 8 s, the ceilings 2 s and 1 s.
SuiteResult two_cases() {
  SuiteResult suite = {.name = "s", .about = "with, a comma"};
  suite.cases.push_back(
      {.name = "even",
       .candidates = {timed("restride", Role::ours, 4), timed("fast", Role::peer, 2.5),
                      wrong("liar"), timed("memcpy", Role::reference, 3),
                      timed("vector copy", Role::reference, 2)}});
  suite.cases.push_back(
      {.name = "slow",
       .candidates = {timed("restride", Role::ours, 8), timed("slower", Role::peer, 16),
                      timed("memcpy", Role::reference, 1)}});
  return suite;
}

TEST(Results, SharesAreTimesOfTheReferenceByOurs) {
  const SuiteResult suite = two_cases();
  const CaseResult& even = suite.cases[0];
  EXPECT_DOUBLE_EQ(share(fastest(even, Role::reference), fastest(even, Role::ours)), 0.5);
  EXPECT_DOUBLE_EQ(share(library_reference(even), fastest(even, Role::ours)), 0.75);
  EXPECT_EQ(share(library_reference(even), &even.candidates[2]), 0);
}

TEST(Results, GeometricMeanIsTheRootOfTheProduct) {
  EXPECT_DOUBLE_EQ(geometric_mean({2, 8}), 4);
  EXPECT_DOUBLE_EQ(geometric_mean({0.5}), 0.5);
  EXPECT_EQ(geometric_mean({}), 0);
}

TEST(Results, SummaryHoldsMeansTheMinimumAndTheLostCases) {
  const Summary summary = summarize(two_cases());
  EXPECT_EQ(summary.cases, 2);
  EXPECT_EQ(summary.timed, 2);
  EXPECT_EQ(summary.wrong, 1);
  EXPECT_DOUBLE_EQ(summary.mean_of_ceiling, 0.25);  // sqrt(1/2 * 1/8)
  EXPECT_DOUBLE_EQ(summary.least_of_ceiling, 0.125);
  EXPECT_EQ(summary.least_case, "slow");
  EXPECT_EQ(summary.lost_cases, std::vector<std::string>{"even (fast, by 1.60)"});
}

TEST(Results, CsvQuotesWhatNeedsIt) {
  SuiteResult suite = two_cases();
  suite.cases[0].problem = "f32[2,3] \"x\"";
  const std::string text = to_csv({suite});
  EXPECT_NE(text.find("s,even,\"f32[2,3] \"\"x\"\"\",restride,ours,timed,"), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 9);
}

TEST(Work, IsTheProblemAsPlainLoops) {
  const struct {
    const char* problem;
    int64_t element_bytes;
    std::vector<bench::Dimension> dimensions;
  } rows[] = {
      {"f32[2,3] -> f32[2,3]{0,1}", 4, {{3, 4, 8}, {2, 12, 4}}},
      {"f32[3] -> f32[2,3]{0,1} dims={1}", 4, {{3, 4, 8}, {2, 0, 4}}},
      {"u16[7,1,5] -> u16[7,1,5]", 2, {{35, 2, 2}}},
      {"u8[6,5,4] -> u8[6,5,4]{2,0,1}", 1, {{5, 4, 24}, {6, 20, 4}, {4, 1, 1}}},
      {"f32[4,8] -> f32[4,8]{1,0:T(2,4)}", 4, {{2, 64, 64}, {2, 16, 32}, {2, 32, 16}, {4, 4, 4}}},
  };
  for (const auto& row : rows) {
    const auto work = make_work(*parse_problem(row.problem), 1);
    ASSERT_TRUE(work) << row.problem << ": " << work.error().message;
    EXPECT_EQ(work->element_bytes, row.element_bytes) << row.problem;
    EXPECT_EQ(work->dimensions, row.dimensions) << row.problem;
  }
  for (const char* problem : {"f32[3,5] -> f32[3,5]{1,0:T(2,2)}", "convert(u8[3]) -> f32[3]",
                              "f32[2,3] -> f32[2,3]{0,1:PAD(3,5;zero)}"})
    EXPECT_FALSE(make_work(*parse_problem(problem), 1)) << problem;
}

TEST(Yardstick, MovesTheRightAmounts) {
  const struct {
    const char* problem;
    Traffic traffic;
    const char* reference;
    int64_t source_bytes, target_bytes;
  } rows[] = {
      {"u8[640] -> u8[640]", {640, 640}, "memcpy", 640, 640},
      {"u8[64] -> u8[64,64] dims={1}", {64, 4096}, "memset", 0, 4096},
      {"u8[640] -> u8[640]{0:PAD(700;zero)}", {640, 700}, "memcpy", 640, 700},
      {"convert(f32[640]) -> u8[640]", {2560, 640}, "memcpy", 1600, 1600},
  };
  for (const auto& row : rows) {
    const Yardstick yardstick = make_yardstick(*parse_problem(row.problem), row.traffic, nullptr);
    EXPECT_EQ(yardstick.ceilings.front().name, row.reference) << row.problem;
    EXPECT_EQ(yardstick.source_bytes, row.source_bytes) << row.problem;
    EXPECT_EQ(yardstick.target_bytes, row.target_bytes) << row.problem;
  }
}

TEST(Oracle, ComparesTheBitsThatPackedElementsHave) {
  for (const char* text : {"s4[7,9] -> s4[7,9]{0,1:E(4)}", "u2[7,9]{1,0:E(2)} -> u2[7,9]",
                           "convert(s4[64]{0:E(4)}) -> u1[64]{0:E(1)}"}) {
    const Problem problem = *parse_problem(text);
    const Plan plan = *Plan::create(problem, {.backend = BackendChoice::interpreter});
    std::vector<std::byte> source(static_cast<size_t>(plan.source_bytes(0)));
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 37);
    const std::vector<std::span<const std::byte>> sources{source};
    std::vector<std::byte> target(static_cast<size_t>(plan.target_bytes()));
    ASSERT_TRUE(plan.execute_sources(sources, target)) << text;
    EXPECT_EQ(compare_with_oracle(problem, sources, target)->difference, "") << text;
    target[0] ^= std::byte{1};
    EXPECT_NE(compare_with_oracle(problem, sources, target)->difference, "") << text;
  }
}

TEST(Oracle, TheFastWalkSeesEveryElementAndEveryFlippedBit) {
  for (const char* text :
       {"f32[70,67] -> f32[70,67]{0,1}", "u8[3,5,70] -> u8[3,5,70]{1,2,0}", "u16[] -> u16[]",
        "f32[9,13] -> f32[9,13]{1,0:T(2,4)}", "c128[3] -> c128[2,3]{0,1} dims={1}",
        "u8[9,13]{1,0:T(4,4)(2,1)} -> u8[9,13]{0,1:PAD(10,13;zero)}",
        "convert(f32[70,67]) -> s8[70,67]{0,1}", "convert(f32[70] dims={0}) -> f16[70,67]",
        "convert(u8[5,7,3]) -> f32[5,7,3]{1,0,2} scale={0.5,2,0.1} bias={1,2,3} dim=2",
        "convert(f64[9,13]) -> s8[9,13]{1,0:T(2,4)} scale={0.5} zero_point={-3}",
        "add(s32[70,67], s32[67] dims={1}) -> s32[70,67]{0,1}",
        "less(u16[70,1]{0,1}, u16[1,67]) -> pred[70,67]{0,1:PAD(71,70;one)}"}) {
    const Problem problem = *parse_problem(text);
    const Plan plan = *Plan::create(problem, {.backend = BackendChoice::interpreter});
    const std::vector<SourcePlace> places = *place_sources(problem);
    std::vector<std::byte> block(static_cast<size_t>(places.back().end));
    for (size_t i = 0; i < block.size(); ++i) block[i] = static_cast<std::byte>(i * 37 + i / 256);
    const auto sources = sources_in(block, places);
    std::vector<std::byte> target(static_cast<size_t>(plan.target_bytes()));
    ASSERT_TRUE(plan.execute_sources(sources, target)) << text;
    const auto count = [&] {
      std::vector<bool> computed(static_cast<size_t>(*buffer_elements(problem.target)), false);
      const int64_t elements = count_equal_elements(problem, sources, target, computed);
      EXPECT_EQ(elements, std::accumulate(computed.begin(), computed.end(), int64_t{0}) *
                              (elements > 0 ? 1 : 0))
          << text;
      return elements;
    };
    EXPECT_EQ(count(), *element_count(problem.target)) << text;
    target[0] ^= std::byte{0x40};
    EXPECT_EQ(count(), 0) << text;
    EXPECT_NE(compare_with_oracle(problem, sources, target)->difference, "") << text;
  }
}

}  // namespace
}  // namespace restride::tools
