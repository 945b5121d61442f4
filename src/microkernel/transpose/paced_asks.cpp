// See paced_asks.hpp.
#include "microkernel/transpose/paced_asks.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/arithmetic.hpp"

namespace restride {

using program::Step;

namespace {

// What iterations that write do not get to, and what they ask for twice, of all rows. Zen 5: 22
// lines a row, 12 an iteration, in halves of rows, 44 of 48 of them, f32[48,28,28,4,352] reversed
// .50 -> .76 of the ceiling, two lines of six rows each .63; but 10 lines, 4 an iteration, in
// thirds of rows [15,15,32,15,15,32]{2,3,5,0,4,1} .67 -> .64, two of two rows .68.
constexpr int64_t parts_of_rows = 10;

bool begin_between_lines(const TileRun& rows, const Machine& machine) {
  return rows.extent() > 1 && rows.at(1, 1) % machine.target.line_bytes != 0;
}

}  // namespace

AskedFrom asked_from(const TileRun& rows, int64_t first, const Machine& machine) {
  const int64_t line = machine.target.line_bytes;
  const bool aligned = machine.pointer_alignment % line == 0 && !begin_between_lines(rows, machine);
  if (aligned) return {first, machine.target.asked_level};
  // The first line of rows that begin between lines is there: the box before has read to its
  // middle. (u8 4097 x 4095 .45 -> .49 of the ceiling, f32 .615 -> .645, a model that only reads
  // .62 -> .77.) What is asked for is needed later, too: f32 4097 x 4095 .52 for .74 in L1.
  return {first + line - 1, 2};
}

PacedAsks::PacedAsks(const TileRun& rows, int64_t row_lines, int64_t first, const Machine& machine,
                     const Pace& pace)
    : rows_(rows),
      row_lines_(row_lines + machine.target.asked_lines_beyond),
      from_(asked_from(rows, first, machine)),
      line_bytes_(machine.target.line_bytes),
      pace_(pace) {
  const bool goes_on_along_rows = machine.ahead == row_lines * line_bytes_;
  if (machine.target.asks_down_rows && goes_on_along_rows && begin_between_lines(rows, machine))
    written_ = share_down_rows();
  down_rows_ = written_.lines_of_row > 0;
  if (down_rows_) return;
  written_ = share_of(pace.written_lines);
  const int64_t together = std::gcd(row_lines_, pace.written_lines);
  const int64_t bundle = pace.written_lines / together;
  if (!comes_out(written_) && rows.divides(bundle))
    written_ = {bundle, together, row_lines_ / together, together};
  rows_of_filling_ = rows.extent() - rows_asked(written_);
  if (pace.filling == 0) rows_of_filling_ = 0;
  if (rows_of_filling_ > 0) filled_ = filling_share(rows_of_filling_);
}

PacedAsks::Share PacedAsks::share_of_row(int64_t shares) const {
  Share share{1, ceil_div(row_lines_, shares), shares};
  if (shares > 1) share.next_lines = ceil_div(row_lines_ - share.lines_of_row, shares - 1);
  return share;
}

PacedAsks::Share PacedAsks::whole_rows(int64_t rows) const { return {rows, row_lines_}; }

PacedAsks::Share PacedAsks::share_of(int64_t lines) const {
  if (lines <= row_lines_) return share_of_row(ceil_div(row_lines_, lines));
  int64_t rows = lines / row_lines_;
  while (!rows_.divides(rows)) --rows;
  return whole_rows(rows);
}

PacedAsks::Share PacedAsks::share_down_rows() const {
  const int64_t all = rows_.extent(), iterations = pace_.filling + pace_.writing;
  const int64_t least = ceil_div(all * row_lines_, iterations);
  for (int64_t rows = least; rows <= std::min(all, 2 * least); ++rows) {
    if (all % rows == 0 && rows_.divides(rows)) return {rows, 1};
  }
  return {};
}

int64_t PacedAsks::rows_asked(const Share& share) const {
  return std::min(rows_.extent(), pace_.writing / share.shares * share.rows);
}

bool PacedAsks::comes_out(const Share& share) const {
  const int64_t all = rows_.extent(), asked = share.shares * share.lines_of_row;
  return parts_of_rows * (all - rows_asked(share)) <= all &&
         parts_of_rows * (asked - row_lines_) <= row_lines_;
}

PacedAsks::Share PacedAsks::filling_share(int64_t rows) const {
  if (rows <= pace_.filling) return share_of_row(std::min(pace_.filling / rows, row_lines_));
  int64_t together = ceil_div(rows, pace_.filling);
  while (!rows_.divides(together)) ++together;
  return whole_rows(together);
}

void PacedAsks::ask(Emitter& emitter, const Share& share, int64_t line, int64_t beside) const {
  const int64_t row = line / share.lines_of_row, behind = line % share.lines_of_row;
  emitter.prefetch(prefetch_stream, from_.first + rows_.at(1, row) + behind * line_bytes_ + beside,
                   from_.level);
}

void PacedAsks::ask(Emitter& emitter, int64_t line, int64_t beside) const {
  if (pace_.written_lines == 0) return;
  // Spread evenly.
  const int64_t begin = line * written_.lines() / pace_.written_lines;
  const int64_t end = (line + 1) * written_.lines() / pace_.written_lines;
  for (int64_t k = begin; k < end; ++k) ask(emitter, written_, k, beside);
}

void PacedAsks::ask(Emitter& emitter) const {
  for (int64_t line = 0; line < pace_.written_lines; ++line) ask(emitter, line, 0);
}

void PacedAsks::ask_filling(Emitter& emitter, int64_t beside) const {
  const Share& share = down_rows_ ? written_ : filled_;
  for (int64_t k = 0; k < share.lines(); ++k) ask(emitter, share, k, beside);
}

void PacedAsks::add_steps(std::vector<Step>& steps, const Share& share, int64_t first_row,
                          int64_t before) const {
  // Behind the last row comes the first one again, which is there by then.
  std::vector<Step> of_rows =
      rows_.steps(prefetch_stream, 1, share.rows, {prefetch_stream}, first_row / share.rows);
  for (Step& step : of_rows) {
    if (share.shares > 1) step.wraps.insert(step.wraps.begin(), {share.shares, step.stride});
    step.phase = step.phase * share.shares + before;
  }
  if (share.shares > 1) {
    for (Step& step : of_rows) step.stride = 0;
    of_rows.front().stride = share.next_lines * line_bytes_;
  }
  steps.insert(steps.end(), of_rows.begin(), of_rows.end());
}

void PacedAsks::add_step_down_rows(std::vector<Step>& steps, int64_t before) const {
  Step step = then(rows_.step(prefetch_stream, 1, written_.rows), rows_.extent() / written_.rows,
                   {prefetch_stream, line_bytes_});
  step.phase = before;
  steps.push_back(std::move(step));
}

void PacedAsks::add_step(std::vector<Step>& steps, int64_t before) const {
  if (down_rows_) return add_step_down_rows(steps, pace_.filling + before);
  if (pace_.written_lines > 0) add_steps(steps, written_, rows_of_filling_, before);
}

void PacedAsks::add_step_filling(std::vector<Step>& steps) const {
  if (down_rows_) return add_step_down_rows(steps, 0);
  if (rows_of_filling_ > 0) add_steps(steps, filled_, 0, 0);
}

}  // namespace restride
