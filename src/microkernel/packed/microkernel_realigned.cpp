// Realigned rows: rows of packed elements that begin elsewhere in a byte of the target than of the
// source, copied.
//
//     source   |..ab|cdef|gh..|       target   |.abc|defg|h...|
//
// A byte of the target is made of two of the source that follow each other. What a byte at either
// end of a row holds besides keeps its bits.
#include <algorithm>
#include <cstdlib>

#include "base/arithmetic.hpp"
#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/packed/packed_image.hpp"
#include "microkernel/packed/packed_shift.hpp"
#include "microkernel/row_walk.hpp"

namespace restride {
namespace {

using nest::Side;
using program::Block;
using program::Body;
using program::none;
using program::Reg;

// Code for more places within a byte is longer than it is worth.
constexpr int64_t most_phases = 16;
// Shorter rows are better spread: their ends are most of the work.
constexpr int64_t least_row_bytes = 32;
// Vectors in straight-line code; longer rows loop.
constexpr int64_t straight_vectors = 4;

int64_t phases_of(const Side& side) {
  return std::max(byte_period(side.stride[0]), byte_period(side.stride[1]));
}

/// A row at a known place within a byte of either operand.
class RealignedRow {
 public:
  RealignedRow(const RealignedRows& rows, const Strides& at, const Machine& machine)
      : packing_(rows.packing),
        machine_(machine),
        in_byte_(elements_in_byte(rows.packing)),
        to_((at[0] - remainder_above(at[0], 8)) / 8),
        from_((at[1] - remainder_above(at[1], 8)) / 8),
        to_first_(static_cast<int>(remainder_above(at[0], 8) / rows.packing.bits)),
        from_first_(static_cast<int>(remainder_above(at[1], 8) / rows.packing.bits)),
        bytes_(ceil_div(to_first_ + rows.elements, in_byte_)),
        from_bytes_(ceil_div(from_first_ + rows.elements, in_byte_)),
        last_(static_cast<int>((to_first_ + rows.elements) % in_byte_)),
        emitter_(machine.target, machine.vector_bytes) {}

  /// `lines`: whether it begins on a line that may go around the caches.
  Body emit(bool lines) {
    // Ends first: a byte behind a masked store is not read before that has left.
    Body body;
    const int64_t begin = to_first_ != 0 ? 1 : 0, end = last_ != 0 ? bytes_ - 1 : bytes_;
    if (begin != 0) append(body, body_of(end_of_row(0)));
    if (last_ != 0 && (begin == 0 || bytes_ > 1)) append(body, body_of(end_of_row(bytes_ - 1)));
    if (begin < end) append(body, whole_bytes(begin, end, lines && begin == 0));
    return body;
  }

 private:
  Body whole_bytes(int64_t begin, int64_t end, bool lines) {
    const int vector = machine_.vector_bytes;
    const RowWalk walk{.sides = {},
                       .elements = end - begin,
                       .advance = {1, 1},
                       .group = vector,
                       .most_straight_groups = straight_vectors,
                       .looped_groups = straight_vectors};
    const auto emit = [&](const std::vector<Run>& runs) {
      for_each_vector(runs, walk, [&](const Strides& at, int bytes) {
        const Reg value = shifted(
            [&](int64_t byte) { return emitter_.load(source_stream, at[1] + byte, bytes); });
        if (lines && bytes == vector) {
          emitter_.store_nontemporal(value, target_stream, at[0]);
        } else {
          emitter_.store(value, target_stream, at[0], bytes);
        }
      });
      return emitter_.take();
    };
    return walk_rows(walk, {to_ + begin, from_ + begin}, emit);
  }

  /// A byte that has elements of others, too.
  Block end_of_row(int64_t byte) {
    const Reg old = emitter_.load(target_stream, to_ + byte, 1);
    Reg value = shifted([&](int64_t beside) {
      const int64_t at = byte + beside;
      const bool is_there = at >= 0 && at < from_bytes_;
      return is_there ? emitter_.load(source_stream, from_ + at, 1) : none;
    });
    if (byte == 0) value = joined_elements(emitter_, packing_, to_first_, old, value);
    if (byte == bytes_ - 1) value = joined_elements(emitter_, packing_, last_or_all(), value, old);
    emitter_.store(value, target_stream, to_ + byte, 1);
    return emitter_.take();
  }

