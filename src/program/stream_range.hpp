// Where a stream can stand: the proof from extents and strides that accesses stay in bounds.
//
// A Step is a numeral, so its hull is exact and costs one pass over its digits whatever the
// extents. It knows nothing of operands or operations: program_verify compares.
#pragma once

#include <cstdint>
#include <span>

#include "program/program.hpp"

namespace restride::program {

/// The positions of one stream over all iterations of the loops around it, in bytes from the
/// operand's pointer.
struct StreamRange {
  int64_t low = 0, high = 0;  ///< the lowest and the highest position, both taken
  uint64_t fixed = 0;         ///< every position is `fixed` plus multiples of strides,
  uint64_t strides = 0;       ///< whose bits are all in here

  /// Whether `position + offset` is always a multiple of `alignment`, a power of two.
  bool aligned(int64_t offset, int64_t alignment) const {
    return ((strides | (fixed + uint64_t(offset))) & (uint64_t(alignment) - 1)) == 0;
  }
};

/// Widens the range by a loop of `extent` iterations that moves the stream by `step`. False where a
/// position, also the one after the last iteration, leaves +-2^55: then nothing can be said.
/// Precondition: extent >= 1, phase >= 0, every wrap's `every` >= 1, at most max_wraps wraps.
[[nodiscard]] bool widen(StreamRange& range, const Step& step, int64_t extent);

/// The same by all steps of `stream` among some that a loop has; where there are several, their
/// sum, position by position: false for more than 4096 of these, too.
[[nodiscard]] bool widen(StreamRange& range, std::span<const Step> steps, int stream,
                         int64_t extent);

}  // namespace restride::program
