// Transposes where the rows of one side are shorter than a lane and touch: pixels of eight bytes to
// planes, say, or back. A lane holds as many of them as fit; a shuffle puts what is of one column
// side by side, and from there on that is one wide element of an ordinary network.
//
//     lane       a0 b0 c0 d0 e0 f0 | a1 b1 c1 d1 e1 f1      two rows of six bytes, r = 2
//     shuffled   a0 a1 b0 b1 c0 c1 d0 d1 e0 e1 f0 f1        six elements of two bytes
//     network    a0 a1 a2 a3 a4 ...                         a column comes out at a time
//
// The way back is the same backwards: a network, a shuffle, and every lane leaves with whole rows.
// What it writes too much the next lane overwrites. Where vectors do better than lanes, they hold
// rows likewise: see row_units.
#include <algorithm>
#include <bit>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/row_units.hpp"
#include "microkernel/transpose/transpose_network.hpp"

namespace restride {
namespace {

using program::Body;
using program::lane_bytes;
using program::none;
using program::Reg;

/// The operand whose rows are short, and how they fill lanes.
struct ShortRows {
  int64_t count;      ///< elements of a row
  int64_t at_once;    ///< rows in a lane
  int64_t row_bytes;  ///< of one
  int unit_bytes;     ///< of what a lane has of one column

  ShortRows(int64_t elements, int64_t element_bytes)
      : count(elements), row_bytes(elements * element_bytes) {
    at_once = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(lane_bytes / row_bytes)));
    unit_bytes = static_cast<int>(at_once * element_bytes);
  }

  int64_t units() const { return lane_bytes / unit_bytes; }
};

class ShortRowTranspose {
 public:
  ShortRowTranspose(size_t short_side, const TileRun& rows, const TileRun& longer,
                    const Strides& at, const Machine& machine, Tables& tables)
      : machine_(machine),
        at_(at),
        short_(rows.extent(), machine.element_bytes),
        row_(rows),
        longer_(longer),
        from_short_(short_side == 1),
        in_lane_(lane_bytes / machine.element_bytes),
        tables_(tables),
        units_(machine.vector_bytes == machine.target.vector_bytes &&
               takes_units(short_.count, machine.element_bytes, machine.target)),
        table_(short_.at_once == 1 || units_ ? -1 : tables.add(table())) {}

  Body emit() const {
    const int64_t most = machine_.vector_bytes / machine_.element_bytes;
    const int64_t whole = longer_.extent() / most * most;
    Body body;
    if (whole > 0) {
      body =
          loop_always(whole / most,
                      {longer_.step(source_stream, 1, most), longer_.step(target_stream, 0, most)},
                      network(0, most));
    }
    if (whole < longer_.extent()) append(body, network(whole, longer_.extent() - whole));
    return body;
  }

 private:
  /// Between lanes that hold rows and those that hold units.
  std::vector<uint8_t> table() const {
    std::vector<uint8_t> result(static_cast<size_t>(machine_.vector_bytes), 0);
    const int64_t element = machine_.element_bytes;
    for (int64_t lane = 0; lane < machine_.vector_bytes; lane += lane_bytes) {
      for (int64_t row = 0; row < short_.at_once; ++row) {
        for (int64_t byte = 0; byte < short_.row_bytes; ++byte) {
          const int64_t in_row = row * short_.row_bytes + byte;
          const int64_t in_unit =
              byte / element * short_.unit_bytes + row * element + byte % element;
          const int64_t to = from_short_ ? in_unit : in_row, from = from_short_ ? in_row : in_unit;
          result[static_cast<size_t>(lane + to)] = static_cast<uint8_t>(from);
        }
      }
    }
    return result;
  }

