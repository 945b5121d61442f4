// Transposes of a box through a panel in L1, for arrays that do not stay in the caches.
//
// A panel is filled while the one before it leaves, operation by operation: a burst of shuffles
// would keep memory waiting.
//
//     fill    every row of the box is read once, a whole vector at a time, or the vectors of a
//     line;
//             groups of 16 / element rows are transposed inside the lanes and stored as they are:
//
//                 panel[k][group]  lane l = column l * (16 / element) + k of the rows of the group
//
//     flush   a vector of the target is made of one lane of as many groups as it has lanes, by
//     loads alone, and leaves
//             around the caches; the rows of the box ahead are asked for meanwhile, one for every
//             row written.
//
// Columns that make no whole panel are one by themselves.
//
// Rows of packed elements are mixed on their way out: each has a panel of its own for what it
// shares bytes of the target with, a line of each makes a line of each row of the target.
//
// Half of the shuffles of a transpose are loads this way; every line of the source is touched once,
// which power-of-two pitches need; and the target is written in runs of several lines, which memory
// needs: a transpose alone makes runs of one.
#include <algorithm>
#include <numeric>
#include <utility>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/packed/row_mixing.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/paced_asks.hpp"
#include "microkernel/transpose/shifted_lines.hpp"
#include "microkernel/transpose/staged_panel.hpp"
#include "microkernel/transpose/transpose_network.hpp"

namespace restride {
namespace {

using program::Block;
using program::Body;
using program::Reg;
using program::Step;

Body loop(int64_t extent, std::vector<Step> steps, Body body) {
  return extent == 1 ? std::move(body) : loop_always(extent, std::move(steps), std::move(body));
}

/// Steps of the pipeline, each of which fills some groups of rows while some columns leave.
int64_t steps_of_panel(const TileRun& rows, int64_t element_bytes, int64_t panel_columns) {
  return std::gcd(rows.extent() / (program::lane_bytes / element_bytes), panel_columns);
}

/// Panels of rows that are mixed fill the scratch, and all sets of the cache alike: .55 of the
/// ceiling for .56 with lines between. So do two of 256 rows of bytes.
int64_t panel_gap(const TileRun& rows, const RowMixing& mixing, const Machine& machine) {
  const int64_t line = machine.target.line_bytes;
  const StagedPanel panel(rows, rows.extent(), 0, machine, line);
  return mixing.mixes() || 2 * panel.bytes() > program::scratch_in_l1_bytes ? 0 : line;
}

/// Whether digits of rows and columns let panels of so many columns come in and leave step by step.
bool steps_come_out(const TileRun& rows, const TileRun& columns, int64_t panel_columns,
                    const Machine& machine) {
  const bool parted = columns.sides() > 1 || columns.is_spliced();
  const int64_t steps = steps_of_panel(rows, machine.element_bytes, panel_columns);
  return rows_fill_panels(rows, machine.element_bytes, panel_columns) &&
         (!parted || columns.divides(panel_columns / steps));
}

/// The panel of a box: a vector wide, or as wide as a line, if it has whole ones.
StagedPanel panel_of(const TileRun& rows, const TileRun& columns, const RowMixing& mixing,
                     const Strides& at, const Machine& machine) {
  const StagedPanel panel(rows, rows.extent(), at[1], machine, panel_gap(rows, mixing, machine));
  const StagedPanel wide = panel.of_lines();
  const bool lines = machine.wide_panels && !mixing.mixes() &&
                     columns.extent() % wide.columns() == 0 &&
                     steps_come_out(rows, columns, wide.columns(), machine);
  if (lines && machine.strips_rows && columns.extent() == wide.columns())
    return wide.by_strips(wide.bytes());
  return lines && 2 * wide.bytes() <= program::scratch_in_l1_bytes ? wide : panel;
}

// Rows of the target whose ends are asked for before they are written: none .35 of the ceiling, 4
// and 8 .60 (f32[96,75,75,96] reversed; 5 others alike).
constexpr int64_t claimed_columns_ahead = 4;

class StagedTranspose {
 public:
  StagedTranspose(const TileRun& rows, const TileRun& columns, const RowMixing& mixing,
                  const Strides& at, const Machine& machine)
      : machine_(machine), rows_(rows), columns_(columns), mixing_(mixing), at_(at) {
    const int64_t line = machine.target.line_bytes;
    const bool lines = whole_columns() * element_ % line == 0 && run_bytes() % line == 0;
    if (machine.ahead != 0 && whole_columns() > 0 && lines) {
      asks_ = {rows,
               whole_columns() * element_ / line,
               at[1] + machine.ahead,
               machine,
               {fill_steps(), whole_columns() / flushed_columns(), flushed_lines()}};
    }
  }

