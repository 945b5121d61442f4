// Transposes of a box through a panel in L1, for arrays that do not stay in the caches.
//
// A panel is filled while the one before it leaves, operation by operation: a burst of shuffles
// would keep memory waiting.
//
//     fill    every row of the box is read once, a whole vector at a time; groups of 16 / element
//     rows are transposed
//             inside the lanes and stored as they are:
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

#include "microkernel/box_ahead.hpp"
#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/packed/row_mixing.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/staged_panel.hpp"

namespace restride {
namespace {

using program::Block;
using program::Body;
using program::Reg;
using program::Step;

Body loop(int64_t extent, std::vector<Step> steps, Body body) {
  return extent == 1 ? std::move(body) : loop_always(extent, std::move(steps), std::move(body));
}

/// Panels of rows that are mixed fill the scratch, and all sets of the cache alike: .55 of the
/// ceiling for .56 with lines between. So do two of 256 rows of bytes.
int64_t panel_gap(const TileRun& rows, const RowMixing& mixing, const Machine& machine) {
  const int64_t line = machine.target.line_bytes;
  const StagedPanel panel(rows, rows.extent(), 0, machine, line);
  return mixing.mixes() || 2 * panel.bytes() > program::max_scratch_bytes ? 0 : line;
}

class StagedTranspose {
 public:
  StagedTranspose(const TileRun& rows, const TileRun& columns, const RowMixing& mixing,
                  const Strides& at, const Machine& machine)
      : machine_(machine),
        rows_(rows),
        columns_(columns),
        mixing_(mixing),
        at_(at),
        box_ahead_(rows, whole_columns() > 0 ? columns.first(whole_columns()) : columns,
                   at[1] + machine.ahead, machine, {1, flushed_columns()}) {}

  int64_t scratch_bytes() const {
    return std::clamp<int64_t>(whole_columns() / panel_columns_, 1, 2) * panel_bytes();
  }

  Body emit() const {
    Body body;
    if (whole_columns() > 0) body = whole_panels();
    if (whole_columns() < columns_.extent()) append(body, rest());
    // All of it lives on one scratch: wherever the box stands, it is one unit of work.
    return loop_always(1, {}, std::move(body));
  }

 private:
  /// A pipeline over the panels of the box: the first is filled; then each is filled while the one
  /// before it leaves; the last leaves.
  Body whole_panels() const {
    const int64_t panels = whole_columns() / panel_columns_;
    Body body = loop(fill_steps(), fill_loop(1), body_of(fill(1)));
    if (panels > 1) {
      const int64_t steps = panel_columns_ / flushed_columns();
      std::vector<Step> inner = fill_loop(fill_steps() / steps);
      for (Step& step : flush_loop(flushed_columns())) inner.push_back(std::move(step));
      Block both = interleaved(fill(fill_steps() / steps), flush(flushed_columns()));
      append(body, loop_always(panels - 1, pipeline_steps(),
                               loop(steps, std::move(inner), body_of(std::move(both)))));
    }
    append(body, loop_always(1, last_panel_steps(panels - 1),
                             loop(panel_columns_, flush_loop(1), body_of(flush(1)))));
    return body;
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
    append(body, loop(columns_.extent() - first, column_steps(1), body_of(out.take())));
    return loop_always(1,
                       {{source_stream, 0, first * element_},
                        {target_stream, 0, first * columns_.digits().front().stride[0]}},
                       std::move(body));
  }

  int64_t whole_columns() const { return columns_.extent() / panel_columns_ * panel_columns_; }
  int64_t run_bytes() const { return rows_.extent() * element_; }
  /// Of all rows that are mixed, one behind the other.
  int64_t panel_bytes() const { return mixing_.from.rows * panel_.bytes(); }
  /// Groups of rows that fill a panel.
  int64_t fill_steps() const { return panel_.groups(); }
  /// Columns that leave while some groups are filled: loops over either are one.
  int64_t flushed_columns() const {
    return panel_columns_ / std::gcd(fill_steps(), panel_columns_);
  }

  // ---- filling: `groups` groups of rows at once

  std::vector<Step> fill_loop(int64_t groups) const {
    return panel_.fill_steps(groups, scratch_stream);
  }

  Block fill(int64_t groups) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t row = 0; row < mixing_.from.rows; ++row) {
      panel_.fill(emitter, groups, scratch_stream,
                  {row * mixing_.from.stride, row * panel_.bytes()});
    }
    return emitter.take();
  }

  // ---- flushing: `rows` rows of the target at once; row r is lane r / group of panel[r % group]

  std::vector<Step> flush_loop(int64_t rows) const {
    std::vector<Step> steps = column_steps(rows);
    box_ahead_.add_step(steps, rows);
    return steps;
  }

  std::vector<Step> column_steps(int64_t rows) const {
    std::vector<Step> steps{columns_.step(target_stream, 0, rows)};
    if (rows % group_ == 0) {
      steps.push_back({panel_stream, rows / group_ * 16});
    } else {
      steps.push_back({panel_stream, rows * panel_.pitch(), 0, 0, {{group_ / rows, 16}}});
    }
    return steps;
  }

