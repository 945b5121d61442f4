// Transposes of elements whose size is no power of two.
//
//     source rows   abcABC...   16 bytes a lane, spread to slots of a power of two by a shuffle,
//     slots         abc.ABC.    transposed inside the lanes like any others,
//     target        abcabc...   and joined again by a permute
//
// For arrays that do not stay in the caches a box becomes an image in L1, row behind row as the
// target wants them, and leaves line by line; the next box is asked for meanwhile.
#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "arithmetic.hpp"
#include "emitter.hpp"
#include "microkernel.hpp"
#include "tile_run.hpp"
#include "transpose_network.hpp"

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
    return machine_.streams && machine_.alignment % vector_ == 0 &&
           columns_.extent * pitch() <= program::max_scratch_bytes;
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
    const int64_t stride = columns_.stride[0];
    const int64_t phases = vector_ / std::gcd(stride, vector_);
    const int64_t at_once = std::min(columns_.extent, std::max(phases, least_at_once)),
                  whole = columns_.extent / at_once;
    std::vector<Step> steps{{target_stream, at_once * stride}, {panel_stream, at_once * pitch()}};
    if (asks_ahead(at_once))
      steps.push_back(
          {prefetch_stream, at_once * rows_.extent / columns_.extent * rows_.stride[1]});
    Body body = loop_always(whole, std::move(steps), {rows_out(0, at_once, at_once)});
    if (whole * at_once < columns_.extent)
      body.push_back(rows_out(whole * at_once, columns_.extent, at_once));
    return body;
  }

  program::Block rows_out(int64_t first, int64_t end, int64_t at_once) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t row = first; row < end; ++row) row_out(emitter, row, asks_ahead(at_once));
    return emitter.take();
  }

  void row_out(Emitter& emitter, int64_t row, bool asks) const {
    const int64_t to = at_[0] + row * columns_.stride[0], from = row * pitch();
    const int64_t phase = remainder_above(to, vector_);
    const int64_t head = std::min(run_bytes(), (vector_ - phase) % vector_);
    emitter.copy_part(panel_stream, from, target_stream, to, {head, phase});
    int64_t begin = head;
    for (int64_t asked = 0; asked < run_bytes(); asked += vector_) {
      if (asks) ask(emitter, row * (run_bytes() / vector_) + asked / vector_);
      if (begin + vector_ > run_bytes()) continue;
      const Reg line = emitter.load(panel_stream, from + begin, static_cast<int>(vector_));
      emitter.store_nontemporal(line, target_stream, to + begin);
      begin += vector_;
    }
    emitter.copy_part(panel_stream, from + begin, target_stream, to + begin,
                      {run_bytes() - begin, 0});
  }

  /// Asks for line `line` of the next box.
  void ask(Emitter& emitter, int64_t line) const {
    constexpr int second_level = 2;
    const int64_t row_lines = columns_.extent * element_ / vector_;
    const int64_t offset = at_[1] + line / row_lines * rows_.stride[1] + line % row_lines * vector_;
    emitter.prefetch(prefetch_stream, offset + machine_.ahead, second_level);
  }

  /// Whether each line that is written can ask for one of the next box.
  bool asks_ahead(int64_t at_once) const {
    return machine_.ahead != 0 && run_bytes() % vector_ == 0 &&
           columns_.extent * element_ % vector_ == 0 && columns_.extent % at_once == 0 &&
           at_once * rows_.extent % columns_.extent == 0;
  }

  static constexpr int64_t least_at_once = 8;

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
