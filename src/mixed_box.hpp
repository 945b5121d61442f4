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
// Not here: the code that mixes (microkernel_mixed), and which loops a box is made of (scheduler).
#pragma once

#include <cstdint>
#include <vector>

#include "loop_nest.hpp"
#include "schedule.hpp"

namespace restride {

/// Rows that are mixed with each other.
struct RowGroup {
  int64_t rows;    ///< 1, or as many elements as a byte of the other operand has
  int64_t stride;  ///< bytes from one to the next
  bool
      last_first;  ///< the last of them has the least significant bits of the other operand's bytes
};

struct MixedBox {
  /// Of a tile that has sharing sides for both operands. `bits` of an element become whole bytes.
  MixedBox(const nest::Tile& tile, const ElementOp& op, MixedRows mixed);

  int bits = 0;                   ///< of an element
  int64_t row_bytes = 0;          ///< of what is mixed
  RowGroup from{}, to{};          ///< one is of the image, the other one of the operand
  std::vector<nest::Side> sides;  ///< repeat the groups: bytes of where they go and come from
  nest::Tile moved;               ///< the relayout of bytes between the image and the other operand
  int64_t image_bytes = 0;
};

/// The side or loop along which an operand has its elements side by side within bytes, all others
/// walking whole bytes: its number among those strides; -1 if there is none.
int sharing_side(const std::vector<Strides>& strides, size_t operand, const ElementOp& op);

/// Elements in a byte of an operand: 1 where it is not packed.
int64_t elements_in_byte(const ElementOp& op, size_t operand);

}  // namespace restride
