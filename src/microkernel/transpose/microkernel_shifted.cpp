// Transposes of a shifted box (shifted_box): each panel comes in, then its columns leave while the
// next chunk is asked for. (Where it comes in while the one before leaves, as in
// microkernel_shifted_by_turns, two panels are in L1, and there is more code: Zen 4, u8 9001 x 3001
// 1.6 times as long, 5056 x 6016 where both arrays begin 16 bytes behind a line 1.4, of f32 1.0.)
//
// A panel reads a vector of each row, which lies in two lines if the row begins between lines.
// Where the lines of rows meet in few sets of L1, these are gone before the next panel reads the
// rest of them, and a load waits for both. Then the rows of a chunk are copied to scratch first,
// one after the other, and panels come in from there:
//
//     source  ..rrrrrrrrrrrrrrrr..      scratch  rrrrrrrrrrrrrrrr      panels  r r r r
//             ....ssssssssssssssss               ssssssssssssssss              s s s s
//
// (Zen 4, a model: loads of 64 bytes 4095 bytes apart in L2 take 6.2 ns one below the other, 1.3
// row after row, with a store each.)
//
// Of packed elements all rows that are mixed with each other come in, each to a panel of its own.
#include <algorithm>
#include <utility>

#include "base/arithmetic.hpp"
#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/panel_asks.hpp"
#include "microkernel/transpose/shifted_box.hpp"
#include "microkernel/transpose/shifted_lines.hpp"
#include "microkernel/transpose/staged_panel.hpp"

namespace restride {
namespace {

using program::Body;
using program::Step;
using Chunk = ShiftedBox::Chunk;

/// Rows of a chunk in scratch, side by side.
TileRun rows_in_scratch(int64_t rows, int64_t row_bytes) {
  nest::Side side{rows, {}};
  side.stride[1] = row_bytes;
  return TileRun({side});
}

class ShiftedTranspose {
 public:
  ShiftedTranspose(const TileRun& rows, const TileRun& columns, const RowMixing& mixing,
                   const Strides& at, const Machine& machine, Tables& tables)
      : machine_(machine),
        gathers_(machine.staging == Staging::panels_of_gathered_rows),
        rows_(rows),
        columns_(columns),
        mixing_(mixing),
        at_(at),
        row_bytes_(columns.extent() * machine.element_bytes),
        panel_(panel()),
        box_(rows_, columns_, mixing_, at, panel_, machine, tables),
        asks_(rows.first(chunk_rows(machine)), row_bytes_, at[1], machine,
              {box_.panels(), iterations(), flushed_columns(panel_) * lines_of_column()}) {}

  int64_t scratch_bytes() const {
    return gathered_at() + (gathers_ ? chunk_rows(machine_) * row_bytes_ : 0);
  }

  Body emit() const {
    Body body = first_chunk();
    if (box_.chunks() > 1) append(body, other_chunks());
    append(body, box_.rest() > 0 ? rest_out() : box_.ends_out());
    // All of it lives on one scratch: wherever the box stands, it is one unit of work.
    return loop_always(1, {}, std::move(body));
  }

 private:
  int64_t gathered_at() const { return box_.panel_at() + box_.panel_bytes(); }
  int64_t lines_of_column() const { return box_.chunk_bytes() / machine_.vector_bytes; }
  /// In which the columns of a panel leave.
  int64_t iterations() const { return panel_.columns() / flushed_columns(panel_); }

  StagedPanel panel() const {
    const int64_t rows = chunk_rows(machine_);
    if (!gathers_) return {rows_, rows, at_[1], machine_};
    return StagedPanel(rows_in_scratch(rows, row_bytes_), rows, 0, machine_).of_gathered_rows();
  }

  /// Asks for what goes with a line that leaves, of each row that is mixed.
  void ask(Emitter& emitter, int64_t line) const {
    for (int64_t row = 0; row < mixing_.from.rows; ++row)
      asks_.ask(emitter, line, row * mixing_.from.stride);
  }

  /// Copies rows to scratch.
  Body gather(int64_t rows) const {
    if (!gathers_) return {};
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t at = 0; at < row_bytes_; at += machine_.vector_bytes) {
      emitter.store(emitter.load(source_stream, at_[1] + at, machine_.vector_bytes),
                    gathered_stream, gathered_at() + at, machine_.vector_bytes);
    }
    return loop_always(rows, {rows_.step(source_stream, 1, 1), {gathered_stream, row_bytes_}},
                       body_of(emitter.take()));
  }

  /// Behind the last row is what was there.
  Body panel_in(int64_t rows) const {
    if (!gathers_) return box_.rows_in(rows);
    return box_.groups_in(ceil_div(rows, panel_.group_rows()), gathered_at());
  }

