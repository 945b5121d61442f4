// Transposes of elements whose size is no power of two.
//
//     source rows   abcABC...   16 bytes a lane, spread to slots of a power of two by a shuffle,
//     slots         abc.ABC.    transposed inside the lanes like any others,
//     target        abcabc...   and joined again by a permute
//
// For arrays that do not stay in the caches a box becomes an image in L1, row behind row as the
// target wants them, and leaves line by line, shifted to where rows begin in lines; the next box is
// asked for meanwhile.
#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/shifted_lines.hpp"
#include "microkernel/transpose/transpose_network.hpp"

namespace restride {
namespace {

using program::Body;
using program::Reg;
using program::Step;

/// Where columns of a network go: so many bytes from one to the next, behind each of which `slack`
/// may hold anything until the next network writes there.
struct Out {
  int stream;
  int64_t at, pitch, slack;
};

class UnevenTranspose {
 public:
  UnevenTranspose(const nest::Side& rows, const nest::Side& columns, const Strides& at,
                  const Machine& machine, Tables& tables)
      : machine_(machine), tables_(tables), rows_(rows), columns_(columns), at_(at) {}

  Body emit(int64_t& scratch_bytes) const {
    if (!leaves_by_lines()) return networks({target_stream, at_[0], columns_.stride[0], 0});
    scratch_bytes = std::max(scratch_bytes, columns_.extent * pitch());
    Body body = networks({scratch_stream, 0, pitch(), vector_});
    append(body, lines_out());
    // All boxes live on one scratch: wherever this one stands, it is one unit of work.
    return loop_always(1, {}, std::move(body));
  }

 private:
  int64_t run_bytes() const { return rows_.extent * element_; }
  /// A line more between rows of the image than they hold: a power of two would put them all into
  /// one set of the cache.
  int64_t pitch() const { return ceil_div(run_bytes(), vector_) * vector_ + vector_; }
  bool leaves_by_lines() const {
    return machine_.streams && (begins_lines() || shifts_lines(machine_)) &&
           run_bytes() >= vector_ && columns_.extent * pitch() <= program::scratch_in_l1_bytes;
  }
  /// Whether every row of the target begins on a line.
  bool begins_lines() const {
    return machine_.alignment % vector_ == 0 && columns_.stride[0] % vector_ == 0;
  }

  // ---- networks of a vector of slots both ways

  Body networks(const Out& out) const {
    const int64_t whole = rows_.extent / slots_, rest = rows_.extent % slots_;
    Body body;
    if (whole > 0) {
      body = loop_always(
          whole, {{source_stream, slots_ * rows_.stride[1]}, {out.stream, slots_ * element_}},
          columns(0, slots_, out));
    }
    if (rest > 0) append(body, columns(whole * slots_, rest, out));
    return body;
  }

  /// All columns of `rows` rows.
  Body columns(int64_t first, int64_t rows, const Out& out) const {
    const int64_t whole = columns_.extent / slots_, rest = columns_.extent % slots_;
    Body body;
    if (whole > 0) {
      body =
          loop_always(whole, {{source_stream, slots_ * element_}, {out.stream, slots_ * out.pitch}},
                      {network({first, rows}, {0, slots_}, out)});
    }
    if (rest > 0) body.push_back(network({first, rows}, {whole * slots_, rest}, out));
    return body;
  }

  struct Part {
    int64_t first, count;
  };

  program::Block network(const Part& rows, const Part& columns, const Out& out) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t first = 0; first < columns.count; first += group_) {
      const int64_t count = std::min(group_, columns.count - first);
      const auto load = [&](int k) { return piece(emitter, rows, columns, first, k); };
      const std::array<Reg, 16> result =
          transpose_in_lanes(emitter, static_cast<int>(slot_bytes_), load);
      for (int64_t k = 0; k < count; ++k) {
        const Reg joined = emitter.permute(1, result[static_cast<size_t>(k)], program::none,
                                           tables_.add(joining()));
        const int64_t to = out.at + rows.first * element_ + (columns.first + first + k) * out.pitch;
        const int64_t bytes = rows.count * element_;
        emitter.store(joined, out.stream, to,
                      static_cast<int>(std::min(vector_, bytes + out.slack)));
        // The last line that the next network writes in this place.
        if (!machine_.streams) emitter.claim(to + slots_ * out.pitch + bytes - 1);
      }
    }
    return emitter.take();
  }

  /// Register `k` of a network, in slots: lane after lane the columns from `first` on of a row.
  /// What is read lies within the columns of the network.
  Reg piece(Emitter& emitter, const Part& rows, const Part& columns, int64_t first, int k) const {
    const int64_t whole_bytes = columns.count * element_, begin = first * element_;
    const int64_t from = std::max<int64_t>(0, std::min(begin, whole_bytes - 16));
    const int64_t bytes = std::min<int64_t>(16, whole_bytes - from);
    Reg value = program::none;
    for (int lane = 0; lane < emitter.lanes(); ++lane) {
      const int64_t row = lane * group_ + k;
      if (row >= rows.count) break;
      const int64_t offset =
          at_[1] + (rows.first + row) * rows_.stride[1] + columns.first * element_ + from;
      value = emitter.load_lane(value, source_stream, offset, static_cast<int>(bytes), 16 * lane);
    }
    if (value == program::none) return value;
    return group_ == 1 && from == begin
               ? value
               : emitter.shuffle(value, tables_.add(spreading(begin - from)));
  }

