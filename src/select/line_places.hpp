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

/// Bytes from where rows of a tile begin to where whole vectors of them lie in one line each, if
/// rows are moved or computed, all begin alike and are worth it; else 0. Of those that stream only
/// computed ones: others are shifted. The tile begins `place` bytes behind a multiple of
/// `alignment`, as far as loops around it tell.
int64_t to_vectors(const nest::Tile& tile, const Schedule& schedule, int64_t alignment,
                   int64_t place);

/// Whether padding is what is left of lines into which a transpose moves rows through the caches,
/// as it does where these are not staged: around them padding would wait for memory. `alignment`:
/// of its runs, bytes.
bool pads_cached_lines(const nest::Tile& tile, const Schedule& schedule, int64_t alignment);

}  // namespace restride
