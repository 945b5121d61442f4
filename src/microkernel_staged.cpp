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
// Half of the shuffles of a transpose are loads this way; every line of the source is touched once,
// which power-of-two pitches need; and the target is written in runs of several lines, which memory
// needs: a transpose alone makes runs of one.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "emitter.hpp"
#include "microkernel.hpp"
#include "transpose_network.hpp"

namespace restride {
namespace {

using nest::Side;
using program::Block;
using program::Body;
using program::For;
using program::Reg;
using program::Step;

/// A loop even around a single iteration: its steps have starts.
Body loop_always(int64_t extent, std::vector<Step> steps, Body body) {
  Body result;
  result.push_back(For{extent, std::move(steps), std::move(body)});
  return result;
}

Body loop(int64_t extent, std::vector<Step> steps, Body body) {
  return extent == 1 ? std::move(body) : loop_always(extent, std::move(steps), std::move(body));
}

// What a plan keeps on the stack for a kernel; L1 has to hold it beside the lines that pass.
constexpr int64_t most_scratch_bytes = 32 * 1024;

/// Whether the rows of a box begin between lines, by phases that are known, and whole lines are cut
/// out of them.
bool shifts(const Machine& machine) {
  const Target& target = machine.target;
  return !machine.nontemporal && machine.alignment % machine.vector_bytes == 0 &&
         target.byte_masks && target.permute_width > 0 &&
         target.permute_width <= machine.element_bytes;
}

class StagedTranspose {
 public:
  StagedTranspose(const Side& rows, const Side& columns, const Strides& at, const Machine& machine,
                  Tables& tables)
      : machine_(machine), tables_(tables), rows_(rows), columns_(columns), at_(at) {}

  /// A pipeline over the panels of the box: the first is filled; then each is filled while the one
  /// before it leaves; the last leaves.
  Body emit(int64_t& scratch_bytes) const {
    if (shifts(machine_)) return emit_shifted(scratch_bytes);
    const int64_t panels = columns_.extent / panel_columns_;
    scratch_bytes = std::max(scratch_bytes, std::min<int64_t>(panels, 2) * panel_bytes());
    Body body = loop(fill_steps(), fill_loop(1), {fill(1)});
    if (panels > 1) {
      const int64_t steps = std::min(fill_steps(), panel_columns_);
      std::vector<Step> inner = fill_loop(fill_steps() / steps);
      for (Step& step : flush_loop(panel_columns_ / steps)) inner.push_back(std::move(step));
      Block both = interleaved(fill(fill_steps() / steps), flush(panel_columns_ / steps));
      append(body, loop_always(panels - 1, pipeline_steps(),
                               loop(steps, std::move(inner), {std::move(both)})));
    }
    append(body, loop_always(1, last_panel_steps(panels - 1),
                             loop(panel_columns_, flush_loop(1), {flush(1)})));
    // The three live on one scratch: wherever the box stands, they are one unit of work.
    return loop_always(1, {}, std::move(body));
  }

 private:
  int64_t run_bytes() const { return rows_.extent * element_; }
  /// Bytes between panel[k] and panel[k + 1]: a line more than they hold, since a power of two
  /// would put them all into one set of the cache.
  int64_t pitch() const { return rows_.extent / group_ * vector_ + 64; }

  int64_t panel_bytes() const { return group_ * pitch(); }
  /// Groups of rows that fill a panel.
  int64_t fill_steps() const { return rows_.extent / group_; }

  // ---- filling: `groups` groups of rows at once

  std::vector<Step> fill_loop(int64_t groups) const {
    return {{source_stream, groups * group_ * rows_.stride[1]}, {scratch_stream, groups * vector_}};
  }

  Block fill(int64_t groups) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t group = 0; group < groups; ++group) {
      const auto load = [&](int row) {
        return emitter.load(source_stream, at_[1] + (group * group_ + row) * rows_.stride[1],
                            machine_.vector_bytes);
      };
      const std::array<Reg, 16> columns =
          transpose_in_lanes(emitter, static_cast<int>(element_), load);
      for (int k = 0; k < group_; ++k) {
        emitter.store(columns[static_cast<size_t>(k)], scratch_stream,
                      k * pitch() + group * vector_, machine_.vector_bytes);
      }
    }
    return emitter.take();
  }

