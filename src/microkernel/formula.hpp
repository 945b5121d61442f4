// Formula: what is computed of an element, register by register.
//
//     registers of the sources ── convert ──► of the computing type ── compute ──► ── convert ──►
//     registers of the target
//
// The elements of a run fill registers 0, 1, ... of every type on the way, more of a wider type
// than of a narrower one. Registers are made when they are asked for, so that few are live at once.
//
//     u8     |0..............|                   f32 from u8: each register is converted from a
//     f32    |0..|4..|8..|12.|                   quarter of one that was loaded
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "microkernel/emitter.hpp"
#include "space/iteration_space.hpp"

namespace restride {

/// The type in which an operation computes: narrow floats compute in f32 and are rounded once.
ElementType computing_type(const ElementOp& op);

/// Whether any value on the way is a floating-point number: then the results depend on the mode of
/// the processor.
bool computes_floats(const ElementOp& op);

/// Where an operand's elements come from: the stream of its number.
struct FormulaOperand {
  int64_t at;    ///< bytes, of the run's first element
  bool repeats;  ///< one element for all
  bool asked;    ///< lines some way behind those that are read are asked for
};

using FormulaOperands = std::array<FormulaOperand, max_operands>;

/// Those of runs along which operands move by `stride` bytes an element, wherever they begin.
/// `asked`: whose lines are, a bit an operand.
FormulaOperands operands_of(const Strides& stride, uint32_t asked);

/// Emits the formula of one run.
class Formula {
 public:
  Formula(const ElementOp& op, Emitter& emitter, const FormulaOperands& operands, int64_t elements)
      : op_(op), emitter_(emitter), operands_(operands), elements_(elements) {}

  /// Register `index` of the target's elements. To be asked for one after the other.
  program::Reg target(int64_t index);

 private:
  struct Made {
    int64_t index;
    program::Reg reg;
  };

  program::Reg loaded(int operand, int64_t index);
  program::Reg argument(int operand, int64_t index);
  program::Reg computed(int64_t index);
  program::Reg affine(int64_t index);
  program::Reg compared(int64_t first, int64_t count);
  template <class Get>
  program::Reg converted(ElementType from, ElementType to, int64_t index, bool repeats,
                         const Get& get);

  const ElementOp& op_;
  Emitter& emitter_;
  const FormulaOperands& operands_;
  const int64_t elements_;
  // The last register made of each operand, as loaded and as converted: narrow ones are asked for
  // several times in a row.
  std::array<Made, max_operands> loaded_ = nothing_made(), arguments_ = nothing_made();

  static constexpr std::array<Made, max_operands> nothing_made() {
    std::array<Made, max_operands> made{};
    made.fill({-1, program::none});
    return made;
  }
};

}  // namespace restride