  Block flush(int64_t rows) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t row = 0; row < rows; ++row) flush(emitter, row);
    return emitter.take();
  }

  /// A row of the target after the other: memory takes lines that lie side by side faster. (s4
  /// 4096 x 4096 .62 -> .72 of the ceiling.)
  void flush(Emitter& emitter, int64_t column) const {
    std::vector<std::vector<Reg>> lines;
    for (int64_t begin = 0; begin < run_bytes(); begin += vector_) {
      lines.push_back(mixed_rows(emitter, mixing_, [&](int64_t row) {
        box_ahead_.ask(emitter, column, begin, row * mixing_.from.stride);
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

  void store(Emitter& emitter, Reg line, int64_t offset) const {
    if (machine_.nontemporal) {
      emitter.store_nontemporal(line, target_stream, offset);
    } else {
      emitter.store(line, target_stream, offset, machine_.vector_bytes);
    }
  }

  // ---- the pipeline: the panel that is filled runs one ahead of the one that leaves

  std::vector<Step> pipeline_steps() const {
    std::vector<Step> steps{columns_.step(target_stream, 0, panel_columns_),
                            {source_stream, vector_, 0, 1},
                            {scratch_stream, panel_bytes(), 0, 1, {{2, 0}}},
                            {panel_stream, panel_bytes(), 0, 0, {{2, 0}}}};
    box_ahead_.add_panel_step(steps);
    return steps;
  }

  std::vector<Step> last_panel_steps(int64_t panel) const {
    std::vector<Step> steps{{target_stream, 0, columns_.at(0, panel * panel_columns_)},
                            {panel_stream, 0, panel % 2 * panel_bytes()}};
    if (box_ahead_.asks()) {
      steps.push_back({prefetch_stream, 0, box_ahead_.panel_offset(panel)});
    }
    return steps;
  }

  const Machine& machine_;
  TileRun rows_;     // make runs of the target
  TileRun columns_;  // make runs of the source
  RowMixing mixing_;
  Strides at_;
  int64_t element_ = machine_.element_bytes;
  int64_t vector_ = machine_.vector_bytes;
  StagedPanel panel_{rows_, rows_.extent(), at_[1], machine_, panel_gap(rows_, mixing_, machine_)};
  int64_t group_ = panel_.group_rows();
  int64_t panel_columns_ = panel_.columns();
  BoxAhead box_ahead_;
};

// Of what makes no whole panel, fewer columns are not worth one: behind whole ones, and alone.
constexpr int64_t least_rest_share = 4, least_share_alone = 2;

/// Whether columns that make no whole panel may be one: they are loaded by masks.
bool can_stage_rest(const TileRun& columns, const RowMixing& mixing, const Machine& machine) {
  const int64_t panel = machine.vector_bytes / machine.element_bytes;
  const int64_t share = columns.extent() > panel ? least_rest_share : least_share_alone;
  return machine.target.byte_masks && machine.element_bytes <= widest_rest_bytes &&
         !mixing.mixes() && columns.sides() == 1 && share * (columns.extent() % panel) >= panel;
}

}  // namespace

bool can_stage(const TileRun& rows, const TileRun& columns, const RowMixing& mixing,
               const Machine& machine) {
  const int64_t element = machine.element_bytes, vector = machine.vector_bytes;
  if (!machine.streams || machine.staging != Staging::panels || element >= 16) return false;
  if (!rows.is_contiguous(0, element) || !columns.is_contiguous(1, element)) return false;
  const int64_t group = 16 / element, panel_columns = vector / element;
  if (rows.extent() % panel_columns != 0) return false;
  if (rows.extent() == panel_columns && !mixing.mixes()) return false;
  // The pipeline fills some groups of rows while some columns leave.
  const int64_t steps = std::gcd(rows.extent() / group, panel_columns);
  const bool whole = columns.divides(panel_columns) && columns.divides(panel_columns / steps);
  const bool alike = rows.divides(group) && rows.divides(rows.extent() / steps) &&
                     (whole || can_stage_rest(columns, mixing, machine));
  const StagedPanel panel(rows, rows.extent(), 0, machine, panel_gap(rows, mixing, machine));
  // Lines of a column, beside a group that is filled meanwhile.
  const int64_t kept = (mixing.to.rows - 1) * (rows.extent() * element / vector) + 8 / mixing.bits;
  // Halves of a group take more than their columns while the rows come in.
  const int64_t filled = mixing.mixes() ? group : StagedPanel::columns_at_once(machine);
  return alike && 2 * mixing.from.rows * panel.bytes() <= program::max_scratch_bytes &&
         filled + kept <= machine.target.registers;
}

Body emit_staged_transpose(const TileRun& rows, const TileRun& columns, const RowMixing& mixing,
                           const Strides& at, const Machine& machine, int64_t& scratch_bytes) {
  const StagedTranspose transpose(rows, columns, mixing, at, machine);
  scratch_bytes = std::max(scratch_bytes, transpose.scratch_bytes());
  return transpose.emit();
}

}  // namespace restride