  Body network(int64_t first, int64_t count) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    if (from_short_) {
      store_columns(emitter,
                    units_ ? columns_of_vectors(emitter, first, count)
                           : columns_of_lanes(emitter, first, count),
                    first, count);
    } else if (units_) {
      to_vectors(emitter, first, count);
    } else {
      to_lanes(emitter, first, count);
    }
    return body_of(emitter.take());
  }

  /// How many of `bytes` bytes are of the rows from `first` on of `count`, of which they hold those
  /// of `held` bytes; all where what follows is of them, too.
  int64_t bytes_of(int64_t first, int64_t count, int64_t held, int64_t bytes) const {
    const int64_t rest = (count - first) * short_.row_bytes;
    return rest >= bytes ? bytes : std::clamp<int64_t>(rest, 0, held);
  }

  /// Of a lane with rows [first, first + at_once).
  int64_t lane_of(int64_t first, int64_t count) const {
    return bytes_of(first, count, short_.at_once * short_.row_bytes, lane_bytes);
  }

  UnitRows unit_rows() const {
    return {static_cast<int>(short_.count), static_cast<int>(machine_.element_bytes)};
  }

  /// Calls `move(vector, row, bytes)` for the vectors that have some of `count` rows.
  template <class Move>
  void for_each_vector(int64_t count, const Move& move) const {
    const UnitRows rows = unit_rows();
    for (int64_t vector = 0; vector < unit_vectors; ++vector) {
      const int64_t row = vector * rows.in_vector();
      const int64_t bytes = bytes_of(row, count, rows.vector_row_bytes(), machine_.vector_bytes);
      if (bytes > 0) move(static_cast<size_t>(vector), row, static_cast<int>(bytes));
    }
  }

  std::array<Reg, 16> columns_of_vectors(Emitter& emitter, int64_t first, int64_t count) const {
    std::array<Reg, unit_vectors> vectors;
    vectors.fill(none);
    for_each_vector(count, [&](size_t vector, int64_t row, int bytes) {
      vectors[vector] = emitter.load(source_stream, at_[1] + longer_.at(1, first + row), bytes);
    });
    const auto made = columns_of_units(emitter, unit_rows(), vectors, tables_);
    std::array<Reg, 16> columns{};
    std::copy(made.begin(), made.end(), columns.begin());
    return columns;
  }

  void to_vectors(Emitter& emitter, int64_t first, int64_t count) const {
    std::array<Reg, unit_vectors> columns;
    columns.fill(none);
    for (int64_t row = 0; row < short_.count; ++row)
      columns[static_cast<size_t>(row)] = load_column(emitter, row, first, count);
    const auto vectors = units_of_columns(emitter, unit_rows(), columns, tables_);
    for_each_vector(count, [&](size_t vector, int64_t row, int bytes) {
      emitter.store(vectors[vector], target_stream, at_[0] + longer_.at(0, first + row), bytes);
    });
  }

  Reg load_column(Emitter& emitter, int64_t row, int64_t first, int64_t count) const {
    return emitter.load(source_stream, at_[1] + longer_.at(1, first) + row_.at(1, row),
                        static_cast<int>(count * machine_.element_bytes));
  }

  std::array<Reg, 16> columns_of_lanes(Emitter& emitter, int64_t first, int64_t count) const {
    const auto load = [&](int vector) {
      Reg value = none;
      for (int lane = 0; lane < emitter.lanes(); ++lane) {
        const int64_t row = lane * in_lane_ + vector * short_.at_once;
        const int64_t bytes = lane_of(row, count);
        if (bytes == 0) continue;
        value = emitter.load_lane(value, source_stream, at_[1] + longer_.at(1, first + row),
                                  static_cast<int>(bytes), lane * lane_bytes);
      }
      return value == none || table_ < 0 ? value : emitter.shuffle(value, table_);
    };
    return transpose_in_lanes(emitter, short_.unit_bytes, load);
  }

  void store_columns(Emitter& emitter, const std::array<Reg, 16>& columns, int64_t first,
                     int64_t count) const {
    const int bytes = static_cast<int>(count * machine_.element_bytes);
    for (int64_t column = 0; column < short_.count; ++column) {
      const Reg value = columns[static_cast<size_t>(column)];
      const int64_t offset = at_[0] + longer_.at(0, first) + row_.at(0, column);
      if (machine_.claimed_ahead != 0 && bytes == emitter.vector_bytes()) {
        emitter.claim(offset + machine_.claimed_ahead);
      }
      if (machine_.nontemporal && bytes == emitter.vector_bytes()) {
        emitter.store_nontemporal(value, target_stream, offset);
      } else {
        emitter.store(value, target_stream, offset, bytes);
      }
    }
  }

  void to_lanes(Emitter& emitter, int64_t first, int64_t count) const {
    const auto load = [&](int row) {
      return row >= short_.count ? none : load_column(emitter, row, first, count);
    };
    std::array<Reg, 16> vectors = transpose_in_lanes(emitter, short_.unit_bytes, load);
    if (table_ >= 0) {
      for (int64_t k = 0; k < short_.units(); ++k) {
        Reg& vector = vectors[static_cast<size_t>(k)];
        vector = emitter.shuffle(vector, table_);
      }
    }
    for (int lane = 0; lane < emitter.lanes(); ++lane) {
      for (int64_t k = 0; k < short_.units(); ++k) {
        const int64_t row = lane * in_lane_ + k * short_.at_once;
        const int64_t written = lane_of(row, count);
        if (written == 0) continue;
        emitter.store_part(vectors[static_cast<size_t>(k)], target_stream,
                           at_[0] + longer_.at(0, first + row), static_cast<int>(written),
                           lane * lane_bytes);
      }
    }
  }

  const Machine& machine_;
  Strides at_;
  ShortRows short_;
  const TileRun& row_;
  const TileRun& longer_;
  bool from_short_;
  int64_t in_lane_;  // elements of a lane
  Tables& tables_;
  bool units_;
  int table_;
};

