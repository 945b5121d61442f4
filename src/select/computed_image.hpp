// Computed image: a box that is computed in the order of its sources, and where it stands then.
//
//     sources ── rows ──► image   a b c d      image ── relayout ──► target   a e i
//                                 e f g h                                     b f j
//                                 i j k l                                     c g k
//
// What is computed is relaid once then, however many sources there are; and where it is narrower
// than they are, that much less. Not here: how rows are computed and the image leaves.
#pragma once

#include <cstdint>

#include "loop_nest/loop_nest.hpp"
#include "space/iteration_space.hpp"

namespace restride {

struct ComputedImage {
  nest::Tile computed;   ///< the box, its target the image
  uint32_t source_rows;  ///< the sides of it that make rows, as Schedule::target_run
  nest::Tile moved;      ///< target the target, source the image
  int64_t bytes;
};

/// `target_run`: the sides that make runs of the target, as Schedule::target_run; along the others
/// sources lie side by side.
ComputedImage computed_image(const nest::Tile& box, uint32_t target_run, const ElementOp& op);

}  // namespace restride