  int64_t scratch_bytes() const {
    const int64_t panels = std::clamp<int64_t>(whole_columns() / panel_columns_, 1, 2);
    return (by_turns() ? 1 : panels) * panel_bytes() + panel_.strip_bytes();
  }

  Body emit() const {
    Body body;
    if (whole_columns() > 0) body = by_turns() ? panels_by_turns() : whole_panels();
    if (whole_columns() < columns_.extent()) append(body, rest());
    // All of it lives on one scratch: wherever the box stands, it is one unit of work.
    return loop_always(1, {}, std::move(body));
  }

 private:
  /// A pipeline over the panels of the box: the first is filled; then each is filled while the one
  /// before it leaves; the last leaves. One loop for all that leave: what is asked for meanwhile
  /// does not begin anew with each.
  Body whole_panels() const {
    const int64_t panels = whole_columns() / panel_columns_;
    std::vector<Step> first = fill_loop(1);
    asks_.add_step_filling(first);
    Body body = loop(fill_steps(), std::move(first), body_of(fill(1, Asks::ahead)));
    if (panels > 1) {
      Block both = interleaved(fill(fill_steps() / flushes(), Asks::nothing),
                               flush(flushed_columns(), Asks::ahead));
      append(body,
             loop_always((panels - 1) * flushes(), pipeline_steps(), body_of(std::move(both))));
    }
    append(body, loop_always(1, last_panel_steps(panels - 1), last_panel(panels - 1)));
    return body;
  }

  /// Whether a pipeline would be much code, since groups of rows and columns have few steps in
  /// common: 192 rows of bytes, what blocks of 256 leave, 6.5 KB for 1.2.
  bool by_turns() const {
    const bool is_short = element_ == 1 || machine_.short_code;
    const bool alike = columns_.divides(panel_columns_);
    return is_short && alike && !mixing_.mixes() &&
           flushes() < std::min(fill_steps(), panel_columns_);
  }

  /// Each panel comes in, then it leaves.
  Body panels_by_turns() const {
    Body body = loop(fill_steps(), fill_loop(1), body_of(fill(1, Asks::nothing)));
    append(body, loop(panel_columns_, column_steps(1), body_of(flush(1, Asks::nothing))));
    return loop_always(whole_columns() / panel_columns_,
                       {{source_stream, panel_columns_ * element_},
                        columns_.step(target_stream, 0, panel_columns_)},
                       std::move(body));
  }

  /// Column by column: all that are flushed at once would be code of its own.
  Body last_panel(int64_t panel) const {
    std::vector<Step> steps =
        panels_alike() ? column_steps(flushed_columns()) : column_steps_of(panel);
    asks_.add_step(steps, panel * flushes());
    if (flushed_columns() == 1)
      return loop(flushes(), std::move(steps), body_of(flush(1, Asks::ahead)));
    Emitter asking(machine_.target, machine_.vector_bytes);
    for (int64_t line = 0; line < flushed_lines(); ++line) ask(asking, line);
    Body body = body_of(asking.take());
    append(body, loop(flushed_columns(), column_steps(1), body_of(flush(1, Asks::nothing))));
    return loop(flushes(), std::move(steps), std::move(body));
  }

  /// Columns that make no whole panel. Their rows are asked for where the next box has them: some
  /// processors do not read ahead of loads through masks. (Zen 5: rows of 40 bytes one after the
  /// other 15 -> 45 GB/s, u8[512,2048,40]{1,2,0} .27 -> 1.0 of the ceiling.)
  Body rest() const {
    const int64_t first = whole_columns();
    Emitter in(machine_.target, machine_.vector_bytes), out(machine_.target, machine_.vector_bytes);
    panel_.first_columns(columns_.extent() - first)
        .fill(in, 1, scratch_stream, {}, asked_ahead(machine_));
    for (int64_t begin = 0; begin < run_bytes(); begin += vector_)
      store(out, panel_.line(out, 0, begin), at_[0] + begin);
    Body body = loop(fill_steps(), fill_loop(1), body_of(in.take()));
    std::vector<Step> steps = columns_.steps(target_stream, 0, 1, {target_stream}, first);
    steps.push_back(panel_step(1));
    append(body, loop_always(columns_.extent() - first, std::move(steps), body_of(out.take())));
    return loop_always(1, {{source_stream, 0, first * element_}}, std::move(body));
  }

