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
  PanelImage(const TileRun& rows, const Strides& at, const Machine& machine)
      : rows_(rows), at_(at), machine_(machine) {}

  /// Columns of the source that fill a vector.
  int64_t columns() const { return machine_.vector_bytes / machine_.element_bytes; }
  int64_t bytes() const { return columns() * pitch(); }

  /// Fills it through source_stream and scratch_stream, from where they stand.
  program::Body emit() const;

 private:
  /// Bytes from a row of the image to the next one, which touches it.
  int64_t pitch() const { return rows_.extent() * machine_.element_bytes; }
  program::Body networks(int64_t row, int64_t rows) const;

  const TileRun& rows_;
  Strides at_;
  const Machine& machine_;
};

}  // namespace restride
