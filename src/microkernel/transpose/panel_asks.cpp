// See panel_asks.hpp.
#include "microkernel/transpose/panel_asks.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"

namespace restride {

using program::Step;

PanelAsks::PanelAsks(const TileRun& rows, int64_t row_bytes, int64_t first, const Machine& machine,
                     const Pace& pace)
    : row_stride_(rows.at(1, 1)),
      row_bytes_(row_bytes),
      first_(first),
      line_bytes_(machine.target.line_bytes),
      written_lines_(pace.written_lines),
      rows_of_iteration_(ceil_div(rows.extent(), pace.panels * pace.iterations)),
      rows_of_panel_((rows.extent() - rows_of_iteration_ * pace.iterations) / (pace.panels - 1)),
      asks_(machine.ahead != 0) {}

void PanelAsks::ask(Emitter& emitter, int64_t line, int64_t beside) const {
  if (!asks_) return;
  // A row of whole lines that begins between lines has a part of one more.
  const int64_t lines_of_row = row_bytes_ / line_bytes_ + 1;
  const int64_t lines = rows_of_iteration_ * lines_of_row;
  // Spread evenly.
  const int64_t begin = line * lines / written_lines_, end = (line + 1) * lines / written_lines_;
  for (int64_t k = begin; k < end; ++k) {
    const int64_t byte = std::min(k % lines_of_row * line_bytes_, row_bytes_ - 1);
    emitter.ask(prefetch_stream, first_ + beside + k / lines_of_row * row_stride_ + byte);
  }
}

void PanelAsks::add_panel_step(std::vector<Step>& steps) const {
  if (asks_) steps.push_back({prefetch_stream, rows_of_panel_ * row_stride_});
}

void PanelAsks::add_step(std::vector<Step>& steps) const {
  if (asks_) steps.push_back({prefetch_stream, rows_of_iteration_ * row_stride_});
}

}  // namespace restride
