// Computed rows that begin between lines, for arrays that do not stay in the caches: each leaves in
// whole lines around them, by shifts (shifted_lines), but for its ends. What is computed of each
// register is the formula's business.
#include <algorithm>
#include <span>
#include <vector>

#include "microkernel/emitter.hpp"
#include "microkernel/formula.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/transpose/shifted_lines.hpp"

namespace restride {
namespace {

using program::Block;
using program::Body;

// Registers of the widest type in straight-line code: a loop computes one vector of the target more
// than it stores. 8 and 32 take 1.06 and 1.00 of the time.
constexpr int64_t looped_registers = 16;

/// A row that begins anywhere in a line, seen when the code runs.
class ShiftedRow {
 public:
  /// `in_loop`: vectors of the target in straight-line code. All references must live on.
  ShiftedRow(const ElementOp& op, const nest::Side& row, const Strides& at, int64_t in_loop,
             const Machine& machine)
      : op_(op), row_(row), at_(at), in_loop_(in_loop), machine_(machine) {}

  Body emit() const {
    const int64_t vectors = bytes_ / line_;
    if (vectors <= 2 * in_loop_) return body_of(vectors_out(0, vectors));
    const int64_t looped = (vectors - 1) / in_loop_;
    Body body = body_of(vectors_out(0, 1));
    append(body, repeat(step(looped), body_of(vectors_out(1, 1 + in_loop_))));
    append(body, body_of(vectors_out(1 + looped * in_loop_, vectors)));
    return body;
  }

 private:
  nest::Side step(int64_t times) const {
    nest::Side side{times, row_.stride};
    for (int64_t& stride : side.stride) stride *= in_loop_ * line_ / op_.bytes;
    return side;
  }

  /// Registers of the row from byte `at` on, `bytes` of them.
  Formula formula(Emitter& emitter, FormulaOperands& operands, int64_t at, int64_t bytes) const {
    operands = operands_of(row_.stride, machine_.asked_sources);
    for (size_t k = 0; k < operands.size(); ++k)
      operands[k].at = at_[k] + at / op_.bytes * row_.stride[k];
    return {op_, emitter, operands, bytes / op_.bytes};
  }

  /// The lines in which vectors [first, end) begin, and that in which the row ends behind them.
  Block vectors_out(int64_t first, int64_t end) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    const int64_t loaded = std::max<int64_t>(first - 1, 0);
    FormulaOperands operands;
    Formula of_vectors = formula(emitter, operands, loaded * line_, (end - loaded) * line_);
    std::vector<program::Reg> made;
    const auto once = [&](int64_t k) {
      while (loaded + static_cast<int64_t>(made.size()) <= k)
        made.push_back(of_vectors.target(static_cast<int64_t>(made.size())));
      return made[static_cast<size_t>(k - loaded)];
    };
    ShiftedLines lines(emitter, machine_, at_[0], once);
    if (first == 0) lines.begin();
    lines.lines(loaded + 1, end, {});
    if (end == bytes_ / line_) end_out(emitter);
    return emitter.take();
  }

  void end_out(Emitter& emitter) const {
    end_run(emitter, machine_, at_[0], bytes_, [&](int64_t at, int64_t bytes) {
      FormulaOperands operands;
      return formula(emitter, operands, at, bytes).target(0);
    });
  }

  const ElementOp& op_;
  const nest::Side& row_;
  Strides at_;
  int64_t in_loop_;
  const Machine& machine_;
  int64_t line_ = machine_.vector_bytes, bytes_ = row_.extent * op_.bytes;
};

/// `row` for all rows of some sides.
Body for_all(std::span<const nest::Side> sides, const Body& row) {
  return sides.empty() ? row : repeat(sides.front(), for_all(sides.subspan(1), row));
}

}  // namespace

bool shifts_computed_rows(const nest::Side& row, const ElementOp& op, const Machine& machine) {
  return machine.shifts_runs && !machine.nontemporal && shifts_lines(machine) &&
         machine.vector_bytes == machine.target.line_bytes &&
         row.extent * op.bytes >= machine.vector_bytes;
}

Body emit_shifted_computed_rows(std::span<const nest::Side> sides, const nest::Side& row,
                                const ElementOp& op, const Strides& at, int64_t widest_bytes,
                                const Machine& machine) {
  const int64_t in_loop = std::max<int64_t>(2, looped_registers * op.bytes / widest_bytes);
  return for_all(sides, ShiftedRow(op, row, at, in_loop, machine).emit());
}

}  // namespace restride
