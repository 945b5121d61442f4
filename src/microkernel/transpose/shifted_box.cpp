// See shifted_box.hpp.
#include "microkernel/transpose/shifted_box.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "microkernel/transpose/column_images.hpp"
#include "microkernel/transpose/shifted_image.hpp"
#include "microkernel/transpose/shifted_lines.hpp"

namespace restride {

using program::Body;
using program::Reg;
using program::Step;

namespace {

// An iteration writes at least so many columns, since each moves up to six streams. c128 1501 x
// 1500 .77 -> .83 of the ceiling, f64 1500 x 1500 .75 -> .78; with 8 and 16 the same.
constexpr int64_t least_flushed_columns = 4;

}  // namespace

class ShiftedBox::Column {
 public:
  Column(const ShiftedBox& box, Emitter& emitter, int64_t column)
      : box_(box), emitter_(emitter), column_(column) {}

  Reg vector(int64_t begin, int64_t row) {
    const auto k = static_cast<size_t>(begin / box_.line_);
    while (made_.size() <= k) {
      const int64_t at = static_cast<int64_t>(made_.size()) * box_.line_;
      made_.push_back(mixed_rows(emitter_, box_.mixing_, [&](int64_t from) {
        return box_.panel_.line(emitter_, column_, at,
                                box_.panel_at() + from * box_.panel_.bytes());
      }));
    }
    return made_[k][static_cast<size_t>(row)];
  }

