// Transposes: 16-byte pieces of source rows are loaded into the lanes of a register, transposed
// inside the lanes by unpacks, and come out as runs of the target.
//
//     lane 0     lane 1                       source rows r0..r7 of f32, V = 32
//     r0: a b c d | r4: a b c d    register 0     unpack 4, unpack 8:
//     r1: a b c d | r5: a b c d    register 1       column a: r0 r1 r2 r3 | r4 r5 r6 r7
//     r2: a b c d | r6: a b c d    register 2       column b: ...
//     r3: a b c d | r7: a b c d    register 3
//
// log2(16 / element) unpacks a register and no shuffle across lanes: the loads put every row where
// it has to come out.
#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "emitter.hpp"
#include "microkernel.hpp"

namespace restride {
namespace {

using program::Block;
using program::Body;
using program::none;
using program::Reg;

/// Where an element of a side stands, relative to the tile.
struct Position {
  int64_t source, target;
};

/// All positions of some sides, the last side fastest.
std::vector<Position> positions(const std::vector<nest::Side>& sides, uint32_t chosen) {
  std::vector<Position> result{{0, 0}};
  for (size_t k = 0; k < sides.size(); ++k) {
    if ((chosen >> k & 1) == 0) continue;
    std::vector<Position> repeated;
    for (const Position& outer : result) {
      for (int64_t i = 0; i < sides[k].extent; ++i) {
        repeated.push_back(
            {outer.source + i * sides[k].stride[1], outer.target + i * sides[k].stride[0]});
      }
    }
    result = std::move(repeated);
  }
  return result;
}

/// A stretch of positions that lie side by side in one operand.
struct Run {
  size_t first, count;
};

std::vector<Run> runs(const std::vector<Position>& positions, int64_t Position::*operand,
                      int64_t element_bytes, int64_t most) {
  std::vector<Run> result;
  for (size_t k = 0; k < positions.size(); ++k) {
    const bool continues = !result.empty() && static_cast<int64_t>(result.back().count) < most &&
                           positions[k].*operand == positions[k - 1].*operand + element_bytes;
    if (continues) {
      ++result.back().count;
    } else {
      result.push_back({k, 1});
    }
  }
  return result;
}

/// Transposes `rows.size()` = 16 / element registers inside their lanes. Depth first, so that few
/// are alive at once: `rows` is called when a register is needed. result[c] is column c.
template <class Rows>
class InLaneTranspose {
 public:
  InLaneTranspose(Emitter& emitter, int element_bytes, Rows rows)
      : emitter_(emitter), element_bytes_(element_bytes), count_(16 / element_bytes), rows_(rows) {}

  std::array<Reg, 16> run() {
    visit(0, count_);
    std::array<Reg, 16> columns{};
    const int bits = std::countr_zero(static_cast<unsigned>(count_));
    for (int column = 0; column < count_; ++column) {
      int reversed = 0;
      for (int bit = 0; bit < bits; ++bit) reversed |= (column >> bit & 1) << (bits - 1 - bit);
      columns[static_cast<size_t>(column)] = registers_[static_cast<size_t>(reversed)];
    }
    return columns;
  }

 private:
  void visit(int base, int size) {
    if (size == 1) {
      registers_[static_cast<size_t>(base)] = rows_(base);
      return;
    }
    visit(base, size / 2);
    visit(base + size / 2, size / 2);
    for (int i = base; i < base + size / 2; ++i) {
      Reg& a = registers_[static_cast<size_t>(i)];
      Reg& b = registers_[static_cast<size_t>(i + size / 2)];
      const Reg low = emitter_.unpack_low(element_bytes_ * size / 2, a, b);
      b = emitter_.unpack_high(element_bytes_ * size / 2, a, b);
      a = low;
    }
  }

  Emitter& emitter_;
  int element_bytes_, count_;
  Rows rows_;
  std::array<Reg, 16> registers_{};
};

class Transpose {
 public:
  Transpose(const nest::Tile& tile, uint32_t target_run, const Strides& at, const Machine& machine)
      : machine_(machine),
        element_(static_cast<int>(machine.element_bytes)),
        group_(16 / element_),
        at_(at),
        rows_(positions(tile.sides, target_run)),
        columns_(positions(tile.sides, ~target_run)),
        emitter_(machine.target, machine.vector_bytes) {}

  Body emit() {
    // The network of 16 byte-wide registers needs one more: with fewer, half the columns at a time.
    const int64_t most_columns = group_ < machine_.target.registers ? group_ : group_ / 2;
    const std::vector<Run> column_runs = runs(columns_, &Position::source, element_, most_columns);
    const std::vector<Run> row_runs =
        runs(rows_, &Position::target, element_, machine_.vector_bytes / element_);
    for (const Run& row_run : row_runs) {
      for (const Run& column_run : column_runs) slab(row_run, column_run);
    }
    return {emitter_.take()};
  }

 private:
  /// One run of the target by one run of the source.
  void slab(const Run& row_run, const Run& column_run) {
    const auto load = [&](int i) {
      Reg value = none;
      for (int lane = 0; lane < emitter_.lanes(); ++lane) {
        const size_t row = static_cast<size_t>(lane * group_ + i);
        if (row >= row_run.count) break;
        const int64_t offset =
            at_[1] + rows_[row_run.first + row].source + columns_[column_run.first].source;
        value = emitter_.load_lane(value, source_stream, offset,
                                   static_cast<int>(column_run.count) * element_, 16 * lane);
      }
      return value;
    };
    const std::array<Reg, 16> columns = InLaneTranspose(emitter_, element_, load).run();
    const int bytes = static_cast<int>(row_run.count) * element_;
    for (size_t c = 0; c < column_run.count; ++c) {
      const int64_t offset =
          at_[0] + rows_[row_run.first].target + columns_[column_run.first + c].target;
      if (machine_.nontemporal && bytes == machine_.vector_bytes) {
        emitter_.store_nontemporal(columns[c], target_stream, offset);
      } else {
        emitter_.store(columns[c], target_stream, offset, bytes);
      }
    }
  }

  const Machine& machine_;
  int element_;
  int group_;  // elements of a lane
  Strides at_;
  std::vector<Position> rows_;     // become runs of the target
  std::vector<Position> columns_;  // are runs of the source
  Emitter emitter_;
};

}  // namespace

Body emit_transpose(const nest::Tile& tile, uint32_t target_run, const Strides& at,
                    const Machine& machine) {
  return Transpose(tile, target_run, at, machine).emit();
}

}  // namespace restride
