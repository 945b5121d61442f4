// Packed box: a box with packed operands, cut into blocks whose elements fit the scratch as bytes.
//
//     packed sources ── spread ──► images ── a box of bytes like any other ──► image ── pack ──►
//     target
//
// A box has no bounds, so it may be cut in any way; blocks that begin elsewhere in a byte than
// their neighbours get code of their own. One block is done after the other: two of them may share
// bytes of the target, two boxes that run at once may not.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "loop_nest/loop_nest.hpp"
#include "microkernel/packed/packed_image.hpp"
#include "program/program.hpp"

namespace restride {

/// A block with images for its packed operands.
struct PackedBlock {
  nest::Tile tile;  ///< all strides in bytes, of the images where there are some
  std::array<std::optional<PackedImage>, max_operands> images;
  std::array<int64_t, max_operands>
      image_at{};             ///< bytes of the scratch, of the box's first element
  int64_t scratch_bytes = 0;  ///< of the images
};

PackedBlock packed_block(const nest::Tile& tile, const ElementOp& op);

/// The operation on the images.
ElementOp unpacked(ElementOp op);

/// Bytes of scratch that a block takes in all.
int64_t scratch_bytes(const PackedBlock& block, const ElementOp& op);

/// The extents of a box's blocks, side by side.
std::vector<int64_t> block_extents(const nest::Tile& box, const ElementOp& op);

/// What divides every place where a row of a block begins in the target, bytes, if it divides that
/// of the box: 1 where the target is packed.
int64_t block_alignment(const nest::Tile& box, const ElementOp& op, int64_t alignment);

/// What `emit` gives for a place in bits of packed operands; one far away stands in a loop that
/// goes there.
program::Body stand_near(const ElementOp& op, const Strides& at,
                         const std::function<program::Body(const Strides&)>& emit);

/// Loops over the blocks of a box at `at`, bits of packed operands. Each operand is walked by the
/// stream of its number.
program::Body walk_blocks(
    const nest::Tile& box, const ElementOp& op, const Strides& at,
    const std::function<program::Body(const nest::Tile& block, const Strides& at)>& emit);

}  // namespace restride
