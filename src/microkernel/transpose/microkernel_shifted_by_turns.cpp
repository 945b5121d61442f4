// Transposes of a shifted box (shifted_box) by a pipeline: while a panel leaves, the next one comes
// in, and what the next chunk reads is asked for.
//
// Panels of wide elements are small: one that leaves as soon as it is there would be read before
// its stores have reached L1. (Zen 4, one after the other: c128 4097 x 2047 1.25 times as long, f64
// 4097 x 4095 1.15; of narrower elements see microkernel_shifted and Make::by_turns_element_bytes.)
#include <algorithm>
#include <utility>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/box_ahead.hpp"
#include "microkernel/transpose/shifted_box.hpp"
#include "microkernel/transpose/staged_panel.hpp"

namespace restride {
namespace {

using program::Body;
using program::Step;
using Chunk = ShiftedBox::Chunk;

class ShiftedByTurns {
 public:
  ShiftedByTurns(const TileRun& rows, const TileRun& columns, const Strides& at,
                 const Machine& machine, Tables& tables)
      : machine_(machine),
        rows_(rows),
        columns_(columns),
        panel_(rows, chunk_rows(machine), at[1], machine),
        box_(rows_, columns_, {}, at, panel_, machine, tables),
        ahead_(rows.first(chunk_rows(machine)), columns, at[1], machine,
               {1, flushed_columns(panel_)}) {}

  int64_t scratch_bytes() const { return box_.panel_at() + 2 * panel_.bytes(); }

  Body emit() const {
    Body body = first_chunk();
    if (box_.chunks() > 1) append(body, other_chunks());
    append(body, box_.rest() > 0 ? rest_out() : box_.ends_out());
    // All of it lives on one scratch: wherever the box stands, it is one unit of work.
    return loop_always(1, {}, std::move(body));
  }

 private:
  ShiftedBox::Asks asks() const {
    return [this](Emitter& emitter, int64_t column, int64_t begin) {
      ahead_.ask(emitter, column, begin);
    };
  }

  std::vector<Step> column_steps(int64_t columns) const {
    std::vector<Step> steps = box_.column_steps(columns);
    ahead_.add_step(steps, columns);
    return steps;
  }

  Body panel_in() const { return box_.groups_in(panel_.groups(), 0); }

  /// The lines that its columns share with others are asked for, each panel comes in, then its
  /// columns leave.
  Body first_chunk() const {
    Body body = box_.claim_panel();
    append(body, panel_in());
    append(body, loop_always(panel_.columns(), column_steps(1),
                             body_of(box_.columns_out(Chunk::first, 1, asks()))));
    return box_.at_chunk(0, ahead_.asks(), each_panel(std::move(body)));
  }

  Body each_panel(Body body) const {
    std::vector<Step> steps = box_.panel_steps(source_stream);
    ahead_.add_panel_step(steps);
    return loop_always(box_.panels(), std::move(steps), std::move(body));
  }

  /// Behind the last panel comes the first one again, for nothing, which takes less code than none.
  Body other_chunks() const {
    const int64_t rows = rows_.step(source_stream, 1, chunk_rows(machine_)).stride;
    const int64_t panels = box_.panels(), others = box_.chunks() - 1;
    const auto ping_pong = [&](int stream, int64_t phase) {
      return Step{stream, panel_.bytes(), 0, phase, {{2, 0}}};
    };
    std::vector<Step> steps{{source_stream, line_, 0, 1, {{panels, rows}, {others, 0}}},
                            ping_pong(scratch_stream, 1),
                            ping_pong(panel_stream, 0),
                            then(columns_.step(target_stream, 0, panel_.columns()), panels,
                                 {target_stream, box_.chunk_bytes()}),
                            {left_over_stream, panel_.columns() * line_, 0, 0, {{panels, 0}}}};
    std::vector<Step> asks;
    ahead_.add_panel_step(asks);
    for (const Step& step : asks) {
      steps.push_back(box_.asking_step(then(step, panels, {prefetch_stream, rows})));
    }
    Body body = panel_in();
    append(body, loop_always(others * panels, std::move(steps), panel_out_and_in()));
    return box_.at_chunk(1, ahead_.asks(), std::move(body));
  }

  /// Some columns leave while some groups of rows come in.
  Body panel_out_and_in() const {
    const int64_t columns = flushed_columns(panel_), times = panel_.columns() / columns;
    Emitter emitter(machine_.target, machine_.vector_bytes);
    panel_.fill(emitter, panel_.groups() / times, scratch_stream, {0, box_.panel_at()});
    std::vector<Step> steps = panel_.fill_steps(panel_.groups() / times, scratch_stream);
    for (Step& step : column_steps(columns)) steps.push_back(std::move(step));
    return loop_always(
        times, std::move(steps),
        body_of(interleaved(emitter.take(), box_.columns_out(Chunk::other, columns, asks()))));
  }

  /// Rows that make no whole chunk.
  Body rest_out() const {
    Body body = box_.rows_in(box_.rest());
    append(body, loop_always(panel_.columns(), column_steps(1),
                             body_of(box_.rest_of_column_out(asks()))));
    return box_.at_chunk(box_.chunks(), ahead_.asks(), each_panel(std::move(body)));
  }

  const Machine& machine_;
  TileRun rows_;     // make runs of the target
  TileRun columns_;  // make runs of the source
  StagedPanel panel_;
  ShiftedBox box_;
  BoxAhead ahead_;
  int64_t line_ = machine_.vector_bytes;
};

}  // namespace

bool shifts_by_turns(const Machine& machine) {
  return machine.element_bytes >= machine.target.by_turns_element_bytes &&
         machine.staging != Staging::panels_of_gathered_rows;
}

Body emit_shifted_by_turns(const TileRun& rows, const TileRun& columns, const Strides& at,
                           const Machine& machine, Tables& tables, int64_t& scratch_bytes) {
  const ShiftedByTurns transpose(rows, columns, at, machine, tables);
  scratch_bytes = std::max(scratch_bytes, transpose.scratch_bytes());
  return transpose.emit();
}

}  // namespace restride
