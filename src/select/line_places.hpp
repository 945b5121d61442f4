// Where in a line code of a nest writes: what divides the places of the target, of which the
// alignment of stores follows.
#pragma once

#include <cstdint>

#include "loop_nest/loop_nest.hpp"
#include "loop_nest/schedule.hpp"

namespace restride {

/// What divides every place that a loop leads the target to. `side`: in bytes.
int64_t divisor(const nest::Side& side);

/// What divides every place of a tile, relative to its first, at which code begins a run of the
/// target. `joins_rows`: its rows are written as one.
int64_t divisor_within(const nest::Tile& tile, const Schedule& schedule, bool joins_rows);

}  // namespace restride
