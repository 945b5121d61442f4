// The narrow floating-point formats: codes to f32, which holds all of them exactly, and back with
// one rounding. A format is data (float_format.hpp); what is written here becomes a handful of
// vector instructions with its numbers as constants.
//
//     code   exponent field | m bits          f32    exponent field | 23 bits
//
// Shifted left by 23 - m, a code has the bits of an f32 that is 2^(127 - bias) too small. Denormals
// are the integers that they look like, times a power of two.
#include <llvm/IR/Constants.h>

#include "element/float_format.hpp"
#include "llvm/element_translation.hpp"

namespace restride::llvm_jit {
llvm::Value* ElementTranslator::decode(ElementType type, llvm::Value* code) {
  llvm::Type* const result = with_element(code, builder_.getFloatTy());
  if (type == ElementType::f16 && has_half_) {
    return builder_.CreateFPExt(
        builder_.CreateBitCast(code, with_element(code, builder_.getHalfTy())), result);
  }
  const FloatFormat format = float_format(type);
  llvm::Type* const bits = with_element(code, builder_.getInt32Ty());
  code = builder_.CreateZExt(code, bits);
  const auto as_float = [&](llvm::Value* value) { return builder_.CreateBitCast(value, result); };
  if (format.ending == Ending::power) {
    // 0 is 2^-127, a denormal of f32; 255 is the NaN.
    llvm::Value* const value = builder_.CreateShl(code, binary32::mantissa_bits);
    llvm::Value* const least = builder_.CreateICmpEQ(code, all(bits, 0));
    llvm::Value* const nan = builder_.CreateICmpEQ(code, all(bits, 255));
    llvm::Value* const number = builder_.CreateSelect(least, all(bits, binary32::quiet_bit), value);
    return as_float(
        builder_.CreateSelect(nan, all(bits, binary32::infinity | binary32::quiet_bit), number));
  }
  const uint32_t sign_bit = 1u << format.magnitude_bits();
  const int up = binary32::mantissa_bits - format.mantissa_bits;
  llvm::Value* const size = builder_.CreateAnd(code, all(bits, sign_bit - 1));
  llvm::Value* const sign = builder_.CreateShl(builder_.CreateAnd(code, all(bits, sign_bit)),
                                               31 - format.magnitude_bits());
  llvm::Value* value = builder_.CreateShl(size, up);
  if (format.bias != binary32::bias) {
    llvm::Value* const normal = builder_.CreateAdd(value, all(bits, binary32::rebias(format)));
    llvm::Value* const denormal = builder_.CreateFMul(
        builder_.CreateSIToFP(size, result),
        all(result, binary32::power_of_two(1 - format.bias - format.mantissa_bits)));
    llvm::Value* const is_denormal =
        builder_.CreateICmpULT(size, all(bits, 1u << format.mantissa_bits));
    value = builder_.CreateSelect(is_denormal, builder_.CreateBitCast(denormal, bits), normal);
  }
  const uint32_t end = format.end_of_finite();
  if (end < sign_bit) {
    llvm::Value* const payload = builder_.CreateShl(builder_.CreateSub(size, all(bits, end)), up);
    llvm::Value* nan =
        builder_.CreateOr(payload, all(bits, binary32::infinity | binary32::quiet_bit));
    if (format.ending == Ending::infinite) {
      llvm::Value* const infinite = builder_.CreateICmpEQ(size, all(bits, end));
      nan = builder_.CreateSelect(infinite, all(bits, binary32::infinity), nan);
    }
    value = builder_.CreateSelect(builder_.CreateICmpUGE(size, all(bits, end)), nan, value);
  }
  value = builder_.CreateOr(value, sign);
  if (format.ending == Ending::unsigned_0) {
    llvm::Value* const nan = builder_.CreateICmpEQ(
        builder_.CreateAnd(code, all(bits, 2 * sign_bit - 1)), all(bits, sign_bit));
    value = builder_.CreateSelect(nan, all(bits, binary32::infinity | binary32::quiet_bit), value);
  }
  return as_float(value);
}

llvm::Value* ElementTranslator::encode(ElementType type, llvm::Value* value) {
  const FloatFormat format = float_format(type);
  llvm::Type* const bits = with_element(value, builder_.getInt32Ty());
  llvm::Type* const stored =
      with_element(value, builder_.getIntNTy(unsigned(8 * format.storage_bytes())));
  if (type == ElementType::f16 && has_half_) {
    return builder_.CreateBitCast(
        builder_.CreateFPTrunc(value, with_element(value, builder_.getHalfTy())), stored);
  }
  value = builder_.CreateBitCast(value, bits);
  if (format.ending == Ending::power) {
    return builder_.CreateTrunc(encode_power_of_two(value), stored);
  }
  llvm::Value* const size = builder_.CreateAnd(value, all(bits, ~(1u << 31)));
  llvm::Value* const sign =
      builder_.CreateShl(builder_.CreateLShr(value, 31), format.magnitude_bits());
  llvm::Value* const code = encode_finite(type, size);
  llvm::Value* result = builder_.CreateOr(code, sign);
  if (format.ending == Ending::unsigned_0) {
    result = builder_.CreateSelect(builder_.CreateICmpEQ(code, all(bits, 0)), code, result);
  }
  llvm::Value* const beyond = builder_.CreateICmpUGE(code, all(bits, format.end_of_finite()));
  llvm::Value* const nan = encode_nan(type, sign, size);
  result = builder_.CreateSelect(beyond, encode_beyond(type, sign, nan), result);
  llvm::Value* const not_a_number = builder_.CreateICmpUGT(size, all(bits, binary32::infinity));
  return builder_.CreateTrunc(builder_.CreateSelect(not_a_number, nan, result), stored);
}

/// The code nearest to a magnitude, ties to even; past the finite ones where it is too large.
llvm::Value* ElementTranslator::encode_finite(ElementType type, llvm::Value* magnitude) {
  const FloatFormat format = float_format(type);
  llvm::Type* const bits = magnitude->getType();
  const int down = binary32::mantissa_bits - format.mantissa_bits;
  llvm::Value* const odd = builder_.CreateAnd(builder_.CreateLShr(magnitude, down), all(bits, 1));
  const uint32_t half = (1u << (down - 1)) - 1;
  llvm::Value* const sum = builder_.CreateAdd(builder_.CreateAdd(magnitude, all(bits, half)), odd);
  const uint32_t rebias = uint32_t(binary32::bias - format.bias) << format.mantissa_bits;
  llvm::Value* const normal = builder_.CreateSub(builder_.CreateLShr(sum, down), all(bits, rebias));
  if (format.bias == binary32::bias) return normal;
  // A number whose last bit is worth the smallest spacing of the format: adding it rounds.
  const uint32_t large = binary32::power_of_two(1 - format.bias + down);
  llvm::Type* const floating = with_element(magnitude, builder_.getFloatTy());
  llvm::Value* const rounded =
      builder_.CreateFAdd(builder_.CreateBitCast(magnitude, floating), all(floating, large));
  llvm::Value* const denormal =
      builder_.CreateSub(builder_.CreateBitCast(rounded, bits), all(bits, large));
  llvm::Value* const is_denormal =
      builder_.CreateICmpULT(magnitude, all(bits, binary32::power_of_two(1 - format.bias)));
  return builder_.CreateSelect(is_denormal, denormal, normal);
}

/// `sign` is the sign's bit of the code.
llvm::Value* ElementTranslator::encode_nan(ElementType type, llvm::Value* sign,
                                           llvm::Value* magnitude) {
  const FloatFormat format = float_format(type);
  llvm::Type* const bits = magnitude->getType();
  const uint32_t end = format.end_of_finite(), sign_bit = 1u << format.magnitude_bits();
  switch (format.ending) {
    case Ending::infinite: {
      llvm::Value* const mantissa =
          builder_.CreateOr(builder_.CreateAnd(magnitude, all(bits, binary32::mantissa)),
                            all(bits, binary32::quiet_bit));
      llvm::Value* const payload =
          builder_.CreateLShr(mantissa, binary32::mantissa_bits - format.mantissa_bits);
      return builder_.CreateOr(builder_.CreateOr(payload, all(bits, end)), sign);
    }
    case Ending::unsigned_0:
      return all(bits, sign_bit);
    case Ending::finite:
      return builder_.CreateXor(sign, all(bits, sign_bit));
    default:
      return builder_.CreateOr(sign, all(bits, end));
  }
}

/// What lies beyond the largest number: infinity, the largest number, or NaN.
llvm::Value* ElementTranslator::encode_beyond(ElementType type, llvm::Value* sign,
                                              llvm::Value* not_a_number) {
  const FloatFormat format = float_format(type);
  const uint32_t end = format.end_of_finite();
  switch (format.ending) {
    case Ending::infinite:
      return builder_.CreateOr(sign, all(sign->getType(), end));
    case Ending::finite:
      return builder_.CreateOr(sign, all(sign->getType(), end - 1));
    default:
      return not_a_number;
  }
}

/// f8e8m0fnu: 2^(code - 127), ties up; zero, negative numbers and NaN are 255.
llvm::Value* ElementTranslator::encode_power_of_two(llvm::Value* value) {
  constexpr uint32_t half = 0x400000, least_normal = 0x800000, tie = 0x600000, nan = 255;
  llvm::Type* const bits = value->getType();
  llvm::Value* const normal =
      builder_.CreateLShr(builder_.CreateAdd(value, all(bits, half)), binary32::mantissa_bits);
  llvm::Value* const denormal =
      builder_.CreateZExt(builder_.CreateICmpUGE(value, all(bits, tie)), bits);
  llvm::Value* const is_denormal = builder_.CreateICmpULT(value, all(bits, least_normal));
  llvm::Value* const code = builder_.CreateSelect(is_denormal, denormal, normal);
  // Positive and finite: 1 up to the bits before infinity.
  llvm::Value* const from_1 = builder_.CreateSub(value, all(bits, 1));
  llvm::Value* const is_number = builder_.CreateICmpULT(from_1, all(bits, binary32::infinity - 1));
  return builder_.CreateSelect(is_number, code, all(bits, nan));
}

}  // namespace restride::llvm_jit