 private:
  const ShiftedBox& box_;
  Emitter& emitter_;
  int64_t column_;
  std::vector<std::vector<Reg>> made_;  // by row of the target
};

int64_t chunk_rows(const Machine& machine) {
  return shifted_chunk_lines(machine.target, machine.element_bytes) * machine.vector_bytes /
         machine.element_bytes;
}

int64_t flushed_columns(const StagedPanel& panel) {
  const int64_t columns = panel.columns() / std::gcd(panel.groups(), panel.columns());
  return std::min(std::max(columns, least_flushed_columns), panel.columns());
}

int64_t ShiftedBox::asked(int64_t chunk) const {
  if (chunk < chunks()) return after(chunk);
  const bool last = chunk == chunks() && rest() > 0;
  return last ? rows_.at(1, rows_.extent() - chunk_rows(machine_)) : machine_.ahead;
}

Step ShiftedBox::asking_step(Step of_chunk) const {
  if (chunks() > 2) of_chunk.wraps.push_back({chunks() - 2, asked(chunks()) - after(2)});
  return of_chunk;
}

Body ShiftedBox::at_chunk(int64_t chunk, bool asks, Body body) const {
  std::vector<Step> steps;
  if (chunk > 0)
    steps = {{source_stream, 0, after(chunk)}, {target_stream, 0, chunk * chunk_bytes()}};
  if (asks) steps.push_back({prefetch_stream, 0, asked(chunk + 1)});
  return loop_always(1, std::move(steps), std::move(body));
}

std::vector<Step> ShiftedBox::column_steps(int64_t columns) const {
  const int64_t group = panel_.group_rows();
  Step panel{panel_stream, columns * panel_.pitch(), 0, 0, {{group / columns, 16}}};
  if (columns % group == 0) panel = {panel_stream, columns / group * 16};
  return {columns_.step(target_stream, 0, columns),
          {left_over_stream, columns * left_over_bytes()},
          std::move(panel)};
}

std::vector<Step> ShiftedBox::panel_steps(int from) const {
  return {columns_.step(target_stream, 0, panel_.columns()),
          {left_over_stream, panel_.columns() * left_over_bytes()},
          {from, line_}};
}

/// `groups` groups of rows before those of a panel have come in.
void ShiftedBox::panel_in(Emitter& emitter, const StagedPanel& panel, int64_t source,
                          int64_t groups) const {
  for (int64_t row = 0; row < mixing_.from.rows; ++row) {
    panel.fill(emitter, 1, scratch_stream,
               {source + row * mixing_.from.stride,
                panel_at() + row * panel.bytes() + groups * machine_.vector_bytes});
  }
}

Body ShiftedBox::groups_in(int64_t groups, int64_t from) const {
  Emitter emitter(machine_.target, machine_.vector_bytes);
  panel_in(emitter, panel_, from, 0);
  return loop_always(groups, panel_.fill_steps(1, scratch_stream), body_of(emitter.take()));
}

Body ShiftedBox::rows_in(int64_t rows) const {
  const int64_t group = panel_.group_rows(), whole = rows / group, behind = rows % group;
  Body body = whole > 0 ? groups_in(whole, 0) : Body{};
  if (behind == 0) return body;
  const StagedPanel last(rows_.first(behind), chunk_rows(machine_), at_[1], machine_);
  Emitter emitter(machine_.target, machine_.vector_bytes);
  panel_in(emitter, last, rows_.at(1, whole * group), whole);
  append(body, body_of(emitter.take()));
  return body;
}

program::Block ShiftedBox::columns_out(Chunk which, int64_t columns, const Asks& asks) const {
  Emitter emitter(machine_.target, machine_.vector_bytes);
  for (int64_t column = 0; column < columns; ++column) {
    Column made(*this, emitter, column);
    for (int64_t row = 0; row < mixing_.to.rows; ++row) {
      const int64_t left_over = column * left_over_bytes() + row * line_;
      const int64_t at = at_[0] + columns_.at(0, column) + row * mixing_.to.stride;
      Reg before = program::none;
      if (which == Chunk::other)
        before = emitter.load(left_over_stream, left_over, machine_.vector_bytes);
      for (int64_t begin = 0; begin < chunk_bytes(); begin += line_) {
        const Reg chunk = made.vector(begin, row);
        line_out(emitter, before, chunk, at + begin);
        if (asks && row == 0) asks(emitter, column, begin);
        before = chunk;
      }
      emitter.store(before, left_over_stream, left_over, machine_.vector_bytes);
    }
  }
  return emitter.take();
}

program::Block ShiftedBox::rest_of_column_out(const Asks& asks) const {
  Emitter emitter(machine_.target, machine_.vector_bytes);
  Column made(*this, emitter, 0);
  for (int64_t row = 0; row < mixing_.to.rows; ++row)
    rest_of_row_out(emitter, made, row, at_[0] + row * mixing_.to.stride, asks);
  return emitter.take();
}

void ShiftedBox::rest_of_row_out(Emitter& emitter, Column& column, int64_t row, int64_t at,
                                 const Asks& asks) const {
  const int64_t bytes = rest() * machine_.element_bytes, whole = bytes / line_ * line_;
  Reg before = emitter.load(left_over_stream, row * line_, machine_.vector_bytes);
  for (int64_t begin = 0; begin < chunk_bytes(); begin += line_) {
    if (begin < whole) {
      const Reg vector = column.vector(begin, row);
      line_out(emitter, before, vector, at + begin);
      before = vector;
    }
    if (asks && row == 0) asks(emitter, 0, begin);
  }
  if (whole < bytes) {
    before =
        part_of_vector_out(emitter, before, column.vector(whole, row), at + whole, bytes - whole);
  }
  end_out(emitter, before, at + bytes);
}

/// Stores the line in which a vector ends, if `bytes` behind it fill that; returns the vector that
/// ends with those, which begin at `at`.
Reg ShiftedBox::part_of_vector_out(Emitter& emitter, Reg before, Reg part, int64_t at,
                                   int64_t bytes) const {
  // They do not where that vector begins in the same line as the one before.
  emitter.store_line(shifted(emitter, before, part, at), target_stream, at + bytes - line_, 0,
                     bytes);
  const int width = shifted_bytes(machine_);
  std::vector<uint8_t> last(static_cast<size_t>(line_ / width));
  std::iota(last.begin(), last.end(), static_cast<uint8_t>(bytes / width));
  return emitter.permute(width, before, part, tables_.add(std::move(last)));
}

/// What the last vector has of the line in which the box ends.
void ShiftedBox::end_out(Emitter& emitter, Reg last, int64_t end) const {
  emitter.store_end(shifted(emitter, last, last, end), target_stream, end);
}

Body ShiftedBox::ends_out() const {
  Emitter emitter(machine_.target, machine_.vector_bytes);
  for (int64_t row = 0; row < mixing_.to.rows; ++row) {
    const Reg rest = emitter.load(left_over_stream, row * line_, machine_.vector_bytes);
    end_out(emitter, rest, at_[0] + row * mixing_.to.stride + chunks() * chunk_bytes());
  }
  return loop_always(columns_.extent(),
                     {columns_.step(target_stream, 0, 1), {left_over_stream, left_over_bytes()}},
                     body_of(emitter.take()));
}

Body ShiftedBox::claim_panel() const {
  std::vector<ImageRun> runs;
  for (int64_t row = 0; row < mixing_.to.rows; ++row) {
    runs.push_back({0, at_[0] + row * mixing_.to.stride, rows_.extent() * machine_.element_bytes});
  }
  return each_column(columns_, panel_.columns(), claim_ends(runs, machine_), {});
}

/// The line that the end of one vector and the begin of the next one make; without one before, the
/// part of it that is written by this box.
void ShiftedBox::line_out(Emitter& emitter, Reg before, Reg chunk, int64_t at) const {
  if (before != program::none) {
    return emitter.store_line(shifted(emitter, before, chunk, at), target_stream, at);
  }
  emitter.store_begin(shifted(emitter, chunk, chunk, at), target_stream, at);
}

Reg ShiftedBox::shifted(Emitter& emitter, Reg before, Reg chunk, int64_t at) const {
  return emitter.shift(shifted_bytes(machine_), before, chunk, target_stream, at);
}

}  // namespace restride