/// Whether `rows` are short ones of an operand and touch.
bool are_short(const TileRun& rows, const TileRun& longer, size_t operand, const Machine& machine) {
  const int64_t element = machine.element_bytes, bytes = rows.extent() * element;
  return rows.sides() == 1 && longer.sides() == 1 && rows.is_contiguous(operand, element) &&
         longer.is_contiguous(1 - operand, element) && longer.at(operand, 1) == bytes &&
         takes_short_rows(operand, element, bytes, machine.target);
}

}  // namespace

bool takes_short_rows(size_t operand, int64_t element_bytes, int64_t row_bytes,
                      const Target& target) {
  if (takes_units(row_bytes / element_bytes, element_bytes, target)) return true;
  if (row_bytes >= lane_bytes || row_bytes <= element_bytes) return false;
  const ShortRows rows(row_bytes / element_bytes, element_bytes);
  const bool can = (rows.at_once == 1 || target.shuffle_bytes) &&
                   (operand == 1 || target.byte_masks) && rows.units() < target.registers;
  if (!can) return false;
  // Of the ceiling in L1 and L2: u8 1000 x 8 .07 -> .25, x 12 .08 -> .22, x 14 .06 -> .22, 10000 x
  // 12 .33 -> .85; u16 10000 x 7 .76 -> .96, but x 5 .33 -> .22; u32 1000 x 3 .52 -> .31. Into
  // short rows: u8 8 x 10000 .77 -> .88, 12 x 10000 .38 -> .42, 15 x 10000 .32 -> .50, but 11 x
  // 10000 .47
  // -> .36.
  if (operand == 0) return element_bytes == 1 && (row_bytes == 8 || row_bytes >= 12);
  return element_bytes == 1 ? row_bytes >= 7 : element_bytes == 2 && row_bytes >= 12;
}

bool has_short_rows(const TileRun& rows, const TileRun& columns, const Machine& machine) {
  return are_short(columns, rows, 1, machine) ||
         (are_short(rows, columns, 0, machine) && !machine.nontemporal);
}

Body emit_short_row_transpose(const TileRun& rows, const TileRun& columns, const Strides& at,
                              const Machine& machine, Tables& tables) {
  const bool from = are_short(columns, rows, 1, machine);
  return ShortRowTranspose(from ? 1 : 0, from ? columns : rows, from ? rows : columns, at, machine,
                           tables)
      .emit();
}

}  // namespace restride
