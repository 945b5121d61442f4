// Packed image: a packed operand's part of a box, as bytes in scratch, one for each element.
//
//     memory     |..ab|cdef|gh..|          rows begin and end anywhere in a byte
//     image      . . a b c d e f g h . .   the row, and the rest of the bytes it touches
//
// A row is what lies side by side, or nearly so; it repeats along the other sides of the box. Rows
// whose distance is no whole number of bytes begin in different places of a byte: each such phase
// gets code of its own.
//
// Not here: the code that spreads and packs (microkernel_packed), and which boxes there are
// (packed_box).
#pragma once

#include <cstdint>
#include <vector>

#include "loop_nest/loop_nest.hpp"

namespace restride {

/// Iterations of a stride of so many bits that advance by whole bytes: 1, 2, 4 or 8.
int64_t byte_period(int64_t stride_bits);

/// Rows that begin in the same place of a byte.
struct PackedRow {
  int64_t memory_at;               ///< bytes, of the first byte they touch
  int64_t image_at;                ///< bytes, of that byte's first element
  int64_t bytes;                   ///< of memory
  bool shares_first, shares_last;  ///< that byte has elements of others, too
  std::vector<nest::Side> sides;   ///< repeat the row: bytes of the image, bytes of memory
};

class PackedImage {
 public:
  /// Bytes from the begin of the image to the box's first element.
  static constexpr int64_t first_element = 8;

  /// Of one operand of a box.
  PackedImage(const std::vector<nest::Side>& sides, size_t operand, Packing packing);

  Packing packing() const { return packing_; }
  int64_t bytes() const { return bytes_; }
  /// Bytes of the image from one element to the next along a side of the box.
  int64_t stride(size_t side) const { return strides_[side]; }
  /// Whether a row has no elements of others between its own.
  bool is_dense() const { return is_dense_; }
  /// Phases that need code of their own.
  int64_t phases() const;
  /// The rows of a box whose first element is bit `at` of the operand.
  std::vector<PackedRow> rows(int64_t at) const;

 private:
  void add_rows(size_t outer, PackedRow row, int64_t at, std::vector<PackedRow>& rows) const;

  Packing packing_;
  int64_t elements_ = 1;           // of a row, from the first to the last
  bool is_dense_ = true;           // the box has all of them
  std::vector<nest::Side> outer_;  // repeat the row: bytes of the image, bits of memory
  std::vector<int64_t> strides_;   // of the image
  int64_t bytes_ = 0;
};

}  // namespace restride
