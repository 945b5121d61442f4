// Column images: columns of a box stand in scratch, each a run of the target that leaves from
// there.
//
//     image   k * pitch: column k, and what it is written over
//
// How they are made is up to the microkernel; how one leaves is in shifted_image.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "microkernel/microkernel.hpp"
#include "microkernel/tile_run.hpp"
#include "program/program.hpp"

namespace restride {

/// Bytes from a column to the next one, for columns of so many: whole lines, an odd number of them,
/// so that columns do not crowd sets of L1.
int64_t image_pitch(int64_t bytes, int64_t line_bytes);

/// What is known where any column of these digits begins; what comes in goes to images through the
/// caches.
Machine for_columns(std::span<const nest::Side> digits, Machine machine);

/// Does something for `count` columns, from where the streams stand. Nothing for an empty body.
program::Body each_column(const TileRun& columns, int64_t count, program::Body body,
                          std::vector<program::Step> steps);

}  // namespace restride
