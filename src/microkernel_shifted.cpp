// Transposes of a box whose rows of the target begin between lines, for arrays that do not stay in
// the caches.
//
// The rows of the box come in by chunks that make whole vectors of the target, a panel of columns
// at a time. What a panel has for a column is rotated to where it stands in lines; with what the
// chunk before left over it makes a line, which leaves around the caches, and what begins the next
// line is kept in scratch:
//
//     target  ...|line................|line................|...
//     chunks      ....aaaaaaaaaaaaaaaa|aaaabbbbbbbbbbbbbbbb|bbbb
//     rotated         left over: .aaaa          bbbb
//
// So no line is written twice but where the box begins and ends. There it leaves by masks that keep
// within the box: a store that touches a line on its way around the caches calls it back. What the
// next chunk reads is asked for meanwhile.
#include <algorithm>
#include <utility>

#include "arithmetic.hpp"
#include "box_ahead.hpp"
#include "emitter.hpp"
#include "microkernel.hpp"
#include "staged_panel.hpp"
#include "tile_run.hpp"

namespace restride {
namespace {

using program::Body;
using program::Reg;
using program::Step;

int64_t chunk_rows(const Machine& machine) {
  return shifted_chunk_lines(machine.element_bytes) * machine.vector_bytes / machine.element_bytes;
}

class ShiftedTranspose {
 public:
  ShiftedTranspose(const TileRun& rows, const TileRun& columns, const Strides& at,
                   const Machine& machine, Tables& tables)
      : machine_(machine),
        tables_(tables),
        rows_(rows),
        columns_(columns),
        at_(at),
        panel_(rows, chunk_rows(machine), at[1], machine),
        ahead_(rows.first(chunk_rows(machine)), columns, at[1], machine, {panel_.columns()}) {}

  int64_t scratch_bytes() const { return panel_at() + 2 * panel_.bytes(); }

  Body emit() const {
    Body body = first_chunk();
    if (chunks_ > 1) append(body, other_chunks());
    append(body, ends_out());
    // All of it lives on one scratch: wherever the box stands, it is one unit of work.
    return loop_always(1, {}, std::move(body));
  }

 private:
  int64_t chunk_bytes() const { return shifted_chunk_lines(machine_.element_bytes) * line_; }
  /// Where chunk `chunk` begins in the source.
  int64_t after(int64_t chunk) const { return rows_.at(1, chunk * chunk_rows(machine_)); }

  /// Behind what is left over.
  int64_t panel_at() const { return columns_.extent() * line_; }

  /// Bytes of a line that come before the chunks of a column of a panel.
  int64_t left_over(int64_t column) const {
    return remainder_above(at_[0] + columns_.at(0, column), line_);
  }

  // ---- loops

  std::vector<Step> asks_in(std::vector<Step> steps, int64_t start) const {
    if (ahead_.asks()) steps.push_back({prefetch_stream, 0, start});
    return steps;
  }

  /// Of what was left over, and of the target.
  std::vector<Step> panel_steps() const {
    return {columns_.step(target_stream, 0, panel_.columns()),
            {left_over_stream, panel_.columns() * line_}};
  }

  Body panel_in() const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    panel_.fill(emitter, 1, scratch_stream, {0, panel_at()});
    return loop_always(panel_.groups(), panel_.fill_steps(1, scratch_stream), {emitter.take()});
  }

  /// Each panel comes in, then its columns leave.
  Body first_chunk() const {
    Body body = panel_in();
    body.push_back(lines_out(Chunk::first));
    std::vector<Step> steps = panel_steps();
    steps.push_back({source_stream, line_});
    ahead_.add_panel_step(steps);
    return loop_always(1, asks_in({}, chunks_ > 1 ? after(1) : machine_.ahead),
                       loop_always(panels_, std::move(steps), std::move(body)));
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
      // Behind the last chunk comes the first one of the box ahead.
      steps.back().wraps.push_back({chunks_ - 2, machine_.ahead - after(2)});
      if (chunks_ == 2) steps.back().wraps.pop_back();
    }
    Emitter emitter(machine_.target, machine_.vector_bytes);
    panel_.fill(emitter, panel_.groups(), scratch_stream, {0, panel_at()});
    Body body = panel_in();
    append(body, loop_always((chunks_ - 1) * panels_, std::move(steps),
                             {interleaved(emitter.take(), lines_out(Chunk::other))}));
    return loop_always(1,
                       asks_in({{source_stream, 0, after(1)}, {target_stream, 0, chunk_bytes()}},
                               chunks_ > 2 ? after(2) : machine_.ahead),
                       std::move(body));
  }

  // ---- what leaves

  enum class Chunk : uint8_t { first, other };

