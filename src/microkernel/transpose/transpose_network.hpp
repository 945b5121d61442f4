// The register network of transposes: 16-byte pieces of source rows are loaded into the lanes of a
// register, transposed inside the lanes by unpacks, and come out as runs of the target.
//
//     lane 0        lane 1              source rows r0..r7 of f32, 32-byte vectors
//     r0: a b c d | r4: a b c d    register 0     unpack 4 bytes, unpack 8 bytes:
//     r1: a b c d | r5: a b c d    register 1       column a: r0 r1 r2 r3 | r4 r5 r6 r7
//     r2: a b c d | r6: a b c d    register 2       column b: r0 r1 r2 r3 | r4 r5 r6 r7
//     r3: a b c d | r7: a b c d    register 3       ...
//
// log2(16 / element) unpacks a register and no shuffle across lanes: the loads put every row where
// it has to come out.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/transpose/position_runs.hpp"

namespace restride {

/// Columns that one network takes. Images take more of them at a time than networks do.
constexpr int64_t network_columns(const Machine& machine) {
  return std::min<int64_t>(machine.network_column_bytes, machine.vector_bytes) /
         machine.element_bytes;
}

/// Gives the register of a row when the network needs it, of some rows twice where registers are
/// few.
using RowOfNetwork = std::function<program::Reg(int row)>;

/// Takes a column as soon as the network has made it.
using ColumnOfNetwork = std::function<void(size_t column, program::Reg value)>;

/// Takes columns from number `first` on.
using ColumnsOfNetwork = std::function<void(size_t first, std::span<const program::Reg> columns)>;

/// Transposes 16 / element registers inside their lanes. Few are alive at once: as many as rows and
/// one more, or less than that where there are no more registers than rows.
void transpose_in_lanes(Emitter& emitter, int element_bytes, const RowOfNetwork& row,
                        const ColumnOfNetwork& column);

/// How many registers it takes at once while rows come in.
int64_t registers_of_network(int64_t element_bytes, const Target& target);

/// The same, where columns leave in order, as many at once as registers hold: all, or half of them.
void transpose_in_order(Emitter& emitter, int element_bytes, const RowOfNetwork& row,
                        const ColumnsOfNetwork& columns);

/// The same, where column c comes out at result[c].
std::array<program::Reg, 16> transpose_in_lanes(Emitter& emitter, int element_bytes,
                                                const RowOfNetwork& row);

/// The same for a lane of rows, which lie side by side in what is written: a register holds a row,
/// its lanes columns, and every column leaves as a lane. Where there are fewer rows, all of a lane
/// is written nevertheless.
void emit_narrow_network(Emitter& emitter, const std::vector<Position>& rows,
                         const std::vector<Position>& columns, const Machine& machine,
                         int written_stream, program::Reg fill);

/// target[row.target + column.target] = source[row.source + column.source] for all rows and
/// columns; rows that are filled become the padding of the machine's table. Rows make runs of the
/// target, columns runs of the source; what makes no run is moved one by one by the same code. What
/// is written goes to `written_stream`. So many bytes `before` what the rows take are of the
/// source, too: a few columns come in with them.
void emit_network(Emitter& emitter, const std::vector<Position>& rows,
                  const std::vector<Position>& columns, const Machine& machine,
                  int written_stream = target_stream, int64_t before = 0);

}  // namespace restride