  /// Whether columns of all panels lie alike: digits of the columns end where panels do.
  bool panels_alike() const { return !columns_.is_spliced() && columns_.divides(panel_columns_); }
  int64_t whole_columns() const { return columns_.extent() / panel_columns_ * panel_columns_; }
  int64_t run_bytes() const { return rows_.extent() * element_; }
  /// Of all rows that are mixed, one behind the other.
  int64_t panel_bytes() const { return mixing_.from.rows * panel_.bytes(); }
  /// Groups of rows that fill a panel.
  int64_t fill_steps() const { return panel_.groups(); }
  /// Columns that leave while some groups are filled: loops over either are one.
  int64_t flushed_columns() const { return panel_columns_ / flushes(); }
  int64_t flushes() const { return steps_of_panel(rows_, element_, panel_columns_); }
  int64_t flushed_lines() const { return flushed_columns() * (run_bytes() / vector_); }

  /// Whether code asks for the box ahead.
  enum class Asks : uint8_t { nothing, ahead };

  /// Asks for what goes with a line that leaves, of each row that is mixed.
  void ask(Emitter& emitter, int64_t line) const {
    for (int64_t row = 0; row < mixing_.from.rows; ++row)
      asks_.ask(emitter, line, row * mixing_.from.stride);
  }

  // ---- filling: `groups` groups of rows at once

  std::vector<Step> fill_loop(int64_t groups) const {
    return panel_.fill_steps(groups, scratch_stream);
  }

  Block fill(int64_t groups, Asks asks) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t row = 0; row < mixing_.from.rows; ++row) {
      if (asks == Asks::ahead) asks_.ask_filling(emitter, row * mixing_.from.stride);
      panel_.fill(emitter, groups, scratch_stream,
                  {row * mixing_.from.stride, row * panel_.bytes()});
    }
    return emitter.take();
  }

  // ---- flushing: `rows` rows of the target at once; row r is lane r / group of panel[r % group]

  std::vector<Step> column_steps(int64_t rows) const {
    return {columns_.step(target_stream, 0, rows), panel_step(rows)};
  }

  /// Of panel `panel`, from where the first one stands.
  std::vector<Step> column_steps_of(int64_t panel) const {
    std::vector<Step> steps =
        columns_.steps(target_stream, 0, flushed_columns(), {target_stream}, panel * flushes());
    steps.push_back(panel_step(flushed_columns()));
    return steps;
  }

  Step panel_step(int64_t rows) const {
    if (rows % group_ == 0) return {panel_stream, rows / group_ * 16};
    return {panel_stream, rows * panel_.pitch(), 0, 0, {{group_ / rows, 16}}};
  }

  Block flush(int64_t rows, Asks asks) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t row = 0; row < rows; ++row) flush(emitter, row, asks);
    return emitter.take();
  }

  /// A row of the target after the other: memory takes lines that lie side by side faster. (s4
  /// 4096 x 4096 .62 -> .72 of the ceiling.)
  void flush(Emitter& emitter, int64_t column, Asks asks) const {
    if (machine_.shifts_runs) return flush_shifted(emitter, column, asks);
    std::vector<std::vector<Reg>> lines;
    for (int64_t begin = 0; begin < run_bytes(); begin += vector_) {
      if (asks == Asks::ahead) ask(emitter, (column * run_bytes() + begin) / vector_);
      lines.push_back(mixed_rows(emitter, mixing_, [&](int64_t row) {
        return panel_.line(emitter, column, begin, row * panel_.bytes());
      }));
      store(emitter, lines.back().front(), at_[0] + columns_.at(0, column) + begin);
    }
    for (int64_t row = 1; row < mixing_.to.rows; ++row) {
      int64_t offset = at_[0] + columns_.at(0, column) + row * mixing_.to.stride;
      for (const std::vector<Reg>& line : lines) {
        store(emitter, line[static_cast<size_t>(row)], offset);
        offset += vector_;
      }
    }
  }

  /// The same of a row that begins anywhere in a line. Its ends leave by masks, and their lines are
  /// asked for some rows before.
  void flush_shifted(Emitter& emitter, int64_t column, Asks asks) const {
    const int64_t first = columns_.at(0, column), count = run_bytes() / vector_;
    const int64_t next =
        at_[0] + first + claimed_columns_ahead * columns_.digits().front().stride[0];
    emitter.claim(next);
    emitter.claim(next + run_bytes());
    const auto vector = [&](int64_t k) {
      if (asks == Asks::ahead) ask(emitter, column * count + k);
      return panel_.line(emitter, column, k * vector_);
    };
    shifted_run(emitter, machine_, at_[0] + first, count, vector);
  }

  void store(Emitter& emitter, Reg line, int64_t offset) const {
    if (machine_.nontemporal) {
      emitter.store_nontemporal(line, target_stream, offset);
    } else {
      emitter.store(line, target_stream, offset, machine_.vector_bytes);
    }
  }

  // ---- the pipeline: the panel that is filled runs one ahead of the one that leaves

  std::vector<Step> pipeline_steps() const {
    const auto ping_pong = [&](int stream) { return Step{stream, panel_bytes(), 0, 0, {{2, 0}}}; };
    const int64_t groups = fill_steps() / flushes();
    std::vector<Step> steps = columns_.steps(target_stream, 0, flushed_columns(), {target_stream});
    steps.push_back(then(panel_step(flushed_columns()), flushes(), ping_pong(panel_stream)));
    const Step along{source_stream, panel_columns_ * element_};
    for (Step& step : panel_.source_steps(groups, along, flushes()))
      steps.push_back(std::move(step));
    steps.push_back(
        then(panel_.scratch_step(groups, scratch_stream), flushes(), ping_pong(scratch_stream)));
    steps.back().phase = flushes();
    asks_.add_step(steps, 0);
    return steps;
  }

  std::vector<Step> last_panel_steps(int64_t panel) const {
    const int64_t first = panels_alike() ? columns_.at(0, panel * panel_columns_) : 0;
    return {{target_stream, 0, first}, {panel_stream, 0, panel % 2 * panel_bytes()}};
  }

  const Machine& machine_;
  TileRun rows_;     // make runs of the target
  TileRun columns_;  // make runs of the source
  RowMixing mixing_;
  Strides at_;
  int64_t element_ = machine_.element_bytes;
  int64_t vector_ = machine_.vector_bytes;
  StagedPanel panel_ = panel_of(rows_, columns_, mixing_, at_, machine_);
  int64_t group_ = panel_.group_rows();
  int64_t panel_columns_ = panel_.columns();
  PacedAsks asks_;
};

