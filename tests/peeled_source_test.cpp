// Sources behind the header of an allocator whose rows crowd L1, for targets that begin anywhere:
// what is before the first line of a row and behind the last one goes apart.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loop_nest/loop_nest.hpp"
#include "plan/planner.hpp"
#include "program/program.hpp"
#include "schedule/scheduling.hpp"
#include "support/microkernel_tails.hpp"
#include "support/nest_moves.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

constexpr int64_t header = 16;

INSTANTIATE_TEST_SUITE_P(Streaming, Microkernel, ::testing::ValuesIn(streaming_setups()),
                         [](const auto& info) { return name_of(info.param); });

std::optional<Schedule> peeled(const char* text, const Target& target) {
  return peeled_source(simplified_space(text), target, header, CodeGoal::fast);
}

TEST(PeeledSources, AreOfLongRowsThatCrowdL1) {
  const Target target = streaming_target();
  const auto columns = [&](const char* text) {
    const std::optional<Schedule> schedule = peeled(text, target);
    EXPECT_TRUE(schedule.has_value()) << text;
    return schedule.value_or(Schedule{}).peels[1];
  };
  EXPECT_EQ(columns("f32[32,49,2048] -> f32[32,49,2048]{1,2,0}"), (Peel{1, 12, 4}));
  EXPECT_EQ(columns("u16[100,16384] -> u16[100,16384]{0,1}"), (Peel{0, 24, 8}));
  EXPECT_EQ(columns("c128[32,4096] -> c128[32,4096]{0,1}"), (Peel{0, 3, 1}));
  for (const char* text :
       {// Rows whose lines are in many sets of L1; that begin elsewhere each; short ones.
        "f32[32,49,2064] -> f32[32,49,2064]{1,2,0}", "f32[32,49,2050] -> f32[32,49,2050]{1,2,0}",
        "f32[32,49,16,128] -> f32[32,49,16,128]{1,3,0,2}"}) {
    EXPECT_FALSE(peeled(text, target).has_value()) << text;
  }
  // What stays in the caches.
  EXPECT_FALSE(peeled("f32[2,49,1024] -> f32[2,49,1024]{1,2,0}", target).has_value());
}

TEST(PeeledSources, LeaveNoElementOutAndTakeNoneTwice) {
  Target target = streaming_target();
  stream_beyond(target, 0);
  for (const char* text :
       {"f32[2,49,1024] -> f32[2,49,1024]{1,2,0}", "u16[40,2048] -> u16[40,2048]{0,1}",
        "c128[9,512] -> c128[9,512]{0,1}"}) {
    const Schedule plain = schedule(simplified_space(text), target, CodeGoal::fast, false);
    const std::optional<Schedule> schedule = peeled(text, target);
    ASSERT_TRUE(schedule.has_value()) << text << '\n' << to_string(plain);
    Moves expected, moves;
    expected.add(lower(plain).root, {});
    moves.add(lower(*schedule).root, {});
    EXPECT_TRUE(moves.to == expected.to) << text << '\n' << to_string(lower(*schedule));
  }
}

/// Where a program wants its operands.
struct Places {
  int64_t target_alignment, source_alignment, source_phase;

  bool operator==(const Places&) const = default;
};

Places places_of(const Program& program) {
  return {program.operands[0].alignment, program.operands[1].alignment, program.operands[1].phase};
}

TEST(PeeledSources, ComeFirstAndLeaveAroundTheCaches) {
  const Target target = streaming_target();
  const std::vector<Program> programs =
      plan_programs(simplified_space("f32[32,49,2048] -> f32[32,49,2048]{1,2,0}"), target);
  EXPECT_EQ(places_of(programs.front()), (Places{1, 64, header}));
  EXPECT_TRUE(uses_nontemporal_stores(programs.front()));
  EXPECT_EQ(places_of(on_lines(programs)).source_phase, 0);
  // Rows of whole lines are spliced, for a target that is behind a header as well.
  const std::vector<Program> spliced =
      plan_programs(simplified_space("f32[1024,1024] -> f32[1024,1024]{0,1}"), target);
  EXPECT_NE(places_of(spliced.front()).source_phase, header);
}

TEST_P(Microkernel, MovesPeeledSources) {
  for (const Element& element : every_width) {
    const int columns = 4096 / element.bytes;
    for (const int rows : {7, 49, 100}) {
      const std::string two = array(element.type, {rows, columns});
      expect_conforms(two + " -> " + two + "{0,1}", GetParam());
      const std::string three = array(element.type, {2, rows, columns});
      expect_conforms(three + " -> " + three + "{1,2,0}", GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace restride::testing
