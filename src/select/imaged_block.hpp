// Imaged block: a block that lies in scratch and leaves for the target by way of an image, some of
// its columns at a time.
//
//     scratch   a b c d        image   a e i . . .        target   a e i . . .
//               e f g h                b f j . . .                 b f j . . .
//               i j k l
//
// Vectors of half a line leave networks by turns for many columns, which only caches can put
// together. From the image each column leaves as the run that it is, in lines around the caches.
//
// Not here: how the two moves are made.
#pragma once

#include <cstdint>
#include <optional>

#include "loop_nest/loop_nest.hpp"

namespace restride {

struct ImagedBlock {
  nest::Tile to_image;   ///< of some columns: target the image, source the block
  nest::Tile to_target;  ///< of the same: target the target, source the image
  nest::Side parts;      ///< of the block, one behind the other, in the target and the block
  int64_t image_bytes = 0;
};

/// `block`: its target is the target, its source the scratch that it lies in. `room`: bytes of
/// scratch for the image. None if runs of the target are no multiple of `whole` bytes, or not so
/// far apart, or if the image of a single column does not fit.
std::optional<ImagedBlock> imaged_block(const nest::Tile& block, int64_t element_bytes,
                                        int64_t whole, int64_t room);

}  // namespace restride
