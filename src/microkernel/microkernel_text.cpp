// What a microkernel is called where people read it.
#include "microkernel/microkernel.hpp"

namespace restride {

std::string describe(const nest::Tile& tile, Movement movement, uint32_t target_run,
                     int64_t element_bytes) {
  int64_t rows = 1, columns = 1;  // of a transpose: elements along target runs, along source runs
  for (size_t k = 0; k < tile.sides.size(); ++k) {
    ((target_run >> k & 1) != 0 ? rows : columns) *= tile.sides[k].extent;
  }
  if (tile.work == nest::Work::compute && movement == Movement::transpose) {
    return "transpose " + std::to_string(rows) + "x" + std::to_string(columns) + " of " +
           std::to_string(element_bytes) + " bytes";
  }
  if (tile.work == nest::Work::compute && movement == Movement::permute) {
    return "permute " + std::to_string(rows * columns) + " of " + std::to_string(element_bytes) +
           " bytes";
  }
  if (tile.work == nest::Work::compute && movement == Movement::gather) {
    return "gather " + std::to_string(rows * columns) + " of " + std::to_string(element_bytes) +
           " bytes";
  }
  const bool run = !tile.sides.empty() && tile.sides.back().stride[0] == element_bytes;
  const int64_t bytes = run ? tile.sides.back().extent * element_bytes : element_bytes;
  int64_t count = 1;
  for (size_t k = 0; k + (run ? 1 : 0) < tile.sides.size(); ++k) count *= tile.sides[k].extent;
  const char* verb = tile.work == nest::Work::fill   ? "fill "
                     : movement == Movement::splat   ? "splat "
                     : movement == Movement::repeat  ? "relay and copy "
                     : movement == Movement::mix     ? "mix "
                     : movement == Movement::compute ? "compute "
                                                     : "copy ";
  return verb + std::to_string(count) + (count == 1 ? " row of " : " rows of ") +
         std::to_string(bytes) + " bytes";
}

}  // namespace restride
