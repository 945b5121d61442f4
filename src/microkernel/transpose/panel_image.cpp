// See panel_image.hpp. Networks take a vector of rows by as many columns as keep the code short;
// rows that are left over take one more. Short rows are written in pieces of a lane, of which the
// last overlaps what is before it, or what the next row writes over.
#include "microkernel/transpose/panel_image.hpp"

#include <algorithm>
#include <vector>

#include "base/arithmetic.hpp"
#include "microkernel/emitter.hpp"
#include "microkernel/transpose/transpose_network.hpp"

namespace restride {

using program::Body;
using program::lane_bytes;
using program::Step;

namespace {

/// How many of these rows, up to `most` of which come in together, a panel asks for, so that some
/// panels get to all of them.
int64_t asked_rows(const TileRun& rows, int64_t most, int64_t panels) {
  if (rows.sides() == 1) return ceil_div(std::min(most, rows.extent()), panels);
  int64_t count = ceil_div(rows.extent(), panels);
  while (!rows.divides(count)) ++count;
  return count;
}

}  // namespace

int64_t panel_chunk_rows(const TileRun& rows, int64_t network_rows, int64_t most_networks) {
  const auto networks = [&](int64_t count) { return ceil_div(count, network_rows); };
  int64_t chunk = 1;
  const auto consider = [&](int64_t count) {
    // More networks are more code: they have to save a tenth.
    const int64_t tenths = networks(count) > networks(chunk) ? 11 : 10;
    const bool better = networks(count) * chunk * tenths < networks(chunk) * count * 10;
    if (better && rows.divides(count)) chunk = count;
  };
  for (int64_t count = 2; count <= most_networks * network_rows; ++count) consider(count);
  consider(rows.digits().front().extent);
  return chunk;
}

void ask_for_panel(Emitter& emitter, int64_t first, int64_t bytes, int64_t line_bytes) {
  for (int64_t at = 0; at < bytes; at += line_bytes)
    emitter.ask(prefetch_stream, first + std::min(at + line_bytes, bytes) - 1);
}

int64_t PanelImage::bytes() const {
  const bool overlap = run() < lane_bytes;
  return places_.at(columns_ - 1) + run() + (overlap ? lane_bytes : 0);
}

TileRun PanelImage::chunk() const {
  if (rows_.sides() == 1) return rows_;
  // Fewer than a lane would be written over what is behind the image.
  const int64_t one = machine_.short_images ? panel_chunk_rows(rows_, most_rows(), 1) : 0;
  const bool fills_lane = one * machine_.element_bytes >= lane_bytes;
  return rows_.first(fills_lane ? one : panel_chunk_rows(rows_, most_rows()));
}

Body PanelImage::emit(const std::optional<Asks>& asks) {
  asks_ = asks;
  if (rows_.sides() == 1) return one_digit();
  const TileRun rows = chunk();
  PanelImage part(rows, columns_, places_, at_, machine_);
  part.asks_ = asks;
  return loop_always(rows_.extent() / rows.extent(), steps(rows.extent()),
                     rows.sides() == 1 ? part.one_digit() : part.unrolled());
}

Step PanelImage::asks_step(const Asks& asks) const {
  const TileRun rows = chunk();
  return rows.step(prefetch_stream, 1, asked_rows(rows, most_rows(), asks.panels));
}

std::vector<Step> PanelImage::steps(int64_t rows) const {
  std::vector<Step> result{rows_.step(source_stream, 1, rows),
                           {scratch_stream, rows * machine_.element_bytes}};
  if (asks_) result.push_back(rows_.step(prefetch_stream, 1, rows));
  return result;
}

Body PanelImage::one_digit() const {
  const int64_t most = most_rows(), whole = rows_.extent() / most * most;
  if (whole == 0) return unrolled();
  Body rows = networks(0, most);
  append(rows, asks_of(0, most));
  Body body = loop_always(whole / most, steps(most), std::move(rows));
  const int64_t rest = rows_.extent() - whole;
  if (rest == 0) return body;
  // Without byte masks parts of vectors are written piece by piece: longer ones rather as whole
  // ones, over what is before them.
  const bool overlaps = !machine_.target.byte_masks && 2 * rest > most;
  const int64_t again = overlaps ? most - rest : 0;
  append(body, networks(whole - again, rest + again));
  append(body, asks_of(whole, rest));
  return body;
}

Body PanelImage::unrolled() const {
  // Three pieces of a row take as long as a network with a part of its lanes (u8 24 x N .84 and .84
  // of the ceiling, 48 x N .75 and .73, 56 x N .72 and .76; u16 20 x N .85 and .69), but read a
  // line of the source at once, which helps where its rows crowd sets of L1.
  // Of a part of a panel they would be much code for little.
  if (run() < machine_.vector_bytes && 2 * columns_ >= most_rows()) return short_rows();
  Body body;
  for (int64_t row = 0; row < rows_.extent(); row += most_rows())
    append(body, networks(row, std::min(most_rows(), rows_.extent() - row)));
  append(body, asks_of(0, rows_.extent()));
  return body;
}

Body PanelImage::asks_of(int64_t first_row, int64_t rows) const {
  if (!asks_) return {};
  const int64_t asked = std::min(rows, asked_rows(rows_, most_rows(), asks_->panels));
  Emitter emitter(machine_.target, machine_.vector_bytes);
  for (int64_t row = first_row; row < first_row + asked; ++row) {
    const int64_t first = at_[1] + asks_->first + rows_.at(1, row);
    for (int64_t panel = 0; panel < asks_->panels; ++panel) {
      ask_for_panel(emitter, first + panel * asks_->panel_bytes, asks_->panel_bytes,
                    machine_.target.line_bytes);
    }
  }
  return body_of(emitter.take());
}

Body PanelImage::short_rows() const {
  const int64_t element = machine_.element_bytes, in_lane = lane_bytes / element;
  std::vector<Position> column(static_cast<size_t>(columns_));
  for (int64_t k = 0; k < columns_; ++k)
    column[static_cast<size_t>(k)] = {k * element, places_.at(k)};
  Emitter emitter(machine_.target, machine_.vector_bytes);
  for (int64_t piece = 0; piece < rows_.extent(); piece += in_lane) {
    const int64_t last = std::max<int64_t>(0, rows_.extent() - in_lane);
    const int64_t first = std::min(piece, last);
    std::vector<Position> row;
    for (int64_t k = first; k < std::min(first + in_lane, rows_.extent()); ++k)
      row.push_back({at_[1] + rows_.at(1, k), k * element});
    emit_narrow_network(emitter, row, column, machine_, scratch_stream, program::none);
  }
  Body body = body_of(emitter.take());
  append(body, asks_of(0, rows_.extent()));
  return body;
}

Body PanelImage::networks(int64_t first_row, int64_t rows) const {
  if (places_.evenly()) return networks_of(first_row, rows, 0, columns_);
  const int64_t page = places_.columns_of_page(), pages = columns_ / page;
  Body body;
  if (pages > 0) {
    body = loop_always(
        pages, {{source_stream, page * machine_.element_bytes}, {scratch_stream, places_.at(page)}},
        networks_of(first_row, rows, 0, page));
  }
  const int64_t rest = columns_ % page;
  if (rest > 0) append(body, networks_of(first_row, rows, pages * page, rest));
  return body;
}

Body PanelImage::networks_of(int64_t first_row, int64_t rows, int64_t first_column,
                             int64_t count) const {
  const int64_t columns = network_columns(machine_);
  const int64_t times = count / columns, rest = count % columns;
  Body body;
  if (times > 0) {
    body = loop_always(times,
                       {{source_stream, columns * machine_.element_bytes},
                        {scratch_stream, columns * places_.pitch()}},
                       body_of(network(first_row, rows, first_column, columns)));
  }
  if (rest > 0)
    append(body, body_of(network(first_row, rows, first_column + times * columns, rest)));
  return body;
}

/// A vector of a row at a time, not a lane, where the network has no registers for all rows of it:
/// what crowds a set of L1 leaves it before the rest is read. (Zen 3, lanes: u8 4097 x 4095 1.43 of
/// the time, [8570,4097] 1.45, [3248,2047] 1.06, other images 1.01.)
int64_t PanelImage::rows_at_once(int64_t rows, int64_t columns) const {
  const int64_t element = machine_.element_bytes, lane = lane_bytes / element;
  const bool whole = columns * element == machine_.vector_bytes && rows % lane == 0;
  return whole && lane >= machine_.target.registers ? lane : rows;
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
    column[static_cast<size_t>(k)] = {place * element, places_.at(place)};
  }
  Emitter emitter(machine_.target, machine_.vector_bytes);
  const int64_t at_once = rows_at_once(rows, columns);
  for (auto first = row.begin(); first != row.end(); first += at_once)
    emit_network(emitter, {first, first + at_once}, column, machine_, scratch_stream);
  return emitter.take();
}

}  // namespace restride
