// The windows of a permuted block: what it has of either operand, in pieces that fit a vector.
//
//     sides of a block ──► moves, sorted by their place in the target ──► windows
#pragma once

#include <cstdint>
#include <vector>

#include "loop_nest.hpp"

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

}  // namespace restride
