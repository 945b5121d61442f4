// Microkernels: how one tile is moved through registers.
//
//     LoopNest ── select ──► Program
//
// Each takes a full rectangle and appends straight-line code, or short loops around it, to a body.
// All knowledge of register networks is in these files; all knowledge of block sizes and order is
// in schedule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loop_nest.hpp"
#include "program.hpp"
#include "target.hpp"

namespace restride {

/// What every microkernel of a program has in common.
struct Machine {
  const Target& target;
  int vector_bytes;  ///< of the program
  int64_t element_bytes;
  bool nontemporal;  ///< whole aligned target vectors go around the caches
  int fill_table;    ///< Program::tables entry with the padding element repeated
};

/// A body that repeats `body` `side.extent` times, each stream advancing by its stride; `body`
/// itself for one.
program::Body repeat(const nest::Side& side, program::Body body);
void append(program::Body& to, program::Body from);

/// Moves, splats or fills rows: the last side is a run of the target, every side before it repeats
/// the row.
enum class RowValue : uint8_t { copy, splat, fill };
program::Body emit_rows(const nest::Tile& tile, RowValue value, const Strides& at,
                        const Machine& machine);

/// Transposes: the sides in `target_run` (bit 0: the first) make runs of the target, the others
/// runs of the source. Elements that make no run are moved one by one by the same code.
program::Body emit_transpose(const nest::Tile& tile, uint32_t target_run, const Strides& at,
                             const Machine& machine);

/// `copy 2 x 64 bytes`, `transpose 16x16 of 4 bytes`.
std::string describe(const nest::Tile& tile, Movement movement, uint32_t target_run,
                     int64_t element_bytes);

}  // namespace restride
