// Relaid tile: a box to be computed, seen as rows of the target, and what has to be moved first so
// that every source lies in those rows.
//
//     target row        a b c d e f g h
//     follows           contiguous, or one element for all: read where it is
//     does not          the box is relaid into scratch: a relayout like any other, planned like any
//
// Not here: how the moves and the rows are made.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "loop_nest/loop_nest.hpp"
#include "space/iteration_space.hpp"

namespace restride {

/// A move of one source's part of a box into scratch. Target: scratch from `scratch_offset` on.
struct Relayout {
  IterationSpace space;
  int64_t scratch_offset;  ///< bytes
};

class RelaidTile {
 public:
  /// `target_run`: the sides that make the row, as Schedule::target_run.
  RelaidTile(const nest::Tile& tile, uint32_t target_run, const ElementOp& op);

  /// What moves source `operand`; null for one that is read where it is.
  const Relayout* relayout(int operand) const {
    const auto& relayout = relayouts_[static_cast<size_t>(operand)];
    return relayout ? &*relayout : nullptr;
  }
  int64_t scratch_bytes() const { return scratch_bytes_; }

  /// The box as rows: the last side is the row, perhaps of one element, and sources that are relaid
  /// have the strides of their scratch.
  const nest::Tile& rows() const { return rows_; }

 private:
  size_t order(const nest::Tile& tile, uint32_t target_run);
  size_t row_begin(size_t earliest, int64_t bytes) const;
  bool follows(size_t row, size_t operand, int64_t bytes) const;
  void relay(size_t row, size_t operand, int64_t bytes);
  void join(size_t row);

  nest::Tile rows_;
  std::array<std::optional<Relayout>, max_operands> relayouts_;
  int64_t scratch_bytes_ = 0;
};

}  // namespace restride
