// Post-conditions of simplify, of every rewrite and of lower, executed on random problems: each
// must leave the set of (target byte, source byte or fill) as it was. Signatures of problems that
// are one kernel are equal.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "loop_nest/loop_nest.hpp"
#include "schedule/scheduling.hpp"
#include "space/iteration_space.hpp"
#include "space/rewrites.hpp"
#include "support/cases.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"
#include "support/space_walk.hpp"

namespace restride::testing {
namespace {

constexpr uint64_t seeds = 3000;
constexpr int64_t most_iterations = 20000;

/// The space of a random problem that is in bytes and small enough to be walked many times.
std::optional<IterationSpace> random_space(uint64_t seed) {
  const Result<IterationSpace> space = iteration_space(random_problem(seed));
  if (!space || is_packed(space->op) || iterations(*space) > most_iterations) return std::nullopt;
  return *space;
}

/// The text before the space, so that a failure shows the problem.
std::string describe(uint64_t seed, const IterationSpace& space) {
  return to_string(random_problem(seed)) + " (seed " + std::to_string(seed) + ")\n" +
         to_string(space);
}

/// Splits and interchanges as a schedule would, at random.
void perturb(Random& random, IterationSpace& space) {
  for (int64_t times = random.between(0, 3); times > 0 && !space.loops.empty(); --times) {
    const auto k =
        static_cast<size_t>(random.between(0, static_cast<int64_t>(space.loops.size()) - 1));
    const int64_t extent = space.loops[k].extent;
    if (extent <= 2) continue;
    const int64_t factor = random.between(2, std::min<int64_t>(extent - 1, 60));
    if (can_split(space, k, factor)) split(space, k, factor);
  }
  for (int64_t times = random.between(0, 9); times > 0 && space.loops.size() > 1; --times) {
    const auto k =
        static_cast<size_t>(random.between(0, static_cast<int64_t>(space.loops.size()) - 2));
    if (space.loops[k].axis != space.loops[k + 1].axis) move_loop(space, k, k + 1);
  }
}

TEST(IterationSpaceOfAProblem, VisitsWhatTheOracleWrites) {
  int64_t walked = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const std::optional<IterationSpace> space = random_space(seed);
    if (!space) continue;
    ++walked;
    const Problem problem = random_problem(seed);
    std::vector<std::byte> source(static_cast<size_t>(source_extent(problem, 0).bytes()));
    Random(seed).fill(source);
    const std::span<const std::byte> sources[] = {source};
    const Expectation expectation = expect(problem, sources);
    const std::vector<Visit> all = visits(*space);
    ASSERT_TRUE(verify(*space)) << verify(*space).error().message << describe(seed, *space);
    ASSERT_TRUE(distinct_targets(all)) << describe(seed, *space);
    if (!expectation.has_holes) {
      ASSERT_EQ(static_cast<int64_t>(all.size()), expectation.written_bytes)
          << describe(seed, *space);
    }
    for (const Visit& visit : all) {
      const auto i = static_cast<size_t>(visit.target - target_extent(problem).begin);
      ASSERT_LT(i, expectation.bytes.size()) << describe(seed, *space);
      if (expectation.free[i] != std::byte{0}) continue;
      const auto from = static_cast<size_t>(visit.source - source_extent(problem, 0).begin);
      const std::byte value =
          visit.source == Visit::filled ? static_cast<std::byte>(visit.value) : source.at(from);
      ASSERT_EQ(value, expectation.bytes[i]) << "byte " << i << " of " << describe(seed, *space);
    }
  }
  EXPECT_GT(walked, static_cast<int64_t>(seeds / 4));
}

TEST(Simplify, KeepsWhatIsVisited) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const std::optional<IterationSpace> before = random_space(seed);
    if (!before) continue;
    IterationSpace after = *before;
    simplify(after);
    ASSERT_TRUE(verify(after)) << verify(after).error().message << describe(seed, after);
    ASSERT_EQ(visits(after), visits(*before)) << describe(seed, *before) << describe(seed, after);
    IterationSpace again = after;
    simplify(again);
    EXPECT_EQ(again, after) << "simplify is not idempotent on " << describe(seed, after);
  }
}

TEST(SplitAndInterchange, KeepWhatIsVisited) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    std::optional<IterationSpace> before = random_space(seed);
    if (!before) continue;
    if (seed % 4 != 0) simplify(*before);
    IterationSpace after = *before;
    Random random(seed);
    perturb(random, after);
    if (iterations(after) > 8 * most_iterations) continue;
    ASSERT_TRUE(verify(after)) << verify(after).error().message << describe(seed, after);
    ASSERT_EQ(visits(after), visits(*before)) << describe(seed, *before) << describe(seed, after);
  }
}

