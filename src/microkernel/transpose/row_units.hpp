// Short rows by whole vectors, where elements are permuted across lanes. A vector holds some rows;
// what it has of one column is a unit of eight bytes, and eight vectors hold as many units of a
// column as one does.
//
//     v0   a0 b0 c0 d0 ... a1 b1 c1 d1 ...      rows of v0, v1 goes on behind them
//     v0 and v2, permuted     A0 B0 | C0 D0 | A2 B2 | C2 D2     units, two a lane; E to H likewise
//     with v1 and v3, unpacked     A0 A1 | C0 C1 | A2 A3 | C2 C3
//     with v4 to v7, by lanes      A0 A1 | A2 A3 | A4 A5 | A6 A7
//
// 24 operations for eight columns, with two tables. Back it goes the other way round.
#pragma once

#include <array>
#include <cstdint>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"

namespace restride {

constexpr int unit_bytes = 8, unit_vectors = 8;

/// Rows of so many elements.
struct UnitRows {
  int count, element_bytes;

  int in_vector() const { return unit_bytes / element_bytes; }
  int vector_row_bytes() const { return in_vector() * count * element_bytes; }
};

/// Whether units of such rows fill vectors better than lanes do. Zen 4, in L1 and L2, of the
/// ceiling: u8 960 x 7 .30 -> .58, x 8 .31 -> .70, 4000 x 6 .48 -> .97, 300000 x 7 .66 -> .96; u16
/// 960 x 6 .32 -> .59, 4000 x 6 .65 -> .99, 7 x 960 .44 -> .60; 18 of 650 small problems .66 of the
/// time. Of five columns u8 960 x 5 .65 -> .58, u16 5 x 960 .62 -> .39; f32 300000 x 7 1.02 -> .98.
bool takes_units(int64_t count, int64_t element_bytes, const Target& target);

/// Eight vectors of rows, of which some may not be there, to columns.
std::array<program::Reg, unit_vectors> columns_of_units(
    Emitter& emitter, const UnitRows& rows, const std::array<program::Reg, unit_vectors>& vectors,
    Tables& tables);

/// Columns to eight vectors of rows. What is behind those of a vector may be anything.
std::array<program::Reg, unit_vectors> units_of_columns(
    Emitter& emitter, const UnitRows& rows, const std::array<program::Reg, unit_vectors>& columns,
    Tables& tables);

}  // namespace restride
