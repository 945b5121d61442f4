// Binary operations and rounding.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "element/stored_element.hpp"
#include "llvm/element_translation.hpp"

namespace restride::llvm_jit {
namespace {

using Predicate = llvm::CmpInst::Predicate;

/// From `equal` on, in the order of Operation. Only not_equal is true of NaNs.
constexpr std::array<Predicate, 6> of_floats = {Predicate::FCMP_OEQ, Predicate::FCMP_UNE,
                                                Predicate::FCMP_OLT, Predicate::FCMP_OLE,
                                                Predicate::FCMP_OGT, Predicate::FCMP_OGE};
constexpr std::array<Predicate, 6> of_signed = {Predicate::ICMP_EQ,  Predicate::ICMP_NE,
                                                Predicate::ICMP_SLT, Predicate::ICMP_SLE,
                                                Predicate::ICMP_SGT, Predicate::ICMP_SGE};
constexpr std::array<Predicate, 6> of_unsigned = {Predicate::ICMP_EQ,  Predicate::ICMP_NE,
                                                  Predicate::ICMP_ULT, Predicate::ICMP_ULE,
                                                  Predicate::ICMP_UGT, Predicate::ICMP_UGE};

/// 1.0 in a type of floats.
uint64_t one_bits(const llvm::Type* type) {
  return type->getScalarSizeInBits() == 64 ? uint64_t{0x3ff} << 52 : 0x3f800000;
}

size_t place(Operation comparison) { return size_t(comparison) - size_t(Operation::equal); }

}  // namespace

llvm::Value* ElementTranslator::compute(Operation operation, ElementType type, llvm::Value* a,
                                        llvm::Value* b) {
  if (is_complex(type)) return compute_complex(operation, type, a, b);
  const bool is_signed = stored::is_signed_integer(type);
  if (stored::is_any_integer(type) || type == ElementType::pred) {
    llvm::Value *const x = integers(type, a), *const y = integers(type, b);
    if (is_comparison(operation)) {
      return builder_.CreateZExt(compare_integers(operation, is_signed, x, y), a->getType());
    }
    if (type == ElementType::pred) return compute_preds(operation, x, y);
    return integer_bits(type, compute_integers(operation, is_signed, x, y));
  }
  llvm::Value *const x = floats(type, a), *const y = floats(type, b);
  if (is_comparison(operation)) {
    return builder_.CreateZExt(compare_floats(operation, x, y), a->getType());
  }
  llvm::Value* const result = compute_floats(operation, x, y);
  return result == nullptr ? nullptr : float_bits(type, canonical(result));
}

llvm::Value* ElementTranslator::compare_integers(Operation operation, bool is_signed,
                                                 llvm::Value* a, llvm::Value* b) {
  return builder_.CreateICmp((is_signed ? of_signed : of_unsigned)[place(operation)], a, b);
}

llvm::Value* ElementTranslator::compare_floats(Operation operation, llvm::Value* a,
                                               llvm::Value* b) {
  return builder_.CreateFCmp(of_floats[place(operation)], a, b);
}

/// Every NaN becomes the positive quiet one without payload.
llvm::Value* ElementTranslator::canonical(llvm::Value* value) {
  const uint64_t nan =
      value->getType()->getScalarSizeInBits() == 64 ? uint64_t{0x7ff8} << 48 : 0x7fc00000;
  return builder_.CreateSelect(is_nan(value), all(value->getType(), nan), value);
}

/// Of bytes that are 0 or 1.
llvm::Value* ElementTranslator::compute_preds(Operation operation, llvm::Value* a, llvm::Value* b) {
  switch (operation) {
    case Operation::add:
    case Operation::maximum:
    case Operation::bit_or:
      return builder_.CreateOr(a, b);
    case Operation::bit_xor:
      return builder_.CreateXor(a, b);
    default:
      return builder_.CreateAnd(a, b);
  }
}

llvm::Value* ElementTranslator::compute_integers(Operation operation, bool is_signed,
                                                 llvm::Value* a, llvm::Value* b) {
  switch (operation) {
    case Operation::add:
      return builder_.CreateAdd(a, b);
    case Operation::subtract:
      return builder_.CreateSub(a, b);
    case Operation::multiply:
      return multiply(a, b);
    case Operation::divide:
      return divide(is_signed, a, b);
    case Operation::remainder:
      return remainder(is_signed, a, b);
    case Operation::power:
      return power(is_signed, a, b);
    case Operation::maximum:
      return builder_.CreateBinaryIntrinsic(
          is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b);
    case Operation::minimum:
      return builder_.CreateBinaryIntrinsic(
          is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b);
    case Operation::bit_and:
      return builder_.CreateAnd(a, b);
    case Operation::bit_or:
      return builder_.CreateOr(a, b);
    default:
      return builder_.CreateXor(a, b);
  }
}

/// By squaring, until no element has exponent left; a loop of its own within the Block.
llvm::Value* ElementTranslator::power(bool is_signed, llvm::Value* base, llvm::Value* exponent) {
  llvm::Type* const type = base->getType();
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::Function* const function = before->getParent();
  const auto new_block = [&](const char* name) {
    return llvm::BasicBlock::Create(builder_.getContext(), name, function);
  };
  llvm::BasicBlock *const head = new_block("power"), *const after = new_block("powered");
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  const auto varying = [&](llvm::Value* from) {
    llvm::PHINode* const phi = builder_.CreatePHI(type, 2);
    phi->addIncoming(from, before);
    return phi;
  };
  llvm::PHINode *const result = varying(all(type, 1)), *const factor = varying(base),
                       *const rest = varying(exponent);
  llvm::Value* const is_odd =
      builder_.CreateICmpNE(builder_.CreateAnd(rest, all(type, 1)), all(type, 0));
  llvm::Value* const next = builder_.CreateSelect(is_odd, multiply(result, factor), result);
  llvm::Value* const left = builder_.CreateLShr(rest, all(type, 1));
  result->addIncoming(next, head);
  factor->addIncoming(multiply(factor, factor), head);
  rest->addIncoming(left, head);
  llvm::Value* const any = builder_.CreateOrReduce(left);
  builder_.CreateCondBr(builder_.CreateICmpNE(any, all(any->getType(), 0)), head, after);
  builder_.SetInsertPoint(after);
  if (!is_signed) return next;
  // To a negative power: 1 or -1 of these, 0 of all others.
  llvm::Value *const one = all(type, 1), *const zero = all(type, 0);
  llvm::Value* const odd = builder_.CreateICmpNE(builder_.CreateAnd(exponent, one), zero);
  llvm::Value* const is_minus_one = builder_.CreateICmpEQ(base, all(type, ~uint64_t{0}));
  llvm::Value* const of_others = builder_.CreateZExt(builder_.CreateICmpEQ(base, one), type);
  llvm::Value* const inverse =
      builder_.CreateSelect(is_minus_one, builder_.CreateSelect(odd, base, one), of_others);
  return builder_.CreateSelect(builder_.CreateICmpSLT(exponent, zero), inverse, next);
}

llvm::Value* ElementTranslator::compute_floats(Operation operation, llvm::Value* a,
                                               llvm::Value* b) {
  switch (operation) {
    case Operation::add:
      return builder_.CreateFAdd(a, b);
    case Operation::subtract:
      return builder_.CreateFSub(a, b);
    case Operation::multiply:
      return builder_.CreateFMul(a, b);
    case Operation::divide:
      return builder_.CreateFDiv(a, b);
    case Operation::maximum:  // a NaN if either is; -0 is less than +0
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, a, b);
    case Operation::minimum:
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, a, b);
    default:
      return nullptr;
  }
}

