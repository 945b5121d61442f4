#include "microkernel/transpose/transpose_network.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

namespace restride {
namespace {

using program::lane_bytes;
using program::none;
using program::Reg;

// Beside a network whose halves leave in turn: one of a merge, one for what a caller keeps.
constexpr int registers_beside = 2;

bool leaves_in_turn(int64_t element_bytes, int registers) {
  return lane_bytes / element_bytes >= registers;
}

class InLaneTranspose {
 public:
  InLaneTranspose(Emitter& emitter, int element_bytes, const RowOfNetwork& rows,
                  const ColumnOfNetwork& columns)
      : emitter_(emitter),
        element_bytes_(element_bytes),
        count_(static_cast<size_t>(16 / element_bytes)),
        rows_(rows),
        columns_(columns) {}

  void run() {
    if (count_ == 1) return columns_(0, rows_(0));
    if (leaves_in_turn(element_bytes_, emitter_.registers())) return halves_in_turn();
    if (all_fit()) {
      for (size_t row = 0; row < count_; ++row) registers_[row] = rows_(static_cast<int>(row));
      for (size_t size = 2; size <= count_; size *= 2)
        for (size_t base = 0; base < count_; base += size) merge_halves(base, size);
    } else {
      // Depth first, so that few registers live: a pair of halves is merged as soon as both are
      // there.
      for (size_t row = 0; row < count_; ++row) {
        registers_[row] = rows_(static_cast<int>(row));
        for (size_t size = 2; (row + 1) % size == 0 && size <= count_; size *= 2)
          merge_halves(row + 1 - size, size);
      }
    }
  }

 private:
  /// Whether all rows of a network of bytes have registers beside what the caller keeps in others:
  /// level by level nothing waits for what was just made. (Zen 4: u8 64 x 64 .45 -> .49 of the
  /// ceiling, 256 x 256 .67 -> .73, 18 transposes of bytes in L1 .94 of the time; of 16 bits 1.0.)
  bool all_fit() const {
    return count_ == 16 && emitter_.lanes() > 1 &&
           static_cast<size_t>(emitter_.registers()) >= 2 * count_ - 1;
  }

  /// Where there are no more registers than rows: the columns of the low halves of all rows leave
  /// before those of the high ones, which wait in what registers there are beside them. The last
  /// pairs of rows come in once more for theirs. (Zen 3: 88 transposes of bytes of 1 KB to 80 MB
  /// .92 of the time of half the columns after the other, each of all rows, 18 large matrices .94.)
  ///
  ///     rows   0 1 | 2 3 | .. | 8 9 | 10 11 | 12 13 | 14 15
  ///     low    x     x     ..   x     x       x       x          8 registers of 16
  ///     high   x     x     ..   x                                5 that wait
  void halves_in_turn() {
    const auto lows = count_ / 2;
    const size_t kept = 2 * (static_cast<size_t>(emitter_.registers() - registers_beside) - lows);
    for (size_t row = 0; row < count_; row += 2) {
      const auto [a, b] = pair(row);
      registers_[row] = emitter_.unpack_low(element_bytes_, a, b);
      if (row < kept) registers_[row + 1] = emitter_.unpack_high(element_bytes_, a, b);
    }
    merge_every_second(0);
    for (size_t row = kept; row < count_; row += 2) {
      const auto [a, b] = pair(row);
      registers_[row + 1] = emitter_.unpack_high(element_bytes_, a, b);
    }
    merge_every_second(1);
  }

  std::pair<Reg, Reg> pair(size_t row) const {
    const Reg a = rows_(static_cast<int>(row));
    return {a, rows_(static_cast<int>(row) + 1)};
  }

  void merge_every_second(size_t first) {
    for (size_t size = 4; size <= count_; size *= 2)
      for (size_t base = first; base < count_; base += size) merge_halves(base, size, 2);
  }

  /// Of every `step`th register of either half.
  void merge_halves(size_t base, size_t size, size_t step = 1) {
    const size_t half = size / 2;
    const int bytes = element_bytes_ * static_cast<int>(half);
    for (size_t i = base; i < base + half; i += step) {
      const Reg low = emitter_.unpack_low(bytes, registers_[i], registers_[i + half]);
      registers_[i + half] = emitter_.unpack_high(bytes, registers_[i], registers_[i + half]);
      registers_[i] = low;
      if (size < count_) continue;
      leave(i);
      leave(i + half);
    }
  }

