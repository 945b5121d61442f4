// See scheduled.hpp.
#include "support/scheduled.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "plan/planner.hpp"
#include "restride/problem.hpp"

namespace restride::testing {
namespace {

int64_t run_elements(const Schedule& schedule, bool of_target) {
  int64_t run = 1;
  const std::vector<Loop>& loops = schedule.space.loops;
  const size_t first = loops.size() - static_cast<size_t>(schedule.tile_loops);
  for (size_t k = first; k < loops.size(); ++k)
    run *= ((schedule.target_run >> (k - first) & 1) != 0) == of_target ? loops[k].extent : 1;
  return run;
}

std::vector<int64_t> strides_around_tile(const Schedule& schedule, size_t operand) {
  const std::vector<Loop>& loops = schedule.space.loops;
  std::vector<int64_t> strides;
  for (auto loop = loops.begin(); loop != loops.end() - schedule.tile_loops; ++loop)
    strides.push_back(loop->stride[operand]);
  return strides;
}

}  // namespace

IterationSpace simplified_space(const std::string& text) {
  IterationSpace space = *iteration_space(*parse_problem(text));
  simplify(space);
  return space;
}

Schedule scheduled(const std::string& text, const Target& target) {
  return schedule(simplified_space(text), target);
}

void expect_movements(const std::vector<Moved>& rows, const Target& target) {
  for (const Moved& row : rows)
    EXPECT_EQ(scheduled(row.text, target).movement, row.movement) << row.text;
}

int64_t target_run_elements(const Schedule& schedule) { return run_elements(schedule, true); }
int64_t source_run_elements(const Schedule& schedule) { return run_elements(schedule, false); }

std::vector<int64_t> source_strides(const Schedule& schedule) {
  return strides_around_tile(schedule, 1);
}

std::vector<int64_t> target_strides(const Schedule& schedule) {
  return strides_around_tile(schedule, 0);
}

int64_t tiles_between(const Schedule& schedule) {
  const std::vector<Loop>& loops = schedule.space.loops;
  const auto tile = loops.end() - schedule.tile_loops;
  const auto nearest = std::min_element(
      loops.begin(), tile, [](const Loop& a, const Loop& b) { return a.stride[1] < b.stride[1]; });
  int64_t tiles = 1;
  for (auto loop = nearest + 1; loop < tile; ++loop) tiles *= loop->extent;
  return tiles;
}

std::optional<Program> behind_header(const char* text, const Target& target) {
  for (Program& program : plan_programs(simplified_space(text), target)) {
    if (program.operands[0].phase == 16) return std::move(program);
  }
  return std::nullopt;
}

}  // namespace restride::testing
