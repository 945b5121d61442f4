// Row mixing: registers of rows of packed elements that share bytes with each other's become
// registers of the rows that they make.
//
//     width 4      |ab| |ef|  ──►  |ae| |bf|      a step for fields of every width: what a byte has
//     width 2, 1   likewise                       in its odd fields changes places with the even
//                                                 ones of the row `width` elements on
//
// A transpose of bits by log2 steps. A row that is not there is zero.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "microkernel/emitter.hpp"

namespace restride {

/// Rows that are mixed with each other.
struct RowGroup {
  int64_t rows = 1;    ///< 1, or as many elements as a byte of the other operand has
  int64_t stride = 0;  ///< bytes from one to the next
  /// The last of them has the least significant bits of the other operand's bytes.
  bool last_first = false;
};

struct RowMixing {
  int bits = 8;       ///< of an element; 8: rows stay as they are
  RowGroup from, to;  ///< groups of what is read and of what is written

  bool mixes() const { return bits < 8; }
};

/// A register of every row of `to`, made of those that `load` gives for every row of `from`.
std::vector<program::Reg> mixed_rows(Emitter& emitter, const RowMixing& mixing,
                                     const std::function<program::Reg(int64_t row)>& load);

}  // namespace restride