  /// The register at `place` holds the column whose number has the bits of the place reversed.
  void leave(size_t place) {
    const int bits = std::countr_zero(count_);
    size_t column = 0;
    for (int bit = 0; bit < bits; ++bit) column |= (place >> bit & 1) << (bits - 1 - bit);
    columns_(column, registers_[place]);
  }

  Emitter& emitter_;
  int element_bytes_;
  size_t count_;
  const RowOfNetwork& rows_;
  const ColumnOfNetwork& columns_;
  std::array<Reg, 16> registers_{};
};

}  // namespace

void transpose_in_lanes(Emitter& emitter, int element_bytes, const RowOfNetwork& row,
                        const ColumnOfNetwork& column) {
  InLaneTranspose(emitter, element_bytes, row, column).run();
}

int64_t registers_of_network(int64_t element_bytes, const Target& target) {
  if (leaves_in_turn(element_bytes, target.registers)) return target.registers - 1;
  return lane_bytes / element_bytes;
}

void transpose_in_order(Emitter& emitter, int element_bytes, const RowOfNetwork& row,
                        const ColumnsOfNetwork& columns) {
  const auto count = static_cast<size_t>(lane_bytes / element_bytes);
  const size_t at_once = leaves_in_turn(element_bytes, emitter.registers()) ? count / 2 : count;
  std::array<Reg, 16> waiting{};
  size_t made = 0;
  transpose_in_lanes(emitter, element_bytes, row, [&](size_t column, Reg value) {
    waiting[column] = value;
    if (++made % at_once != 0) return;
    columns(made - at_once, {waiting.data() + (made - at_once), at_once});
  });
}

std::array<Reg, 16> transpose_in_lanes(Emitter& emitter, int element_bytes,
                                       const RowOfNetwork& row) {
  std::array<Reg, 16> columns{};
  transpose_in_lanes(emitter, element_bytes, row,
                     [&](size_t column, Reg value) { columns[column] = value; });
  return columns;
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
    const auto leave = [&](size_t k, Reg column) {
      const int64_t offset = rows.front().target + columns[run.first + k].target;
      emitter.store_lane(column, written_stream, offset, lane_bytes,
                         static_cast<int>(k / group) * lane_bytes);
    };
    // In order: where rows are short, all of a lane is written, over what begins in it.
    const auto leave_some = [&](size_t first, std::span<const Reg> some) {
      for (size_t k = 0; k < run.count; ++k) {
        const size_t column = k % group;
        if (column >= first && column < first + some.size()) leave(k, some[column - first]);
      }
    };
    transpose_in_order(emitter, element_bytes, load, leave_some);
  }
}

namespace {

// Rows of so many single bytes would be loaded through masks, and then put in place. Emerald
// Rapids, filters of 3 x 3 to tiles .7 of the time (s8[256,240,3,3] to T(8,8,1,1) .54 -> .78 of the
// ceiling), u8[9,83,10] reversed .15 -> .19; pairs .75 to 1.4.
constexpr int64_t least_widened_bytes = 9;

/// The network of whole registers: rows side by side in what is written, columns in the source.
class Network {
 public:
  Network(Emitter& emitter, const std::vector<Position>& rows, const std::vector<Position>& columns,
          const Machine& machine, Reg fill, int64_t before)
      : emitter_(emitter),
        rows_(rows),
        columns_(columns),
        machine_(machine),
        fill_(fill),
        before_(before),
        source_end_(end_of_source()) {}

  void emit(const PositionRun& rows, const PositionRun& columns, int written_stream) const {
    if (static_cast<int>(columns.count) > group())
      return emit_halves(rows, columns, written_stream);
    const int before = columns_before(columns, group());
    const auto row = [&](int i) { return lane_rows(rows, columns, i, before); };
    transpose(row, rows, columns, written_stream, -before);
  }

