// Schedules of problems as text, and what tests ask of them.
#pragma once

#include <cstdint>
#include <string>

#include "schedule/scheduling.hpp"

namespace restride::testing {

/// The schedule of the problem `text`, which must be a valid one.
Schedule scheduled(const std::string& text, const Target& target);

/// The product of the tile's loops that make runs of the target.
int64_t target_run_elements(const Schedule& schedule);

/// The product of its other loops.
int64_t source_run_elements(const Schedule& schedule);

}  // namespace restride::testing