// Of what makes no whole panel, fewer columns are not worth one: behind whole ones, and alone.
constexpr int64_t least_rest_share = 4, least_share_alone = 2;

/// Whether columns that make no whole panel may be one: they are loaded by masks.
bool can_stage_rest(const TileRun& columns, const RowMixing& mixing, const Machine& machine) {
  const int64_t panel = machine.vector_bytes / machine.element_bytes;
  const int64_t share = columns.extent() > panel ? least_rest_share : least_share_alone;
  return machine.target.byte_masks && machine.element_bytes <= widest_rest_bytes &&
         !mixing.mixes() && !columns.is_spliced() && share * (columns.extent() % panel) >= panel;
}

}  // namespace

bool rows_fill_panels(const TileRun& rows, int64_t element_bytes, int64_t panel_columns) {
  return rows.divides(program::lane_bytes / element_bytes) &&
         rows.divides(rows.extent() / steps_of_panel(rows, element_bytes, panel_columns));
}

bool can_stage(const TileRun& rows, const TileRun& columns, const RowMixing& mixing,
               const Machine& machine) {
  const int64_t element = machine.element_bytes, vector = machine.vector_bytes;
  if (!machine.streams || !has_panels(machine.staging) || element >= 16) return false;
  if (!rows.is_contiguous(0, element) || !columns.is_contiguous(1, element)) return false;
  const int64_t group = program::lane_bytes / element, panel_columns = vector / element;
  if (rows.extent() % panel_columns != 0) return false;
  if (rows.extent() == panel_columns && !machine.stages_lines && !mixing.mixes()) return false;
  const bool whole = columns.extent() % panel_columns == 0;
  const bool alike = steps_come_out(rows, columns, panel_columns, machine) &&
                     (whole || can_stage_rest(columns, mixing, machine));
  const StagedPanel panel = panel_of(rows, columns, mixing, {}, machine);
  // One by strips has no other beside it.
  const bool fits = panel.strip_bytes() > 0 ||
                    2 * mixing.from.rows * panel.bytes() <= program::scratch_in_l1_bytes;
  // Lines of a column, beside a group that is filled meanwhile.
  const int64_t kept = (mixing.to.rows - 1) * (rows.extent() * element / vector) + 8 / mixing.bits;
  // Halves of a group take more than their columns while the rows come in.
  const int64_t filled = mixing.mixes() ? group : registers_of_network(element, machine.target);
  return alike && fits && filled + kept <= machine.target.registers;
}

Body emit_staged_transpose(const TileRun& rows, const TileRun& columns, const RowMixing& mixing,
                           const Strides& at, const Machine& machine, int64_t& scratch_bytes) {
  const StagedTranspose transpose(rows, columns, mixing, at, machine);
  scratch_bytes = std::max(scratch_bytes, transpose.scratch_bytes());
  return transpose.emit();
}

}  // namespace restride