llvm::Value* ElementTranslator::compute_complex(Operation operation, ElementType type,
                                                llvm::Value* a, llvm::Value* b) {
  llvm::Value *const x = floats(type, a), *const y = floats(type, b);
  if (is_comparison(operation)) {
    // As wide as the parts: bits would be taken out and put together one by one.
    llvm::Value* const same =
        builder_.CreateSExt(compare_floats(Operation::equal, x, y), a->getType());
    llvm::Value* result = builder_.CreateAnd(every_other(same, 0), every_other(same, 1));
    if (operation == Operation::not_equal) result = builder_.CreateNot(result);
    result = builder_.CreateAnd(result, all(result->getType(), one_bits(x->getType())));
    return interleaved(result, all(result->getType(), 0));
  }
  llvm::Value* result = nullptr;
  if (operation == Operation::divide) {
    result = divide_complex(x, y);
  } else if (operation == Operation::multiply) {
    llvm::Value *const a_re = every_other(x, 0), *const a_im = every_other(x, 1);
    llvm::Value *const b_re = every_other(y, 0), *const b_im = every_other(y, 1);
    result = interleaved(
        builder_.CreateFSub(builder_.CreateFMul(a_re, b_re), builder_.CreateFMul(a_im, b_im)),
        builder_.CreateFAdd(builder_.CreateFMul(a_re, b_im), builder_.CreateFMul(a_im, b_re)));
  } else if (operation != Operation::power) {
    result = compute_floats(operation, x, y);
  }
  return result == nullptr ? nullptr : float_bits(type, canonical(result));
}

