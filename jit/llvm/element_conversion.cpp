// Conversions. Each rounds once: what passes through f32 on its way to a narrower format is exact
// there, or rounded to odd, which a later rounding to fewer bits cannot tell from exact.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "element/stored_element.hpp"
#include "llvm/element_translation.hpp"

namespace restride::llvm_jit {

namespace {

int bits_of(ElementType type) { return stored::integer_bits(type); }

/// pred counts as an unsigned integer of one bit.
bool is_integral(ElementType type) {
  return type == ElementType::pred || stored::is_any_integer(type);
}

unsigned element_bits(const llvm::Value* value) { return value->getType()->getScalarSizeInBits(); }

}  // namespace

ElementTranslator::ElementTranslator(const Target& target, llvm::IRBuilder<>& builder)
    : builder_(builder),
      has_half_(instruction_set(target) != InstructionSet::sse2),
      has_round_(instruction_set(target) != InstructionSet::sse2),
      has_wide_(instruction_set(target) >= InstructionSet::avx512),
      has_wide_product_(instruction_set(target) != InstructionSet::neon),
      keeps_some_nans_(target.architecture == Architecture::aarch64) {}

llvm::Constant* ElementTranslator::all(llvm::Type* type, uint64_t number) const {
  const llvm::APInt bits(type->getScalarSizeInBits(), number, false, true);
  if (!type->isFPOrFPVectorTy()) return llvm::ConstantInt::get(type, bits);
  return llvm::ConstantFP::get(type, llvm::APFloat(type->getScalarType()->getFltSemantics(), bits));
}

llvm::Type* ElementTranslator::with_element(llvm::Value* like, llvm::Type* element) const {
  return llvm::cast<llvm::VectorType>(like->getType())->getWithNewType(element);
}

llvm::Value* ElementTranslator::nonzero(ElementType type, llvm::Value* bits) {
  llvm::Value* result = nullptr;
  if (is_integral(type)) {
    llvm::Value* const number = integers(type, bits);
    result = builder_.CreateICmpNE(number, all(number->getType(), 0));
  } else {
    llvm::Value* const number = floats(type, bits);
    result = builder_.CreateFCmpUNE(number, all(number->getType(), 0));
  }
  return builder_.CreateZExt(result, with_element(bits, builder_.getInt8Ty()));
}

llvm::Value* ElementTranslator::convert(llvm::Value* bits, ElementType from, ElementType to) {
  if (from == to) return bits;
  if (to == ElementType::pred) return nonzero(from, bits);
  if (is_integral(from)) {
    llvm::Value* const number = integers(from, bits);
    if (!is_integral(to)) return integer_to_float(from, number, to);
    llvm::Type* const type =
        with_element(bits, builder_.getIntNTy(unsigned(8 * storage_bytes(to))));
    const bool is_signed = stored::is_signed_integer(from);
    return integer_bits(to, builder_.CreateIntCast(number, type, is_signed));
  }
  llvm::Value* const number = floats(from, bits);
  return is_integral(to) ? float_to_integer(number, to) : float_bits(to, number);
}

/// Values of types under 8 bits are in the low bits of a byte; here they fill it.
llvm::Value* ElementTranslator::integers(ElementType type, llvm::Value* bits) {
  if (type == ElementType::pred) {
    llvm::Value* const is_set = builder_.CreateICmpNE(bits, all(bits->getType(), 0));
    return builder_.CreateZExt(is_set, bits->getType());
  }
  const unsigned unused = element_bits(bits) - unsigned(bits_of(type));
  if (unused == 0) return bits;
  llvm::Value* const high = builder_.CreateShl(bits, uint64_t{unused});
  return stored::is_signed_integer(type) ? builder_.CreateAShr(high, uint64_t{unused})
                                         : builder_.CreateLShr(high, uint64_t{unused});
}

llvm::Value* ElementTranslator::integer_bits(ElementType type, llvm::Value* integers) {
  const unsigned unused = element_bits(integers) - unsigned(bits_of(type));
  if (unused == 0) return integers;
  return builder_.CreateAnd(integers, all(integers->getType(), (1u << bits_of(type)) - 1));
}

llvm::Value* ElementTranslator::integer_to_float(ElementType from, llvm::Value* integers,
                                                 ElementType to) {
  const bool is_signed = stored::is_signed_integer(from), narrow = stored::is_narrow_float(to);
  const unsigned bits = element_bits(integers);
  if (narrow && bits == 64) return float_bits(to, odd_double_of_wide(integers, is_signed));
  const bool wide = to == ElementType::f64 || (narrow && bits == 32);
  llvm::Type* const type =
      with_element(integers, wide ? builder_.getDoubleTy() : builder_.getFloatTy());
  if (bits == 64 && !has_wide_ && has_round_) {
    return float_bits(
        to, wide ? double_of_wide(integers, is_signed) : odd_double_of_wide(integers, is_signed));
  }
  llvm::Value* const value =
      is_signed ? builder_.CreateSIToFP(integers, type) : builder_.CreateUIToFP(integers, type);
  return float_bits(to, value);
}

/// f64 from integers of 64 bits, for a later rounding to f32 or less: the low bits of a large
/// magnitude become one.
llvm::Value* ElementTranslator::odd_double_of_wide(llvm::Value* integers, bool is_signed) {
  constexpr uint64_t low = (1u << 11) - 1, exact = uint64_t{1} << 53;
  llvm::Type* const type = integers->getType();
  llvm::Value* const negative = builder_.CreateICmpSLT(integers, all(type, 0));
  llvm::Value* size = integers;
  if (is_signed) size = builder_.CreateSelect(negative, builder_.CreateNeg(integers), integers);
  llvm::Value* const rest = builder_.CreateAnd(size, all(type, low));
  llvm::Value* const kept = builder_.CreateXor(size, rest);
  llvm::Value* const odd = builder_.CreateOr(kept, all(type, low + 1));
  llvm::Value* const is_exact = builder_.CreateICmpEQ(rest, all(type, 0));
  llvm::Value* const rounded = builder_.CreateSelect(is_exact, size, odd);
  llvm::Value* const is_small = builder_.CreateICmpULT(size, all(type, exact));
  llvm::Value* value = builder_.CreateSelect(is_small, size, rounded);
  value = double_of_wide(value, false);
  if (is_signed) value = builder_.CreateSelect(negative, builder_.CreateFNeg(value), value);
  return value;
}

/// f64 as double, all others as float: exact.
llvm::Value* ElementTranslator::floats(ElementType type, llvm::Value* bits) {
  if (stored::is_narrow_float(type)) return decode(type, bits);
  const bool wide = type == ElementType::f64 || type == ElementType::c128;
  return builder_.CreateBitCast(
      bits, with_element(bits, wide ? builder_.getDoubleTy() : builder_.getFloatTy()));
}

/// Rounds a float or double once to a type.
llvm::Value* ElementTranslator::float_bits(ElementType type, llvm::Value* value) {
  const bool from_double = element_bits(value) == 64;
  if (stored::is_narrow_float(type)) {
    return encode(type, from_double ? round_to_odd(value) : value);
  }
  const unsigned bits = type == ElementType::f64 || type == ElementType::c128 ? 64 : 32;
  llvm::Type* const wanted =
      with_element(value, bits == 64 ? builder_.getDoubleTy() : builder_.getFloatTy());
  return builder_.CreateBitCast(builder_.CreateFPCast(value, wanted),
                                with_element(value, builder_.getIntNTy(bits)));
}

/// double to float, to the neighbour with the odd significand where it is not exact.
llvm::Value* ElementTranslator::round_to_odd(llvm::Value* doubles) {
  llvm::Type* const bits_type = with_element(doubles, builder_.getInt32Ty());
  llvm::Value* const nearest =
      builder_.CreateFPTrunc(doubles, with_element(doubles, builder_.getFloatTy()));
  llvm::Value* const back = builder_.CreateFPExt(nearest, doubles->getType());
  llvm::Value* const bits = builder_.CreateBitCast(nearest, bits_type);
  // One less is the neighbour towards zero, of either sign.
  llvm::Value* const is_away = builder_.CreateFCmpOGT(magnitude(back), magnitude(doubles));
  llvm::Value* const toward_zero =
      builder_.CreateSub(bits, builder_.CreateZExt(is_away, bits_type));
  llvm::Value* const odd = builder_.CreateOr(toward_zero, all(bits_type, 1));
  llvm::Value* const is_inexact = builder_.CreateFCmpONE(back, doubles);
  return builder_.CreateBitCast(builder_.CreateSelect(is_inexact, odd, bits), nearest->getType());
}

llvm::Value* ElementTranslator::interleaved(llvm::Value* x, llvm::Value* y) {
  const int count = int(llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements());
  llvm::SmallVector<int, 64> indices;
  for (int k = 0; k < count; ++k) indices.append({k, count + k});
  return builder_.CreateShuffleVector(x, y, indices);
}

llvm::Value* ElementTranslator::every_other(llvm::Value* pairs, int first) {
  const int count = int(llvm::cast<llvm::FixedVectorType>(pairs->getType())->getNumElements());
  llvm::SmallVector<int, 64> indices;
  for (int k = first; k < count; k += 2) indices.push_back(k);
  return builder_.CreateShuffleVector(pairs, indices);
}

}  // namespace restride::llvm_jit
