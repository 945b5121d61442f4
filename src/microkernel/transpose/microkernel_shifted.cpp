// Transposes of a box whose rows of the target begin between lines, for arrays that do not stay in
// the caches.
//
// The rows of the box come in by chunks that make whole vectors of the target, a panel of columns
// at a time. A vector of a column is shifted to where it stands in lines, behind the end of the
// vector before; the line that they make leaves around the caches. The last vector of a chunk is
// kept in scratch, for it begins the line that the next chunk goes on with:
//
//     target  ...|line................|line................|...
//     vectors     ....aaaaaaaaaaaaaaaa|aaaabbbbbbbbbbbbbbbb|bbbb
//
// So no line is written twice but where the box begins and ends. There it leaves by masks that keep
// within the box: a store that touches a line on its way around the caches calls it back. What the
// next chunk reads is asked for meanwhile. Where in a line a column begins is seen when the code
// runs, so it is the same for all of them. Rows that make no whole chunk are the last one, in which
// the last row fills the vectors.
#include <algorithm>
#include <numeric>
#include <utility>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/box_ahead.hpp"
#include "microkernel/transpose/column_images.hpp"
#include "microkernel/transpose/shifted_image.hpp"
#include "microkernel/transpose/shifted_lines.hpp"
#include "microkernel/transpose/staged_panel.hpp"

namespace restride {
namespace {

using program::Body;
using program::Reg;
using program::Step;

int64_t chunk_rows(const Machine& machine) {
  return shifted_chunk_lines(machine.target, machine.element_bytes) * machine.vector_bytes /
         machine.element_bytes;
}

// An iteration writes at least so many columns, since each moves up to six streams. c128 1501 x
// 1500 .77 -> .83 of the ceiling, f64 1500 x 1500 .75 -> .78; with 8 and 16 the same.
constexpr int64_t least_flushed_columns = 4;

/// Columns of a panel that leave while some groups of rows come in: loops over either are one.
int64_t flushed_columns(const StagedPanel& panel) {
  const int64_t columns = panel.columns() / std::gcd(panel.groups(), panel.columns());
  return std::min(std::max(columns, least_flushed_columns), panel.columns());
}

class ShiftedTranspose {
 public:
  ShiftedTranspose(const TileRun& rows, const TileRun& columns, const Strides& at,
                   const Machine& machine)
      : machine_(machine),
        rows_(rows),
        columns_(columns),
        at_(at),
        panel_(rows, chunk_rows(machine), at[1], machine),
        ahead_(rows.first(chunk_rows(machine)), columns, at[1], machine,
               {1, flushed_columns(panel_)}) {}

  int64_t scratch_bytes() const { return panel_at() + 2 * panel_.bytes(); }

  Body emit() const {
    Body body = first_chunk();
    if (chunks_ > 1) append(body, other_chunks());
    append(body, rest_ > 0 ? rest_out() : ends_out());
    // All of it lives on one scratch: wherever the box stands, it is one unit of work.
    return loop_always(1, {}, std::move(body));
  }

 private:
  int64_t chunk_bytes() const { return chunk_rows(machine_) * machine_.element_bytes; }
  /// Where chunk `chunk` begins in the source.
  int64_t after(int64_t chunk) const { return rows_.at(1, chunk * chunk_rows(machine_)); }

  /// Where the rows that are asked for as chunk `chunk` begin in the source. What makes no whole
  /// chunk is asked for with rows before it, which are there; behind the last comes the box ahead.
  int64_t asked(int64_t chunk) const {
    if (chunk < chunks_) return after(chunk);
    const bool rest = chunk == chunks_ && rest_ > 0;
    return rest ? rows_.at(1, rows_.extent() - chunk_rows(machine_)) : machine_.ahead;
  }

  /// Behind what is left over.
  int64_t panel_at() const { return columns_.extent() * line_; }

  // ---- loops

  std::vector<Step> asks_in(std::vector<Step> steps, int64_t start) const {
    if (ahead_.asks()) steps.push_back({prefetch_stream, 0, start});
    return steps;
  }

  /// How streams move in a loop over the columns of a panel, `columns` at a time.
  std::vector<Step> column_steps(int64_t columns) const {
    const int64_t group = panel_.group_rows();
    Step panel{panel_stream, columns * panel_.pitch(), 0, 0, {{group / columns, 16}}};
    if (columns % group == 0) panel = {panel_stream, columns / group * 16};
    std::vector<Step> steps{columns_.step(target_stream, 0, columns),
                            {left_over_stream, columns * line_},
                            std::move(panel)};
    ahead_.add_step(steps, columns);
    return steps;
  }

