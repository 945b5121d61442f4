// See panel_image.hpp. Networks take a vector of rows by as many columns as keep the code short;
// rows that are left over take one more. Short rows are written in pieces of a lane, of which the
// last overlaps what is before it, or what the next row writes over.
#include "panel_image.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "emitter.hpp"
#include "transpose_network.hpp"

namespace restride {

using program::Body;
using program::lane_bytes;
using program::Step;

int64_t PanelImage::bytes() const {
  const bool overlap = run() < lane_bytes;
  return (columns_ - 1) * pitch_ + run() + (overlap ? lane_bytes : 0);
}

Body PanelImage::emit(Ask ask) const {
  // Three pieces of a row take as long as a network with a part of its lanes (u8 24 x N .84 and .84
  // of the ceiling, 48 x N .75 and .73, 56 x N .72 and .76; u16 20 x N .85 and .69), but read a
  // line of the source at once, which helps where its rows crowd sets of L1.
  // Of a part of a panel they would be much code for little.
  const int64_t most = machine_.vector_bytes / machine_.element_bytes;
  const auto in = [&](int64_t first_row, int64_t rows, Body networks) {
    Body body = ask == Ask::ahead ? asks(first_row, rows) : Body{};
    append(body, std::move(networks));
    return body;
  };
  if (run() < machine_.vector_bytes && 2 * columns_ >= most)
    return in(0, rows_.extent(), short_rows());
  const int64_t whole = rows_.extent() / most * most;
  Body body;
  if (whole > 0) {
    std::vector<Step> steps{rows_.step(source_stream, 1, most),
                            {scratch_stream, machine_.vector_bytes}};
    if (ask == Ask::ahead) steps.push_back(rows_.step(prefetch_stream, 1, most));
    body = loop_always(whole / most, std::move(steps), in(0, most, networks(0, most)));
  }
  const int64_t rest = rows_.extent() - whole;
  if (rest > 0) append(body, in(whole, rest, networks(whole, rest)));
  return body;
}

Body PanelImage::asks(int64_t first_row, int64_t rows) const {
  constexpr int second_level = 2;
  const int64_t last = at_[1] + machine_.ahead + columns_ * machine_.element_bytes - 1;
  Emitter emitter(machine_.target, machine_.vector_bytes);
  for (int64_t k = first_row; k < first_row + rows; ++k) {
    emitter.prefetch(prefetch_stream, last + rows_.at(1, k), second_level);
  }
  return body_of(emitter.take());
}

Body PanelImage::short_rows() const {
  const int64_t element = machine_.element_bytes, in_lane = lane_bytes / element;
  std::vector<Position> column(static_cast<size_t>(columns_));
  for (int64_t k = 0; k < columns_; ++k) column[static_cast<size_t>(k)] = {k * element, k * pitch_};
  Emitter emitter(machine_.target, machine_.vector_bytes);
  for (int64_t piece = 0; piece < rows_.extent(); piece += in_lane) {
    const int64_t last = std::max<int64_t>(0, rows_.extent() - in_lane);
    const int64_t first = std::min(piece, last);
    std::vector<Position> row;
    for (int64_t k = first; k < std::min(first + in_lane, rows_.extent()); ++k)
      row.push_back({at_[1] + rows_.at(1, k), k * element});
    emit_narrow_network(emitter, row, column, machine_, scratch_stream, program::none);
  }
  return body_of(emitter.take());
}

Body PanelImage::networks(int64_t first_row, int64_t rows) const {
  const int64_t element = machine_.element_bytes;
  const int64_t columns =
      std::min<int64_t>(machine_.network_column_bytes, machine_.vector_bytes) / element;
  const int64_t times = columns_ / columns, rest = columns_ % columns;
  Body body;
  if (times > 0) {
    body =
        loop_always(times, {{source_stream, columns * element}, {scratch_stream, columns * pitch_}},
                    body_of(network(first_row, rows, 0, columns)));
  }
  if (rest > 0) append(body, body_of(network(first_row, rows, times * columns, rest)));
  return body;
}

program::Block PanelImage::network(int64_t first_row, int64_t rows, int64_t first_column,
                                   int64_t columns) const {
  const int64_t element = machine_.element_bytes;
  std::vector<Position> row(static_cast<size_t>(rows)), column(static_cast<size_t>(columns));
  for (int64_t k = 0; k < rows; ++k) {
    row[static_cast<size_t>(k)] = {at_[1] + rows_.at(1, first_row + k), (first_row + k) * element};
  }
  for (int64_t k = 0; k < columns; ++k) {
    const int64_t place = first_column + k;
    column[static_cast<size_t>(k)] = {place * element, place * pitch_};
  }
  Emitter emitter(machine_.target, machine_.vector_bytes);
  emit_network(emitter, row, column, machine_, scratch_stream);
  return emitter.take();
}

}  // namespace restride
