// Networks of transposes that share their work between the ports of a processor. Rows come in
// skewed, by one permute each, so that a blend and a funnel shift merge two of them, where two
// unpacks would wait for the port that permutes.
//
//     a: a0 a1 a2 a3     b, skewed: b1 b0 b3 b2
//     blend:  the even elements of a, the odd ones of b       a0 b0 a2 b2    columns 0 and 2
//     funnel: the odd ones of a before the even ones of b     a1 b1 a3 b3    columns 1 and 3
//
// The same goes for pairs and fours of elements of rows that are skewed by as many: element e of
// row r comes to place e ^ r. Eights of bytes are unpacked.
//
// A register holds 32 bytes of each of two rows that stand a lane apart in the target. The permute
// that skews them also brings what goes to the same column side by side, so that every result is
// half a line of two columns:
//
//     r: columns 0.. | r: columns 16.. | r + 16: columns 0.. | r + 16: columns 16..    two loads
//     r: columns 0.. | r + 16: columns 0.. | r: columns 16.. | r + 16: columns 16..    one permute
//
// Intel's processors since Ice Lake permute 64 bytes on one port, and blend or shift on another.
// Emerald Rapids, of 62 transposes in L1 .84 of the time: u8 64 x 64 .22 -> .29 of the ceiling, u16
// .30 -> .36, f32 .34 -> .40. Outside of L1, where halves of lines wait for each other, 1.06 to 2.
#pragma once

#include <cstdint>
#include <vector>

#include "microkernel/transpose/transpose_network.hpp"

namespace restride {

/// Elements of more bytes are moved in eights of bytes: nothing of them is skewed.
constexpr int64_t widest_skewed_element = 4;

/// What one network takes of a row of the target.
constexpr int skewed_row_bytes = 2 * program::lane_bytes;

/// Whether boxes have skewed networks: by registers of a line.
bool has_skewed_networks(const Machine& machine);

/// As emit_network to the target. Rows that are not whole halves of lines, and columns that
/// are no more than a lane, are left to that one.
/// Precondition: has_skewed_networks(machine).
void emit_skewed_networks(Emitter& emitter, const std::vector<Position>& rows,
                          const std::vector<Position>& columns, const Machine& machine,
                          Tables& tables, int64_t before);

}  // namespace restride
