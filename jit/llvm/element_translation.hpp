// Elements as numbers, in IR: what element_math.hpp means, for all elements of a vector at once.
//
//     bits of a type ── number ──► integers, floats ── bits ──► bits of a type
//
// Bits are vectors of integers as wide as an element is stored; of complex numbers, of their parts.
// Results are those of element_math, bit for bit, in the default floating-point environment, and
// without calls: only instructions every member of the target's family has.
//
// Not here: power and remainder of floats and power of complex numbers, which are library
// functions.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "restride/problem.hpp"
#include "target/target.hpp"

namespace restride::llvm_jit {

class ElementTranslator {
 public:
  /// `builder` is not owned.
  ElementTranslator(const Target& target, llvm::IRBuilder<>& builder);

  /// Converts elements that are not complex. Precondition: element_converter knows the pair.
  llvm::Value* convert(llvm::Value* bits, ElementType from, ElementType to);

  /// One operation on each pair of elements; for a comparison the integers 1 and 0. Complex numbers
  /// lie in pairs of parts. Null where there is no translation. Precondition: element_operation
  /// knows it.
  llvm::Value* compute(Operation operation, ElementType type, llvm::Value* a, llvm::Value* b);

  /// To the nearest integral value, ties to even.
  llvm::Value* round(ElementType type, llvm::Value* bits);

  /// Whether elements are not zero: the bytes 1 and 0.
  llvm::Value* nonzero(ElementType type, llvm::Value* bits);

  /// x0, y0, x1, y1, ...; and back: the parts at even places, or those at odd ones.
  llvm::Value* interleaved(llvm::Value* x, llvm::Value* y);
  llvm::Value* every_other(llvm::Value* pairs, int first);

 private:
  // numbers
  llvm::Value* integers(ElementType type, llvm::Value* bits);
  llvm::Value* integer_bits(ElementType type, llvm::Value* integers);
  llvm::Value* integer_to_float(ElementType from, llvm::Value* integers, ElementType to);
  llvm::Value* odd_double_of_wide(llvm::Value* integers, bool is_signed);
  llvm::Value* float_to_integer(llvm::Value* value, ElementType to);
  llvm::Value* saturate(llvm::Value* value, ElementType to);
  llvm::Value* truncate(llvm::Value* value, unsigned bits, bool is_signed);
  llvm::Value* double_of_wide(llvm::Value* integers, bool is_signed);
  llvm::Value* floats(ElementType type, llvm::Value* bits);
  llvm::Value* float_bits(ElementType type, llvm::Value* value);
  llvm::Value* round_to_odd(llvm::Value* doubles);
  llvm::Value* decode(ElementType type, llvm::Value* code);
  llvm::Value* encode(ElementType type, llvm::Value* value);
  llvm::Value* encode_finite(ElementType type, llvm::Value* magnitude);
  llvm::Value* encode_nan(ElementType type, llvm::Value* sign, llvm::Value* magnitude);
  llvm::Value* encode_beyond(ElementType type, llvm::Value* sign, llvm::Value* not_a_number);
  llvm::Value* encode_power_of_two(llvm::Value* value);

  // operations
  llvm::Value* compute_preds(Operation operation, llvm::Value* a, llvm::Value* b);
  llvm::Value* compute_integers(Operation operation, bool is_signed, llvm::Value* a,
                                llvm::Value* b);
  llvm::Value* multiply(llvm::Value* a, llvm::Value* b);
  llvm::Value* divide(bool is_signed, llvm::Value* a, llvm::Value* b);
  llvm::Value* remainder(bool is_signed, llvm::Value* a, llvm::Value* b);
  llvm::Value* quotient(bool is_signed, llvm::Value* a, llvm::Value* b);
  llvm::Value* wide_quotient(llvm::Value* a, llvm::Value* b);
  llvm::Value* power(bool is_signed, llvm::Value* base, llvm::Value* exponent);
  llvm::Value* compute_floats(Operation operation, llvm::Value* a, llvm::Value* b);
  llvm::Value* compute_complex(Operation operation, ElementType type, llvm::Value* a,
                               llvm::Value* b);
  llvm::Value* divide_complex(llvm::Value* a, llvm::Value* b);
  llvm::Value* compare_integers(Operation operation, bool is_signed, llvm::Value* a,
                                llvm::Value* b);
  llvm::Value* compare_floats(Operation operation, llvm::Value* a, llvm::Value* b);
  llvm::Value* canonical(llvm::Value* value);
  llvm::Value* is_nan(llvm::Value* value) { return builder_.CreateFCmpUNO(value, value); }

  /// The same number in every element of a type.
  llvm::Constant* all(llvm::Type* type, uint64_t number) const;
  llvm::Type* with_element(llvm::Value* like, llvm::Type* element) const;
  llvm::Value* magnitude(llvm::Value* value) {
    return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  }

  llvm::IRBuilder<>& builder_;
  const bool has_half_;          ///< instructions for f16
  const bool has_round_;         ///< instructions that round to integral values
  const bool has_wide_;          ///< instructions between floats and integers of 64 bits
  const bool has_wide_product_;  ///< or none that products of halves would do better
  const bool keeps_some_nans_;   ///< a NaN may outlive a choice of the greater, if it is signalling
};

}  // namespace restride::llvm_jit