  Body groups_in(int64_t groups) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    panel_.fill(emitter, 1, scratch_stream, {0, panel_at()});
    return loop_always(groups, panel_.fill_steps(1, scratch_stream), body_of(emitter.take()));
  }

  Body panel_in() const { return groups_in(panel_.groups()); }

  /// The lines that its columns share with others are asked for, each panel comes in, then its
  /// columns leave.
  Body first_chunk() const {
    const ImageRun run{0, at_[0], rows_.extent() * machine_.element_bytes};
    Body body = each_column(columns_, panel_.columns(), claim_ends({run}, machine_), {});
    append(body, panel_in());
    append(body,
           loop_always(panel_.columns(), column_steps(1), body_of(columns_out(Chunk::first, 1))));
    return loop_always(1, asks_in({}, asked(1)), each_panel(std::move(body)));
  }

  Body each_panel(Body body) const {
    std::vector<Step> steps{columns_.step(target_stream, 0, panel_.columns()),
                            {left_over_stream, panel_.columns() * line_},
                            {source_stream, line_}};
    ahead_.add_panel_step(steps);
    return loop_always(panels_, std::move(steps), std::move(body));
  }

  /// A pipeline: while a panel leaves, the next one comes in. Behind the last one comes the first
  /// one again, for nothing, which takes less code than none.
  Body other_chunks() const {
    const int64_t rows = rows_.step(source_stream, 1, chunk_rows(machine_)).stride;
    std::vector<Step> steps{{source_stream, line_, 0, 1, {{panels_, rows}, {chunks_ - 1, 0}}},
                            {scratch_stream, panel_.bytes(), 0, 1, {{2, 0}}},
                            {panel_stream, panel_.bytes(), 0, 0, {{2, 0}}},
                            then(columns_.step(target_stream, 0, panel_.columns()), panels_,
                                 {target_stream, chunk_bytes()}),
                            {left_over_stream, panel_.columns() * line_, 0, 0, {{panels_, 0}}}};
    std::vector<Step> asks;
    ahead_.add_panel_step(asks);
    for (const Step& step : asks) {
      steps.push_back(then(step, panels_, {prefetch_stream, rows}));
      steps.back().wraps.push_back({chunks_ - 2, asked(chunks_) - after(2)});
      if (chunks_ == 2) steps.back().wraps.pop_back();
    }
    Body body = panel_in();
    append(body, loop_always((chunks_ - 1) * panels_, std::move(steps), panel_out_and_in()));
    return loop_always(
        1, asks_in({{source_stream, 0, after(1)}, {target_stream, 0, chunk_bytes()}}, asked(2)),
        std::move(body));
  }

  /// Some columns leave while some groups of rows come in.
  Body panel_out_and_in() const {
    const int64_t columns = flushed_columns(panel_), times = panel_.columns() / columns;
    Emitter emitter(machine_.target, machine_.vector_bytes);
    panel_.fill(emitter, panel_.groups() / times, scratch_stream, {0, panel_at()});
    std::vector<Step> steps = panel_.fill_steps(panel_.groups() / times, scratch_stream);
    for (Step& step : column_steps(columns)) steps.push_back(std::move(step));
    return loop_always(times, std::move(steps),
                       body_of(interleaved(emitter.take(), columns_out(Chunk::other, columns))));
  }

  // ---- what leaves

  enum class Chunk : uint8_t { first, other };