  // ---- flushing: `rows` rows of the target at once; row r is lane r / group of panel[r % group]

  std::vector<Step> flush_loop(int64_t rows) const {
    std::vector<Step> steps{{target_stream, rows * columns_.stride[0]}};
    if (rows % group_ == 0) {
      steps.push_back({panel_stream, rows / group_ * 16});
    } else {
      steps.push_back({panel_stream, rows * pitch(), 0, 0, {{group_ / rows, 16}}});
    }
    add_step_ahead(steps, rows);
    return steps;
  }

  /// A vector of row `row`, from byte `begin` of it on.
  Reg panel_line(Emitter& emitter, int64_t row, int64_t begin) const {
    const int64_t from = row % group_ * pitch() + row / group_ * 16;
    Reg line = program::none;
    for (int lane = 0; lane < emitter.lanes(); ++lane) {
      const int64_t group = begin / 16 + lane;
      line = emitter.load_lane(line, panel_stream, from + group * vector_, 16, 16 * lane);
    }
    return line;
  }

  Block flush(int64_t rows) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t begin = 0; begin < run_bytes(); begin += vector_) {
        const Reg line = panel_line(emitter, row, begin);
        const int64_t offset = at_[0] + row * columns_.stride[0] + begin;
        if (machine_.nontemporal) {
          emitter.store_nontemporal(line, target_stream, offset);
        } else {
          emitter.store(line, target_stream, offset, machine_.vector_bytes);
        }
        if (asks_ahead() && begin % line_bytes() == 0)
          ask_ahead(emitter, row * run_bytes() + begin);
      }
    }
    return emitter.take();
  }

  // ---- rows of the target that begin between lines: each by a phase of its own, the same in every
  // panel

  /// How far behind a line of the target row `row` begins, bytes.
  int64_t phase(int64_t row) const {
    const int64_t begin = (at_[0] + row * columns_.stride[0]) % vector_;
    return begin < 0 ? begin + vector_ : begin;
  }

  Body emit_shifted(int64_t& scratch_bytes) const {
    scratch_bytes = std::max(scratch_bytes, panel_bytes());
    Body body = loop(fill_steps(), fill_loop(1), {fill(1)});
    body.push_back(flush_shifted());
    std::vector<Step> steps{{target_stream, panel_columns_ * columns_.stride[0]},
                            {source_stream, vector_}};
    add_step_ahead(steps, panel_columns_);
    return loop_always(1, {},
                       loop(columns_.extent / panel_columns_, std::move(steps), std::move(body)));
  }

  /// All rows of a panel, straight: every phase has a table of its own.
  Block flush_shifted() const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t row = 0; row < panel_columns_; ++row) flush_shifted_row(emitter, row);
    return emitter.take();
  }

  /// The bytes before the first line, the lines, the bytes behind the last line. Neighbouring boxes
  /// share those two. Every store keeps within one line, even by bytes that it masks: a store that
  /// touches a line on its way around the caches calls it back.
  void flush_shifted_row(Emitter& emitter, int64_t row) const {
    const int64_t to = at_[0] + row * columns_.stride[0];
    const int64_t tail = phase(row), head = (vector_ - tail) % vector_;
    Reg before = program::none;
    for (int64_t begin = 0; begin < run_bytes(); begin += vector_) {
      const Reg part = panel_line(emitter, row, begin);
      const Reg line =
          head == 0 ? part : shifted(emitter, before == program::none ? part : before, part, head);
      if (head == 0 || before != program::none) {
        emitter.store_nontemporal(line, target_stream, to + begin - tail);
      } else {
        emitter.store_part(line, target_stream, to, static_cast<int>(head), static_cast<int>(tail));
      }
      if (asks_ahead() && begin % line_bytes() == 0) ask_ahead(emitter, row * run_bytes() + begin);
      before = part;
    }
    if (head != 0) {
      emitter.store(shifted(emitter, before, before, head), target_stream, to + run_bytes() - tail,
                    static_cast<int>(tail));
    }
  }

  Reg shifted(Emitter& emitter, Reg first, Reg second, int64_t from) const {
    return emitter.permute(static_cast<int>(element_), first, second, shift_table(from));
  }

  /// Two vectors side by side from byte `first` of the first one on.
  int shift_table(int64_t first) const {
    std::vector<uint8_t> table;
    for (int64_t k = 0; k < panel_columns_; ++k)
      table.push_back(static_cast<uint8_t>(first / element_ + k));
    return tables_.add(std::move(table));
  }

  // ---- the pipeline: the panel that is filled runs one ahead of the one that leaves

  std::vector<Step> pipeline_steps() const {
    std::vector<Step> steps{{target_stream, panel_columns_ * columns_.stride[0]},
                            {source_stream, vector_, 0, 1},
                            {scratch_stream, panel_bytes(), 0, 1, {{2, 0}}},
                            {panel_stream, panel_bytes(), 0, 0, {{2, 0}}}};
    add_step_ahead(steps, panel_columns_);
    return steps;
  }

  std::vector<Step> last_panel_steps(int64_t panel) const {
    std::vector<Step> steps{{target_stream, 0, panel * panel_columns_ * columns_.stride[0]},
                            {panel_stream, 0, panel % 2 * panel_bytes()}};
    if (asks_ahead())
      steps.push_back({prefetch_stream, 0, ahead(panel * panel_columns_ * run_bytes())});
    return steps;
  }

  // ---- the box ahead: with every row written as many of its bytes are asked for, row after row.

  int64_t line_bytes() const { return machine_.target.line_bytes; }
  int64_t source_run_bytes() const { return columns_.extent * element_; }
  bool asks_ahead() const {
    const int64_t wide = std::max(run_bytes(), source_run_bytes());
    const int64_t narrow = std::min(run_bytes(), source_run_bytes());
    return machine_.ahead != 0 && wide % narrow == 0 &&
           std::has_single_bit(static_cast<uint64_t>(wide / narrow)) && narrow % line_bytes() == 0;
  }

  /// Where byte `at` of the box ahead is, its rows counted one after the other.
  int64_t ahead(int64_t at) const {
    return at / source_run_bytes() * rows_.stride[1] + at % source_run_bytes();
  }
  void ask_ahead(Emitter& emitter, int64_t at) const {
    constexpr int second_level = 2;
    emitter.prefetch(prefetch_stream, at_[1] + machine_.ahead + ahead(at), second_level);
  }

  /// How a loop moves the stream ahead whose iterations write `rows` rows each, a power of two.
  void add_step_ahead(std::vector<Step>& steps, int64_t rows) const {
    if (!asks_ahead()) return;
    const int64_t bytes = rows * run_bytes(), source_run = source_run_bytes();
    if (bytes % source_run == 0) {
      steps.push_back({prefetch_stream, bytes / source_run * rows_.stride[1]});
    } else {
      steps.push_back({prefetch_stream, bytes, 0, 0, {{source_run / bytes, rows_.stride[1]}}});
    }
  }

  const Machine& machine_;
  Tables& tables_;
  Side rows_;     // make runs of the target
  Side columns_;  // make runs of the source
  Strides at_;
  int64_t element_ = machine_.element_bytes;
  int64_t vector_ = machine_.vector_bytes;
  int64_t group_ = 16 / element_;  // rows transposed at a time
  int64_t panel_columns_ = vector_ / element_;
};

}  // namespace

bool can_stage(const Side& rows, const Side& columns, const Machine& machine) {
  const int64_t element = machine.element_bytes, vector = machine.vector_bytes;
  // Loops over groups and rows are merged, so one count has to divide the other.
  const int64_t group = 16 / element;
  const bool whole = rows.extent * element % vector == 0 && columns.extent * element % vector == 0;
  const int64_t panels = shifts(machine) ? 1 : 2;
  const int64_t panel = group * (rows.extent / group * vector + 64);
  return machine.streams && element < 16 && whole && panels * panel <= most_scratch_bytes &&
         rows.extent * element > vector &&
         std::has_single_bit(static_cast<uint64_t>(rows.extent)) &&
         group < machine.target.registers;
}

Body emit_staged_transpose(const Side& rows, const Side& columns, const Strides& at,
                           const Machine& machine, Tables& tables, int64_t& scratch_bytes) {
  return StagedTranspose(rows, columns, at, machine, tables).emit(scratch_bytes);
}

}  // namespace restride