  int last_or_all() const { return last_ == 0 ? in_byte_ : last_; }

  /// A register of the target, of what `load` gives at the same bytes of the row in the source, or
  /// one on or back.
  template <class Load>
  Reg shifted(const Load& load) {
    const int first = from_first_ - to_first_;
    if (first == 0) return load(0);
    const int64_t back = first < 0 ? -1 : 0;
    const Reg a = load(back), b = load(back + 1);
    return shifted_elements(emitter_, packing_, first < 0 ? in_byte_ + first : first, a, b);
  }

  const Packing packing_;
  const Machine& machine_;
  const int in_byte_;
  const int64_t to_, from_;           // bytes
  const int to_first_, from_first_;   // elements before the row in its first bytes
  const int64_t bytes_, from_bytes_;  // that it touches
  const int last_;                    // elements in the last byte; 0: all
  Emitter emitter_;
};

class RealignedWalk {
 public:
  RealignedWalk(const RealignedRows& rows, const Machine& machine)
      : rows_(rows), machine_(machine) {
    const int64_t line_bits = 8 * int64_t{machine.vector_bytes};
    lines_ = machine.alignment % machine.vector_bytes == 0;
    for (const Side& side : rows.sides) lines_ = lines_ && side.stride[0] % line_bits == 0;
  }

  /// The rows of side `side` and inside: each place within a byte has code of its own.
  Body walk(size_t side, const Strides& at) const {
    if (side == rows_.sides.size()) return RealignedRow(rows_, at, machine_).emit(lines_);
    const Strides& stride = rows_.sides[side].stride;
    const int64_t extent = rows_.sides[side].extent;
    const int64_t phases = phases_of(rows_.sides[side]), whole = extent / phases;
    Strides step{};
    for (size_t k = 0; k < 2; ++k) step[k] = phases * stride[k] / 8;
    Body body;
    if (whole > 0) append(body, repeat({whole, step}, walk(side + 1, at, stride, 0, phases)));
    append(body, walk(side + 1, at, stride, whole * phases, extent));
    return body;
  }

 private:
  /// Those of iterations `begin` to `end`.
  Body walk(size_t side, const Strides& at, const Strides& stride, int64_t begin,
            int64_t end) const {
    Body body;
    for (int64_t i = begin; i < end; ++i) {
      append(body, walk(side, {at[0] + i * stride[0], at[1] + i * stride[1]}));
    }
    return body;
  }

  const RealignedRows& rows_;
  const Machine& machine_;
  bool lines_;
};

}  // namespace

std::optional<RealignedRows> realigned_rows(const nest::Tile& tile, const ElementOp& op) {
  const int64_t bits = op.packing[0].bits;
  if (tile.work == nest::Work::fill || !only_packs(op) || bits == 0 ||
      op.packing[0] != op.packing[1]) {
    return std::nullopt;
  }
  RealignedRows rows{op.packing[0], 1, {}};
  int64_t phases = 1;
  for (const Side& side : tile.sides) {
    if (side.stride[0] == bits && side.stride[1] == bits && rows.elements == 1) {
      rows.elements = side.extent;
    } else if (side.extent > 1) {
      rows.sides.push_back(side);
      phases *= phases_of(side);
    }
  }
  std::stable_sort(rows.sides.begin(), rows.sides.end(), [](const Side& a, const Side& b) {
    return std::abs(a.stride[0]) > std::abs(b.stride[0]);
  });
  if (rows.elements * bits < 8 * least_row_bytes || phases > most_phases) return std::nullopt;
  return rows;
}

Body emit_realigned_rows(const RealignedRows& rows, const Strides& at, const Machine& machine) {
  return RealignedWalk(rows, machine).walk(0, at);
}

}  // namespace restride
