// Places of elements of a network, and those of them that lie side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace restride {

/// Where an element stands, in bytes: in the source read, and in what is written. One that is
/// filled is padding and not read.
struct Position {
  int64_t source, target;
  bool filled = false;
};

/// A stretch of positions that lie side by side in one operand.
struct PositionRun {
  size_t first, count;
};

/// Cuts positions into runs of at most `most` elements that lie side by side in the given operand.
std::vector<PositionRun> contiguous_runs(const std::vector<Position>& positions,
                                         int64_t Position::*operand, int64_t element_bytes,
                                         int64_t most);

}  // namespace restride
