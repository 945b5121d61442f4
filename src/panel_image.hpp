// Panel image: a panel of columns of a box in scratch, transposed, row behind row as the target
// wants them.
//
//     source   rows of a vector each          image   k * pitch: column k, all rows of the box
//
// Here: how it is made. How it leaves is up to the microkernel.
#pragma once

#include <cstdint>

#include "microkernel.hpp"
#include "tile_run.hpp"

namespace restride {

class PanelImage {
 public:
  /// Of so many columns, at most those that fill a vector.
  PanelImage(const TileRun& rows, int64_t columns, const Strides& at, const Machine& machine)
      : rows_(rows), columns_(columns), at_(at), machine_(machine) {}

  /// What it takes of scratch: what its rows have, and what the last one is written over.
  int64_t bytes() const;

  /// Fills it through source_stream and scratch_stream, from where they stand.
  program::Body emit() const;

 private:
  /// Bytes from a row of the image to the next one, which touches it.
  int64_t pitch() const { return rows_.extent() * machine_.element_bytes; }
  program::Body networks(int64_t first_row, int64_t rows) const;
  /// A network of some rows and columns, from where the streams stand.
  program::Block network(int64_t first_row, int64_t rows, int64_t first_column,
                         int64_t columns) const;
  program::Body short_rows() const;

  const TileRun& rows_;
  int64_t columns_;
  Strides at_;
  const Machine& machine_;
};

}  // namespace restride
