// See panel_image.hpp. Networks take a vector of rows by as many columns as keep the code short;
// rows that are left over take one more.
#include "panel_image.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "emitter.hpp"
#include "transpose_network.hpp"

namespace restride {

using program::Body;

Body PanelImage::emit() const {
  const int64_t most = columns(), whole = rows_.extent() / most * most;
  Body body = loop_always(
      whole / most, {rows_.step(source_stream, 1, most), {scratch_stream, machine_.vector_bytes}},
      networks(0, most));
  if (whole < rows_.extent()) append(body, networks(whole, rows_.extent() - whole));
  return body;
}

Body PanelImage::networks(int64_t first, int64_t rows) const {
  const int64_t element = machine_.element_bytes;
  const int64_t columns =
      std::min<int64_t>(machine_.network_column_bytes, machine_.vector_bytes) / element;
  std::vector<Position> row(static_cast<size_t>(rows)), column(static_cast<size_t>(columns));
  for (int64_t k = 0; k < rows; ++k) {
    row[static_cast<size_t>(k)] = {at_[1] + rows_.at(1, first + k), (first + k) * element};
  }
  for (int64_t k = 0; k < columns; ++k) {
    column[static_cast<size_t>(k)] = {k * element, k * pitch()};
  }
  Emitter emitter(machine_.target, machine_.vector_bytes);
  emit_network(emitter, row, column, machine_, scratch_stream);
  return loop_always(this->columns() / columns,
                     {{source_stream, columns * element}, {scratch_stream, columns * pitch()}},
                     body_of(emitter.take()));
}

}  // namespace restride