  Body each_panel(Body body) const {
    std::vector<Step> steps = box_.panel_steps(gathers_ ? gathered_stream : source_stream);
    asks_.add_panel_step(steps);
    return loop_always(box_.panels(), std::move(steps), std::move(body));
  }

  /// Column by column: all that leave in an iteration would be code of their own.
  Body columns_one_by_one(program::Block column) const {
    const int64_t columns = flushed_columns(panel_);
    Emitter asking(machine_.target, machine_.vector_bytes);
    for (int64_t line = 0; line < columns * lines_of_column(); ++line) ask(asking, line);
    Body body = asks_.asks() ? body_of(asking.take()) : Body{};
    append(body, loop_always(columns, box_.column_steps(1), body_of(std::move(column))));
    std::vector<Step> steps = box_.column_steps(columns);
    asks_.add_step(steps);
    return loop_always(iterations(), std::move(steps), std::move(body));
  }

  Body first_chunk() const {
    Body panel = box_.claim_panel();
    append(panel, panel_in(chunk_rows(machine_)));
    append(panel, columns_one_by_one(box_.columns_out(Chunk::first, 1, {})));
    Body body = gather(chunk_rows(machine_));
    append(body, each_panel(std::move(panel)));
    return box_.at_chunk(0, asks_.asks(), std::move(body));
  }

  Body other_chunks() const {
    const int64_t columns = flushed_columns(panel_);
    const auto ask = [&](Emitter& emitter, int64_t column, int64_t begin) {
      this->ask(emitter, column * lines_of_column() + begin / machine_.vector_bytes);
    };
    std::vector<Step> leaving = box_.column_steps(columns);
    asks_.add_step(leaving);
    Body panel = panel_in(chunk_rows(machine_));
    append(panel, loop_always(iterations(), std::move(leaving),
                              body_of(box_.columns_out(Chunk::other, columns, ask))));
    Body body = gather(chunk_rows(machine_));
    append(body, each_panel(std::move(panel)));
    const int64_t rows = box_.after(1);
    std::vector<Step> steps{{source_stream, rows}, {target_stream, box_.chunk_bytes()}};
    if (asks_.asks()) steps.push_back(box_.asking_step({prefetch_stream, rows}));
    body = loop_always(box_.chunks() - 1, std::move(steps), std::move(body));
    return box_.at_chunk(1, asks_.asks(), std::move(body));
  }

  Body rest_out() const {
    Body panel = panel_in(box_.rest());
    append(panel, columns_one_by_one(box_.rest_of_column_out({})));
    Body body = gather(box_.rest());
    append(body, each_panel(std::move(panel)));
    return box_.at_chunk(box_.chunks(), asks_.asks(), std::move(body));
  }

  const Machine& machine_;
  bool gathers_;
  TileRun rows_;     // make runs of the target
  TileRun columns_;  // make runs of the source
  RowMixing mixing_;
  Strides at_;
  int64_t row_bytes_;  // of the source in a box
  StagedPanel panel_;
  ShiftedBox box_;
  PanelAsks asks_;
};

}  // namespace

bool can_shift(const TileRun& rows, const TileRun& columns, const RowMixing& mixing,
               const Machine& machine) {
  const int64_t element = machine.element_bytes, line = machine.vector_bytes;
  const Target& target = machine.target;
  if (!machine.streams || machine.nontemporal || machine.shifts_runs || line != target.line_bytes ||
      !shifts_lines(machine) || 16 / element >= target.registers) {
    return false;
  }
  if (!rows.is_contiguous(0, element) || !columns.is_contiguous(1, element)) return false;
  const StagedPanel panel(rows, chunk_rows(machine), 0, machine);
  const int64_t panels = mixing.mixes() ? mixing.from.rows : shifts_by_turns(machine) ? 2 : 1;
  const bool gathers = machine.staging == Staging::panels_of_gathered_rows;
  const int64_t gathered = gathers ? chunk_rows(machine) * columns.extent() * element : 0;
  const int64_t least = mixing.mixes() ? 0 : target.shifting_run_bytes;
  return rows.sides() == 1 && rows.extent() >= chunk_rows(machine) &&
         rows.extent() * element >= least && columns.divides(panel.columns()) &&
         columns.divides(flushed_columns(panel)) && columns.extent() > panel.columns() &&
         mixing.to.rows * columns.extent() * line + panels * panel.bytes() + gathered <=
             program::max_scratch_bytes;
}

Body emit_shifted_transpose(const TileRun& rows, const TileRun& columns, const RowMixing& mixing,
                            const Strides& at, const Machine& machine, Tables& tables,
                            int64_t& scratch_bytes) {
  const ShiftedTranspose transpose(rows, columns, mixing, at, machine, tables);
  scratch_bytes = std::max(scratch_bytes, transpose.scratch_bytes());
  return transpose.emit();
}

}  // namespace restride