  /// Spreads the elements of each lane, from byte `begin` of it on, to slots.
  std::vector<uint8_t> spreading(int64_t begin) const {
    std::vector<uint8_t> table(static_cast<size_t>(vector_), program::undefined);
    for (int64_t byte = 0; byte < vector_; ++byte) {
      const int64_t slot = byte % 16 / slot_bytes_, in_slot = byte % slot_bytes_;
      const int64_t from = begin + slot * element_ + in_slot;
      if (in_slot < element_ && from < 16)
        table[static_cast<size_t>(byte)] = static_cast<uint8_t>(from);
    }
    return table;
  }

  /// Joins the elements of all slots. Stores are not masked where there is slack, so all bytes are
  /// defined.
  std::vector<uint8_t> joining() const {
    std::vector<uint8_t> table(static_cast<size_t>(vector_), 0);
    for (int64_t byte = 0; byte < slots_ * element_; ++byte) {
      table[static_cast<size_t>(byte)] =
          static_cast<uint8_t>(byte / element_ * slot_bytes_ + byte % element_);
    }
    return table;
  }

  // ---- out of the image

  Body lines_out() const {
    const int64_t at_once = asks_ahead() ? rows_at_once() : 1;
    std::vector<Step> steps{{target_stream, at_once * columns_.stride[0]},
                            {panel_stream, at_once * pitch()}};
    if (asks_ahead()) {
      const int64_t asked_rows = at_once * rows_.extent / columns_.extent;
      steps.push_back({prefetch_stream, asked_rows * rows_.stride[1]});
    }
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t row = 0; row < at_once; ++row) row_out(emitter, row);
    return loop_always(columns_.extent / at_once, std::move(steps), body_of(emitter.take()));
  }

  void row_out(Emitter& emitter, int64_t row) const {
    const int64_t to = at_[0] + row * columns_.stride[0], from = row * pitch();
    const int64_t whole = run_bytes() / vector_ * vector_;
    Reg before = program::none;
    for (int64_t begin = 0; begin < whole; begin += vector_) {
      if (asks_ahead()) ask(emitter, row * (run_bytes() / vector_) + begin / vector_);
      const Reg vector = emitter.load(panel_stream, from + begin, static_cast<int>(vector_));
      vector_out(emitter, before, vector, to + begin);
      before = vector;
    }
    const auto part = [&](int64_t at, int64_t bytes) {
      return emitter.load(panel_stream, from + at, static_cast<int>(bytes));
    };
    if (!begins_lines()) return end_run(emitter, machine_, to, run_bytes(), part);
    const int64_t rest = run_bytes() - whole;
    if (rest == 0) return;
    emitter.store(part(whole, rest), target_stream, to + whole, static_cast<int>(rest));
  }

  /// The line that the end of one vector and the begin of the next one make; without one before,
  /// the part of it that this row begins with.
  void vector_out(Emitter& emitter, Reg before, Reg vector, int64_t to) const {
    if (begins_lines()) return emitter.store_nontemporal(vector, target_stream, to);
    if (before == program::none) {
      return emitter.store_begin(shifted(emitter, vector, vector, to), target_stream, to);
    }
    emitter.store_line(shifted(emitter, before, vector, to), target_stream, to);
  }

  Reg shifted(Emitter& emitter, Reg before, Reg vector, int64_t to) const {
    return emitter.shift(shifted_bytes(machine_), before, vector, target_stream, to);
  }

  /// Asks for line `line` of the next box.
  void ask(Emitter& emitter, int64_t line) const {
    const int64_t row_lines = columns_.extent * element_ / vector_;
    const int64_t offset = at_[1] + line / row_lines * rows_.stride[1] + line % row_lines * vector_;
    // Of rows between lines the first one has been read to its middle: see asked_from.
    const int64_t between = rows_.stride[1] % vector_ != 0 ? vector_ - 1 : 0;
    emitter.ask(prefetch_stream, offset + between + machine_.ahead);
  }

  /// As many rows are written as have the lines of whole rows of the source.
  int64_t rows_at_once() const { return columns_.extent / std::gcd(rows_.extent, columns_.extent); }

  /// Whether each line that is written can ask for one of the next box.
  bool asks_ahead() const {
    return machine_.ahead != 0 && run_bytes() % vector_ == 0 &&
           columns_.extent * element_ % vector_ == 0 && rows_at_once() <= most_at_once;
  }

  static constexpr int64_t most_at_once = 8;

  const Machine& machine_;
  Tables& tables_;
  nest::Side rows_;     // make runs of the target
  nest::Side columns_;  // make runs of the source
  Strides at_;
  int64_t element_ = machine_.element_bytes;
  int64_t vector_ = machine_.vector_bytes;
  int64_t slot_bytes_ = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(element_)));
  int64_t group_ = 16 / slot_bytes_;       // slots of a lane
  int64_t slots_ = vector_ / slot_bytes_;  // of a register
};

}  // namespace

Body emit_uneven_transpose(const nest::Tile& tile, uint32_t target_run, const Strides& at,
                           const Machine& machine, Tables& tables, int64_t& scratch_bytes) {
  const size_t rows = (target_run & 1) != 0 ? 0 : 1;
  return UnevenTranspose(tile.sides[rows], tile.sides[1 - rows], at, machine, tables)
      .emit(scratch_bytes);
}

}  // namespace restride