  program::Block lines_out(Chunk which) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t column = 0; column < panel_.columns(); ++column) {
      Reg before = program::none;
      for (int64_t begin = 0; begin < chunk_bytes(); begin += line_) {
        const Reg chunk = rotated(emitter, column, begin);
        if (which == Chunk::first && begin == 0) {
          begin_out(emitter, chunk, column);
        } else {
          line_out(emitter, joined(emitter, chunk, before, column), column, begin);
        }
        ahead_.ask(emitter, column, begin);
        before = chunk;
      }
      leave_over(emitter, before, column);
    }
    return emitter.take();
  }

  /// What a run begins with, up to the first line that is all its own.
  void begin_out(Emitter& emitter, Reg chunk, int64_t column) const {
    const int64_t part = left_over(column);
    if (part == 0) return line_out(emitter, chunk, column, 0);
    emitter.store_part(chunk, target_stream, at_[0] + columns_.at(0, column),
                       static_cast<int>(line_ - part), static_cast<int>(part));
  }

  /// What the last chunk has left over.
  Body ends_out() const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t column = 0; column < panel_.columns(); ++column) {
      const int64_t part = left_over(column);
      if (part == 0) continue;
      const Reg rest = emitter.load(left_over_stream, column * line_, machine_.vector_bytes);
      emitter.store_part(rest, target_stream,
                         at_[0] + columns_.at(0, column) + chunks_ * chunk_bytes() - part,
                         static_cast<int>(part), 0);
    }
    return loop_always(panels_, panel_steps(), {emitter.take()});
  }

  void line_out(Emitter& emitter, Reg line, int64_t column, int64_t begin) const {
    emitter.store_nontemporal(line, target_stream,
                              at_[0] + columns_.at(0, column) + begin - left_over(column));
  }

  void leave_over(Emitter& emitter, Reg chunk, int64_t column) const {
    if (left_over(column) == 0) return;
    emitter.store(chunk, left_over_stream, column * line_, machine_.vector_bytes);
  }

  /// A vector of a column, its last bytes first: those that begin the next line.
  Reg rotated(Emitter& emitter, int64_t column, int64_t begin) const {
    const Reg chunk = panel_.line(emitter, column, begin, panel_at());
    // Pairs of bytes are permuted as bytes where those are: it takes a step less.
    const bool bytes = machine_.target.permute_width == 1 && machine_.element_bytes <= 2;
    const int64_t width = bytes ? 1 : table_width();
    const int64_t count = line_ / width, by = left_over(column) / width;
    if (by == 0) return chunk;
    std::vector<uint8_t> table;
    for (int64_t k = 0; k < count; ++k) {
      table.push_back(static_cast<uint8_t>((k + count - by) % count));
    }
    return emitter.permute(static_cast<int>(width), chunk, program::none,
                           tables_.add(std::move(table)));
  }

  /// With what was left over: by `before`, or in scratch if there is none.
  Reg joined(Emitter& emitter, Reg chunk, Reg before, int64_t column) const {
    const int64_t part = left_over(column);
    if (part == 0) return chunk;
    if (before == program::none) {
      return emitter.load_part(chunk, left_over_stream, column * line_, {part, 0});
    }
    const int64_t count = line_ / table_width(), first = part / table_width();
    std::vector<uint8_t> table;
    for (int64_t k = 0; k < count; ++k) {
      table.push_back(static_cast<uint8_t>(k < first ? count + k : k));
    }
    return emitter.permute(table_width(), chunk, before, tables_.add(std::move(table)));
  }

  /// Of the elements that tables choose.
  int table_width() const { return static_cast<int>(std::min<int64_t>(machine_.element_bytes, 8)); }

  const Machine& machine_;
  Tables& tables_;
  TileRun rows_;     // make runs of the target
  TileRun columns_;  // make runs of the source
  Strides at_;
  StagedPanel panel_;
  BoxAhead ahead_;
  int64_t line_ = machine_.vector_bytes;
  int64_t panels_ = columns_.extent() / panel_.columns();
  int64_t chunks_ = rows_.extent() / chunk_rows(machine_);
};

/// Whether every panel begins where the one before it does in a line.
bool begins_alike(const Step& panels, int64_t line) {
  return panels.stride % line == 0 &&
         std::all_of(panels.wraps.begin(), panels.wraps.end(),
                     [&](const program::Wrap& wrap) { return wrap.stride % line == 0; });
}

}  // namespace

bool can_shift(const TileRun& rows, const TileRun& columns, const Machine& machine) {
  const int64_t element = machine.element_bytes, line = machine.vector_bytes;
  const Target& target = machine.target;
  if (!machine.streams || machine.nontemporal || machine.alignment % line != 0 ||
      line != target.line_bytes || !target.byte_masks || target.permute_width == 0 ||
      target.permute_width > element || 16 / element >= target.registers) {
    return false;
  }
  if (!rows.is_contiguous(0, element) || !columns.is_contiguous(1, element)) return false;
  const StagedPanel panel(rows, chunk_rows(machine), 0, machine);
  if (rows.sides() != 1 || rows.extent() % chunk_rows(machine) != 0 ||
      rows.extent() * element < target.shifting_run_bytes || !columns.divides(panel.columns()) ||
      columns.extent() == panel.columns() ||
      columns.extent() * line + 2 * panel.bytes() > program::max_scratch_bytes) {
    return false;
  }
  return begins_alike(columns.step(target_stream, 0, panel.columns()), line);
}

Body emit_shifted_transpose(const TileRun& rows, const TileRun& columns, const Strides& at,
                            const Machine& machine, Tables& tables, int64_t& scratch_bytes) {
  const ShiftedTranspose transpose(rows, columns, at, machine, tables);
  scratch_bytes = std::max(scratch_bytes, transpose.scratch_bytes());
  return transpose.emit();
}

}  // namespace restride
