#include "transpose_network.hpp"

#include <array>
#include <bit>

namespace restride {
namespace {

using program::none;
using program::Reg;

class InLaneTranspose {
 public:
  InLaneTranspose(Emitter& emitter, int element_bytes, const RowOfNetwork& rows)
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
  const RowOfNetwork& rows_;
  std::array<Reg, 16> registers_{};
};

}  // namespace

std::array<Reg, 16> transpose_in_lanes(Emitter& emitter, int element_bytes,
                                       const RowOfNetwork& row) {
  return InLaneTranspose(emitter, element_bytes, row).run();
}

std::vector<PositionRun> contiguous_runs(const std::vector<Position>& positions,
                                         int64_t Position::*operand, int64_t element_bytes,
                                         int64_t most) {
  std::vector<PositionRun> result;
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

void emit_network(Emitter& emitter, const std::vector<Position>& rows,
                  const std::vector<Position>& columns, const Machine& machine) {
  const int element_bytes = static_cast<int>(machine.element_bytes);
  const int group = 16 / element_bytes;  // elements of a lane
  // The network of 16 byte-wide registers needs one more: with fewer, half the columns at a time.
  const int64_t most_columns = group < machine.target.registers ? group : group / 2;
  const int64_t most_rows = emitter.vector_bytes() / element_bytes;
  const auto row_runs = contiguous_runs(rows, &Position::target, element_bytes, most_rows);
  const auto column_runs = contiguous_runs(columns, &Position::source, element_bytes, most_columns);
  for (const PositionRun& row_run : row_runs) {
    for (const PositionRun& column_run : column_runs) {
      const Position& column = columns[column_run.first];
      const int piece_bytes = static_cast<int>(column_run.count) * element_bytes;
      const auto load = [&](int i) {
        Reg value = none;
        for (int lane = 0; lane < emitter.lanes(); ++lane) {
          const size_t row = static_cast<size_t>(lane * group + i);
          if (row >= row_run.count) break;
          const int64_t offset = rows[row_run.first + row].source + column.source;
          value = emitter.load_lane(value, source_stream, offset, piece_bytes, 16 * lane);
        }
        return value;
      };
      const std::array<Reg, 16> result = transpose_in_lanes(emitter, element_bytes, load);
      const int bytes = static_cast<int>(row_run.count) * element_bytes;
      for (size_t c = 0; c < column_run.count; ++c) {
        const int64_t offset = rows[row_run.first].target + columns[column_run.first + c].target;
        if (machine.nontemporal && bytes == emitter.vector_bytes()) {
          emitter.store_nontemporal(result[c], target_stream, offset);
        } else {
          emitter.store(result[c], target_stream, offset, bytes);
        }
      }
    }
  }
}

}  // namespace restride