  program::Block columns_out(Chunk which, int64_t columns) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t column = 0; column < columns; ++column) {
      Reg before = program::none;
      if (which == Chunk::other) {
        before = emitter.load(left_over_stream, column * line_, machine_.vector_bytes);
      }
      for (int64_t begin = 0; begin < chunk_bytes(); begin += line_) {
        const Reg chunk = panel_.line(emitter, column, begin, panel_at());
        line_out(emitter, before, chunk, at_[0] + columns_.at(0, column) + begin);
        ahead_.ask(emitter, column, begin);
        before = chunk;
      }
      emitter.store(before, left_over_stream, column * line_, machine_.vector_bytes);
    }
    return emitter.take();
  }

  /// The line that the end of one vector and the begin of the next one make; without one before,
  /// the part of it that is written by this box.
  void line_out(Emitter& emitter, Reg before, Reg chunk, int64_t at) const {
    if (before != program::none) {
      return emitter.store_line(shifted(emitter, before, chunk, at), target_stream, at);
    }
    emitter.store_begin(shifted(emitter, chunk, chunk, at), target_stream, at);
  }

  /// What the last chunk has left over.
  Body ends_out() const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    const Reg rest = emitter.load(left_over_stream, 0, machine_.vector_bytes);
    const int64_t end = at_[0] + chunks_ * chunk_bytes();
    emitter.store_end(shifted(emitter, rest, rest, end), target_stream, end);
    return loop_always(columns_.extent(),
                       {columns_.step(target_stream, 0, 1), {left_over_stream, line_}},
                       body_of(emitter.take()));
  }

  // ---- rows that make no whole chunk

  Body rest_out() const {
    Body body = rest_in();
    append(body, loop_always(panel_.columns(), column_steps(1), body_of(rest_of_column_out())));
    const int64_t target = chunks_ * chunk_bytes();
    return loop_always(
        1,
        asks_in({{source_stream, 0, after(chunks_)}, {target_stream, 0, target}}, machine_.ahead),
        each_panel(std::move(body)));
  }

  /// The last group of rows may be short; behind it is what was there.
  Body rest_in() const {
    const int64_t group = panel_.group_rows(), whole = rest_ / group;
    Body body;
    if (whole > 0) body = groups_in(whole);
    if (rest_ % group == 0) return body;
    const StagedPanel last(rows_.first(rest_ % group), chunk_rows(machine_), at_[1], machine_);
    Emitter emitter(machine_.target, machine_.vector_bytes);
    last.fill(emitter, 1, scratch_stream,
              {rows_.at(1, whole * group), panel_at() + whole * machine_.vector_bytes});
    append(body, body_of(emitter.take()));
    return body;
  }

  program::Block rest_of_column_out() const {
    const int64_t bytes = rest_ * machine_.element_bytes, whole = bytes / line_ * line_;
    Emitter emitter(machine_.target, machine_.vector_bytes);
    Reg before = emitter.load(left_over_stream, 0, machine_.vector_bytes);
    for (int64_t begin = 0; begin < chunk_bytes(); begin += line_) {
      if (begin < whole) {
        const Reg vector = panel_.line(emitter, 0, begin, panel_at());
        line_out(emitter, before, vector, at_[0] + begin);
        before = vector;
      }
      ahead_.ask(emitter, 0, begin);
    }
    const int64_t end = at_[0] + whole;
    emitter.store_end(shifted(emitter, before, before, end), target_stream, end);
    if (whole < bytes) {
      emitter.store(panel_.line(emitter, 0, whole, panel_at()), target_stream, end,
                    static_cast<int>(bytes - whole));
    }
    return emitter.take();
  }

  Reg shifted(Emitter& emitter, Reg before, Reg chunk, int64_t at) const {
    return emitter.shift(shifted_bytes(machine_), before, chunk, target_stream, at);
  }

  const Machine& machine_;
  TileRun rows_;     // make runs of the target
  TileRun columns_;  // make runs of the source
  Strides at_;
  StagedPanel panel_;
  BoxAhead ahead_;
  int64_t line_ = machine_.vector_bytes;
  int64_t panels_ = columns_.extent() / panel_.columns();
  int64_t chunks_ = rows_.extent() / chunk_rows(machine_);
  int64_t rest_ = rows_.extent() % chunk_rows(machine_);
};

}  // namespace

bool can_shift(const TileRun& rows, const TileRun& columns, const Machine& machine) {
  const int64_t element = machine.element_bytes, line = machine.vector_bytes;
  const Target& target = machine.target;
  if (!machine.streams || machine.nontemporal || machine.shifts_runs || line != target.line_bytes ||
      !shifts_lines(machine) || 16 / element >= target.registers) {
    return false;
  }
  if (!rows.is_contiguous(0, element) || !columns.is_contiguous(1, element)) return false;
  const StagedPanel panel(rows, chunk_rows(machine), 0, machine);
  return rows.sides() == 1 && rows.extent() >= chunk_rows(machine) &&
         rows.extent() * element >= target.shifting_run_bytes && columns.divides(panel.columns()) &&
         columns.divides(flushed_columns(panel)) && columns.extent() > panel.columns() &&
         columns.extent() * line + 2 * panel.bytes() <= program::max_scratch_bytes;
}

Body emit_shifted_transpose(const TileRun& rows, const TileRun& columns, const Strides& at,
                            const Machine& machine, int64_t& scratch_bytes) {
  const ShiftedTranspose transpose(rows, columns, at, machine);
  scratch_bytes = std::max(scratch_bytes, transpose.scratch_bytes());
  return transpose.emit();
}

}  // namespace restride
