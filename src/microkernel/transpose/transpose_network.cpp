#include "microkernel/transpose/transpose_network.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace restride {
namespace {

using program::lane_bytes;
using program::none;
using program::Reg;

class InLaneTranspose {
 public:
  InLaneTranspose(Emitter& emitter, int element_bytes, const RowOfNetwork& rows)
      : emitter_(emitter),
        element_bytes_(element_bytes),
        count_(static_cast<size_t>(16 / element_bytes)),
        rows_(rows) {}

  std::array<Reg, 16> run() {
    // Depth first, so that few registers live: a pair of halves is merged as soon as both are
    // there.
    for (size_t row = 0; row < count_; ++row) {
      registers_[row] = rows_(static_cast<int>(row));
      for (size_t size = 2; (row + 1) % size == 0 && size <= count_; size *= 2)
        merge_halves(row + 1 - size, size);
    }
    std::array<Reg, 16> columns{};
    const int bits = std::countr_zero(count_);
    for (size_t column = 0; column < count_; ++column) {
      size_t reversed = 0;
      for (int bit = 0; bit < bits; ++bit) reversed |= (column >> bit & 1) << (bits - 1 - bit);
      columns[column] = registers_[reversed];
    }
    return columns;
  }

 private:
  void merge_halves(size_t base, size_t size) {
    const size_t half = size / 2;
    const int bytes = element_bytes_ * static_cast<int>(half);
    for (size_t i = base; i < base + half; ++i) {
      const Reg low = emitter_.unpack_low(bytes, registers_[i], registers_[i + half]);
      registers_[i + half] = emitter_.unpack_high(bytes, registers_[i], registers_[i + half]);
      registers_[i] = low;
    }
  }

  Emitter& emitter_;
  int element_bytes_;
  size_t count_;
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

void emit_narrow_network(Emitter& emitter, const std::vector<Position>& rows,
                         const std::vector<Position>& columns, const Machine& machine,
                         int written_stream, Reg fill) {
  const int element_bytes = static_cast<int>(machine.element_bytes);
  const auto group = static_cast<size_t>(lane_bytes / element_bytes);
  for (const PositionRun& run : contiguous_runs(columns, &Position::source, element_bytes,
                                                emitter.vector_bytes() / element_bytes)) {
    const auto load = [&](int i) {
      if (static_cast<size_t>(i) >= rows.size()) return none;
      const Position& row = rows[static_cast<size_t>(i)];
      if (row.filled) return fill;
      return emitter.load(source_stream, row.source + columns[run.first].source,
                          static_cast<int>(run.count) * element_bytes);
    };
    const std::array<Reg, 16> result = transpose_in_lanes(emitter, element_bytes, load);
    for (size_t k = 0; k < run.count; ++k) {
      const int64_t offset = rows.front().target + columns[run.first + k].target;
      emitter.store_part(result[k % group], written_stream, offset, lane_bytes,
                         static_cast<int>(k / group) * lane_bytes);
    }
  }
}

void emit_network(Emitter& emitter, const std::vector<Position>& rows,
                  const std::vector<Position>& columns, const Machine& machine,
                  int written_stream) {
  const int element_bytes = static_cast<int>(machine.element_bytes);
  const int group = 16 / element_bytes;  // elements of a lane
  // The network of 16 byte-wide registers needs one more: with fewer, half the columns at a time.
  const int64_t most_columns = group < machine.target.registers ? group : group / 2;
  const int64_t most_rows = emitter.vector_bytes() / element_bytes;
  const auto row_runs = contiguous_runs(rows, &Position::target, element_bytes, most_rows);
  const auto column_runs = contiguous_runs(columns, &Position::source, element_bytes, most_columns);
  const bool fills =
      std::any_of(rows.begin(), rows.end(), [](const Position& row) { return row.filled; });
  const Reg fill = fills ? emitter.constant(machine.fill_table) : none;
  if (row_runs.size() == 1 && static_cast<int>(rows.size()) == group && emitter.lanes() > 1 &&
      group < machine.target.registers) {
    return emit_narrow_network(emitter, rows, columns, machine, written_stream, fill);
  }
  for (const PositionRun& row_run : row_runs) {
    for (const PositionRun& column_run : column_runs) {
      const Position& column = columns[column_run.first];
      const int piece_bytes = static_cast<int>(column_run.count) * element_bytes;
      const auto load = [&](int i) {
        Reg value = fill;
        for (int lane = 0; lane < emitter.lanes(); ++lane) {
          const size_t row = static_cast<size_t>(lane * group + i);
          if (row >= row_run.count) break;
          if (rows[row_run.first + row].filled) continue;
          const int64_t offset = rows[row_run.first + row].source + column.source;
          value = emitter.load_lane(value, source_stream, offset, piece_bytes, 16 * lane);
        }
        return value;
      };
      const std::array<Reg, 16> result = transpose_in_lanes(emitter, element_bytes, load);
      const int bytes = static_cast<int>(row_run.count) * element_bytes;
      for (size_t c = 0; c < column_run.count; ++c) {
        const int64_t offset = rows[row_run.first].target + columns[column_run.first + c].target;
        if (machine.claimed_ahead != 0 && bytes == emitter.vector_bytes()) {
          emitter.claim(offset + machine.claimed_ahead);
        }
        if (machine.nontemporal && bytes == emitter.vector_bytes()) {
          emitter.store_nontemporal(result[c], written_stream, offset);
        } else {
          emitter.store(result[c], written_stream, offset, bytes);
        }
      }
    }
  }
}

}  // namespace restride
