#include "microkernel/transpose/row_units.hpp"

#include <vector>

namespace restride {
namespace {

using program::none;
using program::Reg;
using Vectors = std::array<Reg, unit_vectors>;

constexpr int vector_bytes = 64;
constexpr int even_lanes = 0x88, odd_lanes = 0xdd;

/// Which elements permuted vectors take of rows, and rows of permuted vectors.
class UnitTables {
 public:
  explicit UnitTables(const UnitRows& rows)
      : rows_(rows), slots_(vector_bytes / rows.element_bytes), in_unit_(rows.in_vector()) {}

  /// Columns [first, first + 4) of two vectors of rows: two in each of two lanes, of the first
  /// vector and of the second.
  std::vector<uint8_t> of_rows(int first) const {
    std::vector<uint8_t> table(slot(slots_), program::undefined);
    for (int vector = 0; vector < 2; ++vector) {
      for (int column = 0; column < 4 && first + column < rows_.count; ++column) {
        const int unit = 4 * vector + column;
        for (int row = 0; row < in_unit_; ++row) {
          table[slot(unit * in_unit_ + row)] =
              static_cast<uint8_t>(vector * slots_ + row * rows_.count + first + column);
        }
      }
    }
    return table;
  }

  /// The rows of one vector from two that have columns 0 to 3 and 4 to 7: two of them in lanes 0
  /// and 2, those of another vector in lanes 1 and 3.
  std::vector<uint8_t> of_columns(int vector) const {
    // What is stored behind the rows has to be something.
    std::vector<uint8_t> table(slot(slots_), 0);
    for (int column = 0; column < rows_.count; ++column) {
      const int lane = column % 4 / 2 * 2 + vector, unit = 2 * lane + column % 2;
      for (int row = 0; row < in_unit_; ++row) {
        table[slot(row * rows_.count + column)] =
            static_cast<uint8_t>(column / 4 * slots_ + unit * in_unit_ + row);
      }
    }
    return table;
  }

 private:
  static size_t slot(int k) { return static_cast<size_t>(k); }

  const UnitRows& rows_;
  const int slots_, in_unit_;
};

/// Lanes of both, or of the one that is there.
Reg lanes(Emitter& emitter, Reg a, Reg b, int select) {
  if (a == none && b == none) return none;
  return emitter.lanes(a == none ? b : a, b == none ? a : b, select);
}

}  // namespace

bool takes_units(int64_t count, int64_t element_bytes, const Target& target) {
  constexpr int64_t least = 6, widest_element = 2;
  return target.vector_bytes == vector_bytes && target.permute_bytes == vector_bytes &&
         target.permute_width != 0 && target.permute_width <= element_bytes &&
         element_bytes <= widest_element && count >= least && count <= unit_vectors;
}

Vectors columns_of_units(Emitter& emitter, const UnitRows& rows, const Vectors& vectors,
                         Tables& tables) {
  const UnitTables places(rows);
  Vectors columns;
  columns.fill(none);
  for (int first = 0; first < rows.count; first += 4) {
    const int table = tables.add(places.of_rows(first));
    const auto pair = [&](size_t vector) {
      const Reg a = vectors[vector], b = vectors[vector + 2];
      return a == none ? none : emitter.permute(rows.element_bytes, a, b == none ? a : b, table);
    };
    const std::array<Reg, 4> pairs = {pair(0), pair(1), pair(4), pair(5)};
    for (int beside = 0; beside < 2 && first + beside < rows.count; ++beside) {
      const auto unpacked = [&](Reg a, Reg b) {
        return beside == 0 ? emitter.unpack_low(unit_bytes, a, b)
                           : emitter.unpack_high(unit_bytes, a, b);
      };
      const Reg low = unpacked(pairs[0], pairs[1]), high = unpacked(pairs[2], pairs[3]);
      for (int lane = 0; lane < 2 && first + beside + 2 * lane < rows.count; ++lane) {
        columns[static_cast<size_t>(first + beside + 2 * lane)] =
            lanes(emitter, low, high, lane == 0 ? even_lanes : odd_lanes);
      }
    }
  }
  return columns;
}

Vectors units_of_columns(Emitter& emitter, const UnitRows& rows, const Vectors& columns,
                         Tables& tables) {
  const UnitTables places(rows);
  Vectors vectors;
  for (int odd = 0; odd < 2; ++odd) {
    std::array<Reg, 4> pairs;
    for (size_t k = 0; k < pairs.size(); ++k) {
      const Reg a = columns[2 * k], b = columns[2 * k + 1];
      pairs[k] =
          odd == 0 ? emitter.unpack_low(unit_bytes, a, b) : emitter.unpack_high(unit_bytes, a, b);
    }
    for (int lane = 0; lane < 2; ++lane) {
      const int select = lane == 0 ? even_lanes : odd_lanes;
      const Reg first = lanes(emitter, pairs[0], pairs[1], select);
      const Reg second = lanes(emitter, pairs[2], pairs[3], select);
      for (int half = 0; half < 2; ++half) {
        vectors[static_cast<size_t>(4 * half + 2 * lane + odd)] =
            emitter.permute(rows.element_bytes, first, second, tables.add(places.of_columns(half)));
      }
    }
  }
  return vectors;
}

}  // namespace restride
