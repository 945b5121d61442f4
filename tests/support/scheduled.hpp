// Schedules of problems as text, and what tests ask of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "schedule/scheduling.hpp"
#include "space/iteration_space.hpp"

namespace restride::testing {

/// What the planner begins with for the problem `text`, which must be a valid one.
IterationSpace simplified_space(const std::string& text);

/// The schedule of the problem `text`, which must be a valid one.
Schedule scheduled(const std::string& text, const Target& target);

struct Moved {
  const char* text;
  Movement movement;
};

/// Each problem is to be scheduled as the movement beside it.
void expect_movements(const std::vector<Moved>& rows, const Target& target);

/// How far the loops around a tile go in an operand, bytes, outermost first.
std::vector<int64_t> source_strides(const Schedule& schedule);
std::vector<int64_t> target_strides(const Schedule& schedule);

/// How many tiles stand between two that lie as close as can be in the source.
int64_t tiles_between(const Schedule& schedule);

/// The product of the tile's loops that make runs of the target.
int64_t target_run_elements(const Schedule& schedule);

/// The product of its other loops.
int64_t source_run_elements(const Schedule& schedule);

/// The program for targets that begin 16 bytes behind a line; none where others serve those.
std::optional<Program> behind_header(const char* text, const Target& target);

}  // namespace restride::testing