 private:
  /// Columns of two lanes: pieces of rows fill halves of a register, and lanes change places with
  /// those of another before the networks.
  ///
  ///     r0: a b | r1: a b    even lanes   r0 r1 r2 r3: a
  ///     r2: a b | r3: a b    odd lanes    r0 r1 r2 r3: b
  void emit_halves(const PositionRun& rows, const PositionRun& columns, int written_stream) const {
    constexpr int even = 0x88, odd = 0xdd;
    // What waits for the second network beside the first, which has one register more than rows.
    const int waiting = std::min(group(), machine_.target.registers - group() - 2);
    // Of wider elements there is no more than a piece or two to be put together: f32 of 33 and 799
    // columns 1.08 and 1.04.
    const int before = element_bytes() < 4 ? columns_before(columns, 2 * group()) : 0;
    std::array<Reg, 16> odd_lanes{};
    const auto first = [&](int i) {
      const Reg a = half_rows(rows, columns, i, before);
      const Reg b = half_rows(rows, columns, i + 2 * group(), before);
      if (i < waiting) odd_lanes[static_cast<size_t>(i)] = lanes(a, b, odd);
      return lanes(a, b, even);
    };
    const auto second = [&](int i) {
      if (i < waiting) return odd_lanes[static_cast<size_t>(i)];
      const Reg a = half_rows(rows, columns, i, before);
      const Reg b = half_rows(rows, columns, i + 2 * group(), before);
      return lanes(a, b, odd);
    };
    transpose(first, rows, columns, written_stream, -before);
    transpose(second, rows, columns, written_stream, group() - before);
  }

  /// Two of each, or those of one where the other is not there.
  Reg lanes(Reg a, Reg b, int select) const {
    if (a == none) return b == none ? none : emitter_.lanes(b, b, select);
    return emitter_.lanes(a, b == none ? a : b, select);
  }

  int element_bytes() const { return static_cast<int>(machine_.element_bytes); }
  int group() const { return lane_bytes / element_bytes(); }  // elements of a lane

  /// Whether pieces of so many bytes are asked for ahead: lanes and odd ones are loaded through
  /// masks.
  bool asks(int64_t bytes) const {
    const bool masks = bytes == lane_bytes || !std::has_single_bit(uint64_t(bytes));
    return masks && (machine_.nontemporal || machine_.is_end) && asked_ahead(machine_) != 0;
  }
  /// Whether rows of so many bytes lie side by side in the source.
  bool touch(int64_t bytes) const {
    return rows_.size() > 1 && rows_[1].source - rows_[0].source == bytes;
  }

  /// How many columns come in before these, so that there are `wanted` ones: parts of lanes are
  /// loaded through masks, or piece by piece. (Zen 4: u8 256 x 127 x 33 reversed .34 -> .45 of the
  /// ceiling, u8[2880,65] .55 -> .60.)
  int columns_before(const PositionRun& columns, int wanted) const {
    const int missing = wanted - static_cast<int>(columns.count);
    const int64_t there = before_ + columns_[columns.first].source - columns_[0].source;
    return emitter_.lanes() > 1 && missing * element_bytes() <= there ? missing : 0;
  }

  /// Where the last row of the source ends.
  int64_t end_of_source() const {
    int64_t row = rows_.front().source, column = columns_.front().source;
    for (const Position& each : rows_) row = each.filled ? row : std::max(row, each.source);
    for (const Position& each : columns_) column = std::max(column, each.source);
    return row + column + element_bytes();
  }

  /// Whether a lane is loaded of which fewer bytes are wanted: what follows them is of other rows.
  bool loads_lane(int64_t offset, int64_t bytes) const {
    return machine_.reads_between && element_bytes() == 1 && bytes >= least_widened_bytes &&
           bytes < lane_bytes && offset + lane_bytes <= source_end_;
  }

  /// `into` with `bytes` bytes of a row from byte `at` on, if there is such a row. They begin so
  /// many columns `before` those.
  Reg with_row(Reg into, const PositionRun& rows, const PositionRun& columns, int row,
               VectorPart part, int before) const {
    if (static_cast<size_t>(row) >= rows.count) return into;
    const Position& from = rows_[rows.first + static_cast<size_t>(row)];
    if (from.filled) return into;
    const int64_t offset =
        from.source + columns_[columns.first].source - int64_t{before} * element_bytes();
    if (asks(part.bytes))
      emitter_.ask_for_row(offset, part.bytes, touch(part.bytes), asked_ahead(machine_));
    if (loads_lane(offset, part.bytes)) part.bytes = lane_bytes;
    if (part.bytes <= lane_bytes) {
      return emitter_.load_lane(into, source_stream, offset, static_cast<int>(part.bytes),
                                static_cast<int>(part.at));
    }
    return emitter_.load_part(into, source_stream, offset, part);
  }

