// Mixed box: a box of packed elements whose runs in the source are not those in the target, seen as
// a box of bytes.
//
//     source       row 0   |ab|cd|        image      |ae|cg|        target    |ae|
//                  row 1   |ef|gh|                   |bf|dh|                  |bf|
//                                                                             |cg| ...
//                         ── mix ──►                    ── a relayout of bytes ──►
//
// Elements that share a byte of the target lie in rows of the source that follow each other: a
// group. Mixing a group makes of each of its bytes those of the target; what is left moves bytes,
// like any relayout. Rows of the target can be mixed just as well, after the relayout. Where only
// one operand is packed, a group becomes one row, or a row a group.
//
// Not here: the code that mixes (microkernel_mixed), and which loops a box is made of
// (schedule_mixed).
#pragma once

#include <cstdint>
#include <vector>

#include "loop_nest/loop_nest.hpp"
#include "loop_nest/schedule.hpp"
#include "microkernel/packed/row_mixing.hpp"
#include "microkernel/tile_run.hpp"

namespace restride {

struct MixedBox {
  /// Of a tile that has sharing sides for both operands. `bits` of an element become whole bytes.
  MixedBox(const nest::Tile& tile, const ElementOp& op, MixedRows mixed);

  int64_t row_bytes = 0;          ///< of what is mixed
  RowMixing mixing;               ///< one group is of the image, the other one of the operand
  std::vector<nest::Side> sides;  ///< repeat the groups: bytes of where they go and come from
  nest::Tile moved;               ///< the relayout of bytes between the image and the other operand
  int64_t image_bytes = 0;
};

/// The same box without an image: what lies along either run, as bytes. Of a row of the source, or
/// a column, that shares bytes with others the first stands for the group.
struct MixedRuns {
  /// `target_run`: the sides that make runs of the target.
  MixedRuns(const nest::Tile& tile, uint32_t target_run, const ElementOp& op);

  TileRun rows;      ///< make runs of the target
  TileRun columns;   ///< make runs of the source
  RowMixing mixing;  ///< rows of the source to those of the target
};

/// Whether a filled tile of a packed target is one of bytes, and which. A tail may end within one.
bool has_whole_bytes(const nest::Tile& tile, const ElementOp& op);
nest::Tile filled_bytes(const nest::Tile& tile, const ElementOp& op);

/// The side or loop along which an operand has its elements side by side within bytes, all others
/// walking whole bytes: its number among those strides; -1 if there is none.
int sharing_side(const std::vector<Strides>& strides, size_t operand, const ElementOp& op);

/// Elements in a byte of an operand: 1 where it is not packed.
int64_t elements_in_byte(const ElementOp& op, size_t operand);

}  // namespace restride
