// See box_ahead.hpp.
#include "microkernel/transpose/box_ahead.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"

namespace restride {

using program::Step;

BoxAhead::BoxAhead(const TileRun& rows, const TileRun& columns, int64_t first,
                   const Machine& machine, const std::vector<int64_t>& flushed)
    : rows_(rows),
      line_bytes_(machine.target.line_bytes),
      from_(asked_from(rows, first, machine)),
      written_lines_(rows.extent() * machine.element_bytes / line_bytes_) {
  const int64_t run_bytes = columns.extent() * machine.element_bytes;
  const bool lines = run_bytes % line_bytes_ == 0 && written_lines_ > 0 &&
                     rows.extent() * machine.element_bytes % line_bytes_ == 0;
  if (machine.ahead == 0 || !lines) return;
  const int64_t run_lines = run_bytes / line_bytes_;
  group_lines_ = run_lines;
  while (group_lines_ > 0 &&
         (run_lines % group_lines_ != 0 || !shares_out(machine.vector_bytes, flushed))) {
    --group_lines_;
  }
  asks_ = group_lines_ > 0;
}

bool BoxAhead::shares_out(int64_t vector_bytes, const std::vector<int64_t>& flushed) {
  row_shares_ = ceil_div(group_lines_ * line_bytes_, vector_bytes);
  rows_per_panel_ = rows_.extent() / row_shares_;
  if (rows_per_panel_ * row_shares_ != rows_.extent()) return false;
  return rows_.divides(rows_per_panel_) &&
         std::all_of(flushed.begin(), flushed.end(), [&](int64_t columns) {
           const int64_t lines = columns * written_lines_;
           return group_lines_ % lines == 0 ||
                  (lines % group_lines_ == 0 && rows_.divides(lines / group_lines_));
         });
}

int64_t BoxAhead::panel_offset(int64_t panel) const {
  return rows_.at(1, panel % row_shares_ * rows_per_panel_) +
         panel / row_shares_ * group_lines_ * line_bytes_;
}

void BoxAhead::ask(Emitter& emitter, int64_t column, int64_t begin, int64_t beside) const {
  if (!asks_ || begin % line_bytes_ != 0) return;
  const int64_t line = column * written_lines_ + begin / line_bytes_;
  const int64_t offset = rows_.at(1, line / group_lines_) + line % group_lines_ * line_bytes_;
  emitter.prefetch(prefetch_stream, from_.first + offset + beside, from_.level);
}

void BoxAhead::add_panel_step(std::vector<Step>& steps) const {
  if (!asks_) return;
  const int64_t group_bytes = group_lines_ * line_bytes_;
  Step step = rows_.step(prefetch_stream, 1, rows_per_panel_);
  const Step groups{prefetch_stream, group_bytes};
  steps.push_back(row_shares_ == 1 ? groups : then(std::move(step), row_shares_, groups));
}

void BoxAhead::add_step(std::vector<Step>& steps, int64_t columns) const {
  if (!asks_) return;
  const int64_t lines = columns * written_lines_;
  if (lines % group_lines_ == 0) {
    steps.push_back(rows_.step(prefetch_stream, 1, lines / group_lines_));
    return;
  }
  Step rows = rows_.step(prefetch_stream, 1, 1);
  Step step{prefetch_stream, lines * line_bytes_, 0, 0, {{group_lines_ / lines, rows.stride}}};
  step.wraps.insert(step.wraps.end(), rows.wraps.begin(), rows.wraps.end());
  steps.push_back(std::move(step));
}

}  // namespace restride