  /// Rows i, i + group(), ..: one a lane.
  Reg lane_rows(const PositionRun& rows, const PositionRun& columns, int i, int before) const {
    const int64_t bytes = (static_cast<int64_t>(columns.count) + before) * element_bytes();
    Reg value = fill_;
    for (int lane = 0; lane < emitter_.lanes(); ++lane)
      value =
          with_row(value, rows, columns, lane * group() + i, {bytes, lane * lane_bytes}, before);
    return value;
  }

  /// Rows i and i + group(): one a half.
  Reg half_rows(const PositionRun& rows, const PositionRun& columns, int i, int before) const {
    const int64_t bytes = (static_cast<int64_t>(columns.count) + before) * element_bytes();
    const Reg value = with_row(fill_, rows, columns, i, {bytes, 0}, before);
    return with_row(value, rows, columns, i + group(), {bytes, 2 * lane_bytes}, before);
  }

  /// The network's first column is number `first` of `columns`, or so far before them. Each is
  /// stored as soon as it is there. (Zen 4, behind all of them: u8 256 x 256 1.03 of the time, 320
  /// x 320 1.03, 2112 x 49 1.04, 78 others of all widths 1.01.)
  void transpose(const RowOfNetwork& row, const PositionRun& rows, const PositionRun& columns,
                 int written_stream, int first) const {
    transpose_in_lanes(emitter_, element_bytes(), row, [&](size_t column, Reg value) {
      const int number = first + static_cast<int>(column);
      if (number < 0 || number >= static_cast<int>(columns.count)) return;
      store(value, rows, columns.first + static_cast<size_t>(number), written_stream);
    });
  }

  /// A column, which stands where the rows do in what is written.
  void store(Reg value, const PositionRun& rows, size_t column, int written_stream) const {
    const auto bytes = static_cast<int>(rows.count) * element_bytes();
    const bool whole = bytes == emitter_.vector_bytes();
    const int64_t offset = rows_[rows.first].target + columns_[column].target;
    if (machine_.claimed_ahead != 0 && whole) emitter_.claim(offset + machine_.claimed_ahead);
    if (machine_.nontemporal && whole) {
      emitter_.store_nontemporal(value, written_stream, offset);
    } else {
      emitter_.store(value, written_stream, offset, bytes);
    }
  }

  Emitter& emitter_;
  const std::vector<Position>& rows_;
  const std::vector<Position>& columns_;
  const Machine& machine_;
  Reg fill_;
  int64_t before_;
  const int64_t source_end_;
};

/// Columns of a network with so many rows: those of a lane, or of two.
size_t columns_of_network(const Machine& machine, const Emitter& emitter, size_t rows) {
  const auto group = static_cast<size_t>(lane_bytes / machine.element_bytes);
  const auto registers = static_cast<size_t>(machine.target.registers);
  const bool halves = network_piece_bytes(machine.target, machine.element_bytes) > lane_bytes &&
                      emitter.lanes() > 2 && rows > 2 * group && registers > group + 2;
  return halves ? 2 * group : group;
}

}  // namespace

void emit_network(Emitter& emitter, const std::vector<Position>& rows,
                  const std::vector<Position>& columns, const Machine& machine, int written_stream,
                  int64_t before) {
  const int64_t element_bytes = machine.element_bytes, group = lane_bytes / element_bytes;
  const int64_t most_rows = emitter.vector_bytes() / element_bytes;
  const auto row_runs = contiguous_runs(rows, &Position::target, element_bytes, most_rows);
  const bool fills =
      std::any_of(rows.begin(), rows.end(), [](const Position& row) { return row.filled; });
  const Reg fill = fills ? emitter.constant(machine.fill_table) : none;
  if (row_runs.size() == 1 && static_cast<int64_t>(rows.size()) == group && emitter.lanes() > 1) {
    return emit_narrow_network(emitter, rows, columns, machine, written_stream, fill);
  }
  const Network network(emitter, rows, columns, machine, fill, before);
  for (const PositionRun& row_run : row_runs) {
    const auto most_columns = columns_of_network(machine, emitter, row_run.count);
    for (const PositionRun& column_run : contiguous_runs(columns, &Position::source, element_bytes,
                                                         static_cast<int64_t>(most_columns))) {
      network.emit(row_run, column_run, written_stream);
    }
  }
}

}  // namespace restride