TEST(Lower, KeepsWhatIsVisitedButTheTail) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    std::optional<IterationSpace> space = random_space(seed);
    if (!space) continue;
    simplify(*space);
    space->tail_begin = space->tail_end = 0;
    Random random(seed);
    perturb(random, *space);
    if (iterations(*space) > 8 * most_iterations) continue;
    Schedule schedule{*space};
    schedule.tile_loops =
        static_cast<int>(random.between(0, static_cast<int64_t>(space->loops.size())));
    const LoopNest nest = lower(schedule);
    ASSERT_EQ(visits(nest), visits(*space)) << describe(seed, *space) << to_string(nest);
  }
}

TEST(Schedule, KeepsWhatIsVisited) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    std::optional<IterationSpace> space = random_space(seed);
    if (!space) continue;
    simplify(*space);
    const Target& target = known_targets()[seed % known_targets().size()];
    const Schedule chosen = schedule(*space, target);
    if (iterations(chosen.space) > 8 * most_iterations) continue;
    ASSERT_TRUE(verify(chosen.space)) << verify(chosen.space).error().message << to_string(chosen);
    ASSERT_EQ(visits(chosen.space), visits(*space)) << describe(seed, *space) << to_string(chosen);
  }
}

TEST(TouchedBytes, AreExact) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    std::optional<IterationSpace> space = random_space(seed);
    if (!space) continue;
    if (seed % 2 != 0) simplify(*space);
    ByteRange target{INT64_MAX, INT64_MIN}, source{INT64_MAX, INT64_MIN};
    for (const Visit& visit : visits(*space)) {
      target = {std::min(target.begin, visit.target), std::max(target.end, visit.target + 1)};
      if (visit.source == Visit::filled) continue;
      source = {std::min(source.begin, visit.source), std::max(source.end, visit.source + 1)};
    }
    if (target.begin > target.end) target = {};
    if (source.begin > source.end) source = {};
    EXPECT_EQ(touched_bytes(*space, 0), target) << describe(seed, *space);
    EXPECT_EQ(touched_bytes(*space, 1), source) << describe(seed, *space);
    if (HasFailure()) return;
  }
}

std::string signature_of(std::string_view text) {
  const Result<Problem> problem = parse_problem(text);
  if (!problem) return problem.error().message;
  Result<IterationSpace> space = iteration_space(*problem);
  if (!space) return space.error().message;
  simplify(*space);
  return signature(*space);
}

TEST(Signature, IsOneForProblemsThatAreOneKernel) {
  const std::vector<std::string_view> rows[] = {
      {"f32[2,3] -> f32[2,3]{0,1}", "f32[3,2]{0,1} -> f32[3,2]{1,0}",
       "u8[2,3,4] -> u8[2,3,4]{2,0,1}", "s32[2,3] -> s32[2,3]{0,1}",
       "u16[2,3,1,2] -> u16[2,3,1,2]{3,2,0,1}"},
      {"f32[2,32,7,7] -> f32[2,32,7,7]{3,2,1,0:T(16,1,1)}",
       "f32[2,2,16,7,7] -> f32[2,2,16,7,7]{2,4,3,1,0}", "f32[4,16,49] -> f32[4,16,49]{1,2,0}"},
      {"f32[3,4] -> f32[3,4]", "u8[48] -> u8[48]", "c128[3]{0} -> c128[3]",
       "f32[3,4]{0,1} -> f32[3,4]{0,1}"},
      {"f32[5] -> f32[7,5] dims={1}", "u32[1,5] -> u32[7,5] dims={0,1}",
       "f32[5,1] -> f32[5,7]{0,1} dims={0,1}"},
  };
  for (const auto& row : rows) {
    for (const std::string_view text : row) {
      EXPECT_EQ(signature_of(text), signature_of(row[0])) << text;
    }
  }
}

TEST(Signature, DiffersWhereKernelsDo) {
  const std::string_view rows[] = {
      "f32[2,3] -> f32[2,3]{0,1}",
      "f32[3,2] -> f32[3,2]{0,1}",
      "f64[2,3] -> f64[2,3]{0,1}",
      "f32[2,3] -> f32[2,3]{0,1:PAD(3,5;zero)}",
      "f32[2,3] -> f32[2,3]{0,1:PAD(3,5;one)}",
      "f32[2,3] -> f32[2,3]{0,1:PAD(3,5;unknown)}",
      "f32[2,20,7,7] -> f32[2,20,7,7]{3,2,1,0:T(16,1,1)}",
      "f32[6] -> f32[6]",
      "f32[] -> f32[6]",
      "f32[6] -> f32[6]{0:L(8)}",
  };
  for (const std::string_view a : rows) {
    for (const std::string_view b : rows) {
      if (a == b) continue;
      EXPECT_NE(signature_of(a), signature_of(b)) << a << " and " << b;
    }
  }
}

}  // namespace
}  // namespace restride::testing
