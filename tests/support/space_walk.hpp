// What an iteration space and a loop nest mean, byte by byte: their definitions written down as
// plain enumeration.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "loop_nest/loop_nest.hpp"
#include "space/iteration_space.hpp"

namespace restride::testing {

/// One byte of the target and where its value comes from.
struct Visit {
  int64_t target;  ///< bytes from the pointer of the target
  int64_t source;  ///< bytes from the pointer of the first source; `filled` where nothing is read
  int value;       ///< of a filled byte, else 0

  static constexpr int64_t filled = INT64_MIN;
  auto operator<=>(const Visit&) const = default;
};

/// Everything a space visits, by target byte; the tail too. Walks loops from the outermost in: an
/// iteration counts if the index along every axis is less than `padded`, and less than the step of
/// the next coarser loop within it.
std::vector<Visit> visits(const IterationSpace& space);

/// Iterations that visits() looks at: how expensive it is.
int64_t iterations(const IterationSpace& space);

/// Everything a nest does. It knows no tail.
std::vector<Visit> visits(const LoopNest& nest);

/// Whether no byte of the target is visited twice. The visits are in order.
bool distinct_targets(const std::vector<Visit>& visits);

}  // namespace restride::testing
