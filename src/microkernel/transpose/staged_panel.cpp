// See staged_panel.hpp.
#include "microkernel/transpose/staged_panel.hpp"

#include <algorithm>
#include <span>

#include "microkernel/transpose/transpose_network.hpp"

namespace restride {

using program::Reg;

void StagedPanel::fill(Emitter& emitter, int64_t groups, int stream, At at, int64_t ahead) const {
  for (int64_t group = 0; group < groups; ++group) {
    if (strip_ >= 0) fill_strip(emitter, group, at);
    for (int64_t begin = 0; begin < row_bytes_; begin += machine_.vector_bytes)
      fill_vectors(emitter, group, begin, stream, at, begin == 0 ? ahead : 0);
  }
}

void StagedPanel::fill_strip(Emitter& emitter, int64_t group, At at) const {
  const int64_t vector = machine_.vector_bytes;
  for (int64_t row = 0; row < group_rows(); ++row) {
    const int64_t offset = at_ + at.source + rows_run_.at(1, group * group_rows() + row);
    for (int64_t begin = 0; begin < row_bytes_; begin += vector) {
      const Reg part = emitter.load(from_, offset + begin, static_cast<int>(vector));
      emitter.store(part, panel_stream, strip_ + row * row_bytes_ + begin,
                    static_cast<int>(vector));
    }
  }
}

void StagedPanel::fill_vectors(Emitter& emitter, int64_t group, int64_t begin, int stream, At at,
                               int64_t ahead) const {
  const bool touch = rows_run_.extent() > 1 && rows_run_.at(1, 1) == row_bytes_;
  const int64_t vector = machine_.vector_bytes;
  const auto load = [&](int row) {
    if (strip_ >= 0)
      return emitter.load(panel_stream, strip_ + row * row_bytes_ + begin,
                          static_cast<int>(vector));
    const int64_t place = std::min(group * group_rows() + row, rows_run_.extent() - 1);
    const int64_t offset = at_ + at.source + rows_run_.at(1, place) + begin;
    if (ahead != 0) emitter.ask_for_row(offset, row_bytes_, touch, ahead);
    return emitter.load(from_, offset, static_cast<int>(std::min(row_bytes_ - begin, vector)));
  };
  const int64_t panel = at.panel + group * width_ + begin;
  const auto leave = [&](size_t first, std::span<const Reg> columns) {
    for (size_t k = 0; k < columns.size(); ++k) {
      emitter.store(columns[k], stream, panel + static_cast<int64_t>(first + k) * pitch(),
                    machine_.vector_bytes);
    }
  };
  transpose_in_order(emitter, static_cast<int>(machine_.element_bytes), load, leave);
}

Reg StagedPanel::line(Emitter& emitter, int64_t column, int64_t begin, int64_t offset) const {
  const int64_t from = offset + column % group_rows() * pitch() + column / group_rows() * 16;
  Reg line = program::none;
  for (int lane = 0; lane < emitter.lanes(); ++lane) {
    const int64_t group = begin / 16 + lane;
    line = emitter.load_lane(line, panel_stream, from + group * width_, 16, 16 * lane);
  }
  return line;
}

}  // namespace restride
