// Computed rows: runs of the target whose sources lie side by side or repeat one element. What is
// computed of each register is the formula's business; here are the loops around it and the stores.
#include <algorithm>

#include "base/arithmetic.hpp"
#include "element/float_format.hpp"
#include "microkernel/emitter.hpp"
#include "microkernel/formula.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/row_walk.hpp"

namespace restride {
namespace {

using program::Block;
using program::Body;

// Registers of the widest type in straight-line code; longer rows loop.
constexpr int64_t most_straight_registers = 16;
constexpr int64_t looped_registers = 8;
// Where the first elements go apart there is a rest as well.
constexpr int64_t looped_registers_from_line = 4;

class ComputedRows {
 public:
  ComputedRows(const ElementOp& op, const nest::Side& row, const Machine& machine)
      : op_(op), machine_(machine), operands_(operands_of(row.stride, machine.asked_sources)) {}

  Block registers(const std::vector<Run>& runs) {
    const int64_t vector = machine_.vector_bytes;
    for (const Run& run : runs) {
      for (size_t k = 0; k < operands_.size(); ++k) operands_[k].at = run.at[k];
      Formula formula(op_, emitter_, operands_, run.elements);
      const int64_t run_bytes = run.elements * op_.bytes;
      for (int64_t index = 0; index * vector < run_bytes; ++index) {
        const int64_t offset = run.at[0] + index * vector;
        const auto bytes = static_cast<int>(std::min(vector, run_bytes - index * vector));
        const program::Reg value = formula.target(index);
        if (machine_.nontemporal && bytes == vector) {
          emitter_.store_nontemporal(value, target_stream, offset);
        } else {
          emitter_.store(value, target_stream, offset, bytes);
        }
      }
    }
    return emitter_.take();
  }

 private:
  const ElementOp& op_;
  const Machine& machine_;
  FormulaOperands operands_;
  Emitter emitter_{machine_.target, machine_.vector_bytes};
};

}  // namespace

Body emit_computed_rows(const nest::Tile& tile, const ElementOp& op, const Strides& at,
                        const Machine& machine) {
  const nest::Side& row = tile.sides.back();
  RowWalk walk{.sides = {tile.sides.begin(), tile.sides.end() - 1}};
  walk.elements = row.extent;
  walk.advance = row.stride;
  walk.first = machine.to_vectors / op.bytes;
  int64_t widest = storage_bytes(computing_type(op)), narrowest = widest, converted = 0;
  for (int operand = 0; operand <= source_count(op); ++operand) {
    widest = std::max(widest, element_bytes(op, operand));
    narrowest = std::min(narrowest, element_bytes(op, operand));
    const ElementType type = operand == 0 ? op.target_type : operand_type(op, operand);
    if (is_byte_float(type)) converted += storage_bytes(ElementType::f32);
  }
  // Each side of these goes through f32 by some twenty instructions a register.
  widest = std::max(widest, converted);
  // A group fills a register of the narrowest type.
  walk.group = machine.vector_bytes / narrowest;
  const int64_t registers = widest / narrowest;
  walk.most_straight_groups = std::max<int64_t>(1, most_straight_registers / registers);
  const int64_t looped = walk.first > 0 ? looped_registers_from_line : looped_registers;
  walk.looped_groups = std::max<int64_t>(1, looped / registers);
  if (machine.nontemporal) walk.streams = machine.target.row_streams;
  if (shifts_computed_rows(row, op, machine))
    return emit_shifted_computed_rows(walk.sides, row, op, at, widest, machine);
  ComputedRows rows(op, row, machine);
  return walk_rows(walk, at, [&](const std::vector<Run>& runs) { return rows.registers(runs); });
}

}  // namespace restride
