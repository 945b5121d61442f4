// Unnested box: a box along whose sides the digits of operands do not nest, in steps along whose
// sides they do.
//
//     source tiles of 3   |0 1 2|3 4 5|6 7     2 tiles and a part: two boxes into scratch
//     scratch              0 1 2 3 4 5 6 7
//     target tiles of 4   |0 1 2 3|4 5 6 7|    2 tiles: one box from scratch
//
// Every source that counts for itself is moved into scratch, where its elements lie densely, in the
// order of the sides. From there, and from the other sources, the target is made. A side that
// begins or ends within a tile of an operand gives the rest of that tile, whole tiles, and the
// begin of another. Where all digits nest every source is moved into scratch, to be read once or to
// be dense.
//
// Not here: how the boxes are moved.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "loop_nest/loop_nest.hpp"
#include "space/iteration_space.hpp"

namespace restride {

/// Whether operands count for themselves along some side.
bool is_unnested(const nest::Tile& box);

/// A box without own digits, and where each operand begins.
struct NestedBox {
  nest::Tile tile;
  Strides at{};
};

struct UnnestedBox {
  /// By source: what is moved into scratch. Operand 0 is the scratch, 1 the source. None: the
  /// source is read where it is.
  std::array<std::vector<NestedBox>, max_operands> gathered;
  std::array<int64_t, max_operands> scratch_at{};  ///< bytes, of each source that is gathered
  int64_t scratch_bytes = 0;
  /// What makes the target; gathered sources begin where their scratch does.
  std::vector<NestedBox> made;
};

UnnestedBox unnested_box(const nest::Tile& box, const ElementOp& op);

}  // namespace restride
