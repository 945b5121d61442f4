// Row walk: how the rows of a tile are visited, whatever is done to them.
//
//     Tile ── walk_rows ──► straight-line code while it stays short, loops around it else
//
// A row is a run of neighbouring elements of the target. The walk knows nothing of registers: the
// caller emits the code of the runs that it is given.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "microkernel/microkernel.hpp"

namespace restride {

/// A part of a row.
struct Run {
  Strides at;        ///< where it begins, bytes per operand
  int64_t elements;  ///< at least 1
};

struct RowWalk {
  std::vector<nest::Side> sides;  ///< repeat the row, outermost first
  int64_t elements;               ///< of a row
  Strides advance;                ///< bytes per element of a row
  int64_t group;                  ///< elements that the caller moves at once: most often a vector
  int64_t line = 1;  ///< rows that end within a group are looped over by so many elements
  int64_t most_straight_groups;  ///< more are looped over
  int64_t looped_groups;         ///< straight-line code of a long row's loop
  int64_t streams = 1;           ///< parts of a long row that its loop goes through in turn
  int64_t first = 0;             ///< elements of a row that are moved before all groups
};

/// Code for all rows of a tile. The runs passed to `emit` begin with the row, or at multiples of
/// `group` behind its first elements.
program::Body walk_rows(const RowWalk& walk, const Strides& at,
                        const std::function<program::Block(const std::vector<Run>&)>& emit);

/// Calls `move(at, bytes)` for every group of runs of bytes, and what is left of one.
template <class Move>
void for_each_vector(const std::vector<Run>& runs, const RowWalk& walk, const Move& move) {
  for (const Run& run : runs) {
    for (int64_t done = 0; done < run.elements; done += walk.group) {
      Strides at = run.at;
      for (size_t k = 0; k < at.size(); ++k) at[k] += done * walk.advance[k];
      move(at, static_cast<int>(std::min(walk.group, run.elements - done)));
    }
  }
}

}  // namespace restride
