// Products and quotients of integers. Division by division of floats: there is no vector
// instruction for the former on x86-64, and none for all widths on AArch64.
//
//     up to 16 bits  as f32     up to 32 bits  as f64     a quotient that is no whole number is
//                                                         further from one than it is rounded by
//     64 bits        as f64 from below, what is left divided once more, at most one missing then
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "llvm/element_translation.hpp"

namespace restride::llvm_jit {

/// NEON has no products of 64 bits: there they are three of the halves.
llvm::Value* ElementTranslator::multiply(llvm::Value* a, llvm::Value* b) {
  llvm::Type* const type = a->getType();
  if (has_wide_product_ || type->getScalarSizeInBits() < 64) return builder_.CreateMul(a, b);
  llvm::Type* const halves = with_element(a, builder_.getInt32Ty());
  const auto low = [&](llvm::Value* x) { return builder_.CreateTrunc(x, halves); };
  const auto high = [&](llvm::Value* x) { return low(builder_.CreateLShr(x, uint64_t{32})); };
  const auto widen = [&](llvm::Value* x) { return builder_.CreateZExt(x, type); };
  llvm::Value* const crossed =
      builder_.CreateAdd(builder_.CreateMul(high(a), low(b)), builder_.CreateMul(low(a), high(b)));
  return builder_.CreateAdd(builder_.CreateMul(widen(low(a)), widen(low(b))),
                            builder_.CreateShl(widen(crossed), uint64_t{32}));
}

/// By zero: all ones. By -1: the negation, which wraps. The division sees neither.
llvm::Value* ElementTranslator::divide(bool is_signed, llvm::Value* a, llvm::Value* b) {
  llvm::Type* const type = a->getType();
  llvm::Value* const by_zero = builder_.CreateICmpEQ(b, all(type, 0));
  llvm::Value* const by_minus_one = builder_.CreateICmpEQ(b, all(type, ~uint64_t{0}));
  llvm::Value* const special = is_signed ? builder_.CreateOr(by_zero, by_minus_one) : by_zero;
  llvm::Value* const divisor = builder_.CreateSelect(special, all(type, 1), b);
  llvm::Value* result = quotient(is_signed, a, divisor);
  if (is_signed) result = builder_.CreateSelect(by_minus_one, builder_.CreateNeg(a), result);
  return builder_.CreateSelect(by_zero, all(type, ~uint64_t{0}), result);
}

/// What the quotient leaves; by zero all.
llvm::Value* ElementTranslator::remainder(bool is_signed, llvm::Value* a, llvm::Value* b) {
  return builder_.CreateSub(a, multiply(divide(is_signed, a, b), b));
}

/// Toward zero. The divisor is not 0, and not -1 where signed.
llvm::Value* ElementTranslator::quotient(bool is_signed, llvm::Value* a, llvm::Value* b) {
  llvm::Type* const type = a->getType();
  const unsigned bits = type->getScalarSizeInBits();
  if (!has_round_) return is_signed ? builder_.CreateSDiv(a, b) : builder_.CreateUDiv(a, b);
  if (bits == 64 && !is_signed) return wide_quotient(a, b);
  if (bits == 64) {
    const auto size = [&](llvm::Value* number) {
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, number, builder_.getFalse());
    };
    llvm::Value* const negative = builder_.CreateICmpSLT(builder_.CreateXor(a, b), all(type, 0));
    llvm::Value* const result = wide_quotient(size(a), size(b));
    return builder_.CreateSelect(negative, builder_.CreateNeg(result), result);
  }
  llvm::Type* const floating =
      with_element(a, bits == 32 ? builder_.getDoubleTy() : builder_.getFloatTy());
  llvm::Type* const whole = with_element(a, builder_.getInt32Ty());
  const auto as_float = [&](llvm::Value* number) {
    llvm::Value* const wide = builder_.CreateIntCast(number, whole, is_signed);
    return is_signed || bits < 32 ? builder_.CreateSIToFP(wide, floating)
                                  : builder_.CreateUIToFP(wide, floating);
  };
  return truncate(builder_.CreateFDiv(as_float(a), as_float(b)), bits, is_signed);
}

/// Of unsigned integers of 64 bits.
llvm::Value* ElementTranslator::wide_quotient(llvm::Value* a, llvm::Value* b) {
  llvm::Type* const type = a->getType();
  llvm::Value* const divisor = double_of_wide(b, false);
  // Four roundings raise a quotient by less than this lowers it.
  llvm::Constant* const lowering =
      llvm::ConstantFP::get(divisor->getType(), 1 - 1.0 / (int64_t{1} << 50));
  const auto from_below = [&](llvm::Value* dividend) {
    llvm::Value* const close = builder_.CreateFDiv(double_of_wide(dividend, false), divisor);
    return builder_.CreateFMul(close, lowering);
  };
  llvm::Value* const first = truncate(from_below(a), 64, false);
  llvm::Value* const rest = builder_.CreateSub(a, multiply(first, b));
  // At most 2^16.
  llvm::Value* const second = builder_.CreateZExt(truncate(from_below(rest), 32, true), type);
  llvm::Value* const left = builder_.CreateSub(rest, multiply(second, b));
  llvm::Value* const one_more = builder_.CreateZExt(builder_.CreateICmpUGE(left, b), type);
  return builder_.CreateAdd(builder_.CreateAdd(first, second), one_more);
}

}  // namespace restride::llvm_jit
