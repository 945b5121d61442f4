// Crossed block: a block of packed elements whose runs in the source are not those in the target,
// while rows of either begin anywhere in a byte.
//
//     source rows ── shift, mix ──► image ── a relayout of bytes ──► image ── shift ──► target rows
//
// As in a mixed box, a group of rows shares bytes of the target. On their way in rows are shifted
// to where a byte begins; on their way out they are shifted to where they go, and joined with what
// bytes at their ends hold besides.
//
// Not here: the code that shifts (microkernel_crossed, microkernel_realigned).
#pragma once

#include <cstdint>
#include <vector>

#include "loop_nest/loop_nest.hpp"
#include "microkernel/microkernel.hpp"

namespace restride {

/// Whether a box is best cut into such blocks.
bool is_crossed(const nest::Tile& box, const ElementOp& op);

/// The extents of its blocks, side by side.
std::vector<int64_t> crossed_extents(const nest::Tile& box, const ElementOp& op);

struct CrossedBlock {
  /// Of a tile that is_crossed, of crossed_extents or less.
  CrossedBlock(const nest::Tile& tile, const ElementOp& op);

  /// Whether rows of the target, the first of which begins at this bit, are whole bytes.
  bool leaves_whole_bytes(int64_t at) const;
  /// The relayout then: from the first image to the target.
  nest::Tile moved_out() const;

  Packing from, to;        ///< of the source and the target
  int64_t rows, elements;  ///< of the source, and of each of them
  int64_t row_stride;      ///< bits of the source from one to the next
  int64_t pitch, bytes;    ///< of a row of the first image
  nest::Tile moved;        ///< the relayout between the images
  RealignedRows rows_out;  ///< from the second image
  int64_t image_bytes[2];  ///< of each image
};

}  // namespace restride