/// Smith's method: by the quotient of the smaller part of the divisor and the larger one.
llvm::Value* ElementTranslator::divide_complex(llvm::Value* a, llvm::Value* b) {
  llvm::Value *const a_re = every_other(a, 0), *const a_im = every_other(a, 1);
  llvm::Value *const b_re = every_other(b, 0), *const b_im = every_other(b, 1);
  llvm::Type* const type = a_re->getType();
  llvm::Value* const real_leads = builder_.CreateFCmpOGE(magnitude(b_re), magnitude(b_im));
  const auto select = [&](llvm::Value* x, llvm::Value* y) {
    return builder_.CreateSelect(real_leads, x, y);
  };
  llvm::Value *const large = select(b_re, b_im), *const small = select(b_im, b_re);
  llvm::Value* const ratio = builder_.CreateFDiv(small, large);
  llvm::Value* const length = builder_.CreateFAdd(large, builder_.CreateFMul(small, ratio));
  llvm::Value* const scale = builder_.CreateFDiv(all(type, one_bits(type)), length);
  // The part of the dividend that meets the ratio, and the other.
  llvm::Value *const met = select(a_im, a_re), *const other = select(a_re, a_im);
  llvm::Value* const re = builder_.CreateFAdd(other, builder_.CreateFMul(met, ratio));
  llvm::Value* const im_real_leads = builder_.CreateFSub(a_im, builder_.CreateFMul(a_re, ratio));
  llvm::Value* const im_otherwise = builder_.CreateFSub(builder_.CreateFMul(a_im, ratio), a_re);
  llvm::Value* const im = select(im_real_leads, im_otherwise);
  llvm::Value* const zero = all(type, 0);
  llvm::Value* const by_zero =
      builder_.CreateAnd(builder_.CreateFCmpOEQ(b_re, zero), builder_.CreateFCmpOEQ(b_im, zero));
  const auto part = [&](llvm::Value* dividend, llvm::Value* value) {
    llvm::Value* const without = builder_.CreateFDiv(dividend, magnitude(b_re));
    return builder_.CreateSelect(by_zero, without, builder_.CreateFMul(value, scale));
  };
  return interleaved(part(a_re, re), part(a_im, im));
}

llvm::Value* ElementTranslator::round(ElementType type, llvm::Value* bits) {
  llvm::Value* const value = floats(type, bits);
  if (has_round_) {
    return float_bits(type, builder_.CreateUnaryIntrinsic(llvm::Intrinsic::nearbyint, value));
  }
  // 2^23 and 2^52: the last bit of such a number is worth 1, so adding it rounds.
  llvm::Type* const floating = value->getType();
  const bool wide = floating->getScalarSizeInBits() == 64;
  llvm::Value* const large = all(floating, wide ? uint64_t{0x433} << 52 : 0x4b000000);
  llvm::Value* const size = magnitude(value);
  llvm::Value* const rounded = builder_.CreateFSub(builder_.CreateFAdd(size, large), large);
  llvm::Value* const with_sign =
      builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, rounded, value);
  llvm::Value* const is_small = builder_.CreateFCmpOLT(size, large);
  llvm::Value* const quiet =
      builder_.CreateSelect(is_nan(value), builder_.CreateFAdd(value, value), value);
  return float_bits(type, builder_.CreateSelect(is_small, with_sign, quiet));
}

}  // namespace restride::llvm_jit
