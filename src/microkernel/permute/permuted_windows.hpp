// The windows of a permuted block: what it has of either operand, in pieces that fit a vector.
//
//     sides of a block ──► moves, sorted by their place in the target ──► windows
//                                              and between which of their slots elements move
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "loop_nest/loop_nest.hpp"
#include "microkernel/permute/permutation_route.hpp"

namespace restride {

/// One element on its way, bytes; padding comes from nowhere.
struct ElementMove {
  int64_t target, source;
  bool filled = false;
};

/// All elements of a block, as they lie in the target.
std::vector<ElementMove> element_moves(const std::vector<nest::Side>& sides);

/// Contiguous bytes of one operand that fit a vector.
struct Window {
  int64_t begin, bytes;
};

/// Cuts sorted offsets of elements into windows.
std::vector<Window> windows(const std::vector<int64_t>& offsets, int64_t element_bytes,
                            int64_t vector_bytes);

/// Joins windows that fit one vector with what lies between them: for reading.
std::vector<Window> bridged(const std::vector<Window>& parts, int64_t element_bytes,
                            int64_t vector_bytes);

/// The windows of a block, and between which of their slots its elements move.
struct WindowMoves {
  std::vector<Window> targets, sources;
  std::vector<SlotMove> moves;  ///< in the order of the target, without padding
};

/// Windows of up to `vector_bytes`. `reads_between`: those of the source have what lies between its
/// pieces, too.
WindowMoves window_moves(const std::vector<nest::Side>& sides, int64_t element_bytes,
                         int64_t vector_bytes, bool reads_between);

/// A window of one of two blocks that share vectors: those of the first are in lane 0, those of its
/// sibling in lane 1.
struct LaneWindow {
  size_t window;
  int lane;
};

/// What leaves by one store: a window, and the one that goes right behind it, if both are whole.
struct LaneStore {
  int64_t offset;  ///< from the first window
  LaneWindow low;
  std::optional<LaneWindow> high;
  size_t after;  ///< the window after which it leaves
};

/// The stores of a block and its sibling, `sibling` bytes away, in as many pairs as there are.
/// Windows become ready in order; short runs of the target wait until all of one is.
std::vector<LaneStore> lane_stores(const std::vector<Window>& windows, int64_t sibling,
                                   int64_t whole_bytes);

}  // namespace restride
