// Between floats and integers in vectors. LLVM takes what x86-64 has no instruction for element by
// element, so nothing is left to it but what every processor with AVX2 or NEON does at once.
//
//     float ── within the limits ──► truncate ──► integer        NaN becomes 0 on the way
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <cmath>

#include "element/stored_element.hpp"
#include "llvm/element_translation.hpp"

namespace restride::llvm_jit {

namespace {

unsigned element_bits(const llvm::Value* value) { return value->getType()->getScalarSizeInBits(); }

/// 2^52 and 1.5 * 2^52: the last bit of what is a little larger is worth 1.
constexpr double unit_in_last_place = 0x1p52, unit_of_either_sign = 0x1.8p52;

}  // namespace

/// Saturates; a NaN gives 0.
llvm::Value* ElementTranslator::float_to_integer(llvm::Value* value, ElementType to) {
  const bool is_signed = stored::is_signed_integer(to);
  const int bits = stored::integer_bits(to) - (is_signed ? 1 : 0);
  const auto stored_bits = static_cast<unsigned>(8 * storage_bytes(to));
  const unsigned significant = element_bits(value) == 64 ? 53 : 24;
  if (!has_round_) return saturate(value, to);
  llvm::Type* const type = value->getType();
  const auto number = [&](double x) { return llvm::ConstantFP::get(type, x); };
  const double end = std::ldexp(1.0, bits), lowest = is_signed ? -end : 0;
  const bool is_exact = bits <= static_cast<int>(significant);
  const double highest = is_exact ? end - 1 : end - std::ldexp(1.0, bits - int(significant));
  llvm::Value* within =
      builder_.CreateSelect(builder_.CreateFCmpOGT(value, number(lowest)), value, number(lowest));
  within = builder_.CreateSelect(builder_.CreateFCmpOLT(within, number(highest)), within,
                                 number(highest));
  llvm::Value* result = truncate(within, stored_bits, is_signed);
  if (!is_exact) {
    const uint64_t most = ~uint64_t{0} >> (64 - bits);
    result = builder_.CreateSelect(builder_.CreateFCmpOGE(value, number(end)),
                                   all(result->getType(), most), result);
  }
  // The first choice has made the lowest number of a NaN, but LLVM takes it for fmaxnm on Arm.
  if (is_signed || keeps_some_nans_) {
    result = builder_.CreateSelect(is_nan(value), all(result->getType(), 0), result);
  }
  return integer_bits(to, result);
}

/// The same in the words of LLVM.
llvm::Value* ElementTranslator::saturate(llvm::Value* value, ElementType to) {
  const bool is_signed = stored::is_signed_integer(to);
  const int bits = stored::integer_bits(to);
  llvm::Type* const type = with_element(value, builder_.getIntNTy(unsigned(8 * storage_bytes(to))));
  const auto saturate = is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  llvm::Value* result = builder_.CreateIntrinsic(saturate, {type, value->getType()}, {value});
  if (bits < 8) {
    const uint64_t end = uint64_t{1} << (bits - (is_signed ? 1 : 0));
    const auto least = is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin;
    result = builder_.CreateBinaryIntrinsic(least, result, all(type, end - 1));
    if (is_signed) {
      result = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, result, all(type, 0 - end));
    }
  }
  return integer_bits(to, result);
}

/// Toward zero, to integers that the numbers are in the range of.
llvm::Value* ElementTranslator::truncate(llvm::Value* value, unsigned bits, bool is_signed) {
  llvm::Type* const type = with_element(value, builder_.getIntNTy(bits));
  if (bits < 32 || (bits == 32 && is_signed)) {
    llvm::Type* const whole = with_element(value, builder_.getInt32Ty());
    return builder_.CreateTrunc(builder_.CreateFPToSI(value, whole), type);
  }
  if (has_wide_ || (bits == 32 && element_bits(value) == 32)) {
    return is_signed ? builder_.CreateFPToSI(value, type) : builder_.CreateFPToUI(value, type);
  }
  llvm::Type* const doubles = with_element(value, builder_.getDoubleTy());
  llvm::Type* const wide = with_element(value, builder_.getInt64Ty());
  const auto number = [&](double x) { return llvm::ConstantFP::get(doubles, x); };
  const auto last_bits = [&](llvm::Value* x, double unit) {
    return builder_.CreateBitCast(builder_.CreateFAdd(x, number(unit)), wide);
  };
  llvm::Value* const whole =
      builder_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, builder_.CreateFPCast(value, doubles));
  if (bits == 32) return builder_.CreateTrunc(last_bits(whole, unit_in_last_place), type);
  llvm::Value* const high = builder_.CreateUnaryIntrinsic(
      llvm::Intrinsic::floor, builder_.CreateFMul(whole, number(0x1p-32)));
  llvm::Value* const low = builder_.CreateFSub(whole, builder_.CreateFMul(high, number(0x1p32)));
  llvm::Value* const high_bits =
      builder_.CreateShl(last_bits(high, unit_of_either_sign), uint64_t{32});
  llvm::Value* const low_bits =
      builder_.CreateAnd(last_bits(low, unit_in_last_place), all(wide, 0xffffffff));
  return builder_.CreateOr(high_bits, low_bits);
}

/// f64 from integers of 64 bits, rounded once: their halves are exact.
llvm::Value* ElementTranslator::double_of_wide(llvm::Value* integers, bool is_signed) {
  llvm::Type* const doubles = with_element(integers, builder_.getDoubleTy());
  if (has_wide_ || !has_round_) {
    return is_signed ? builder_.CreateSIToFP(integers, doubles)
                     : builder_.CreateUIToFP(integers, doubles);
  }
  llvm::Type* const wide = integers->getType();
  const auto number = [&](double x) { return llvm::ConstantFP::get(doubles, x); };
  // Below the bits of 2^52 and 2^84; a sign is taken for its opposite, and 2^63 off again.
  llvm::Value* const low = builder_.CreateOr(builder_.CreateAnd(integers, all(wide, 0xffffffff)),
                                             all(wide, uint64_t{0x433} << 52));
  llvm::Value* high = builder_.CreateLShr(integers, uint64_t{32});
  if (is_signed) high = builder_.CreateXor(high, all(wide, uint64_t{1} << 31));
  high = builder_.CreateOr(high, all(wide, uint64_t{0x453} << 52));
  const double off = is_signed ? 0x1p84 + 0x1p63 + 0x1p52 : 0x1p84 + 0x1p52;
  llvm::Value* const upper =
      builder_.CreateFSub(builder_.CreateBitCast(high, doubles), number(off));
  return builder_.CreateFAdd(upper, builder_.CreateBitCast(low, doubles));
}

}  // namespace restride::llvm_jit
