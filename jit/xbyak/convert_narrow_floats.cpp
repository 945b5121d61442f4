// The floats of 8 and 4 bits: codes to f32, which holds all of them exactly, and back with one
// rounding. A format is data (element/float_format.hpp); its numbers become constants.
//
//     code   s | exponent | m bits          f32    s | exponent | 23 bits
#include "element/float_format.hpp"
#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;
using enum ElementType;

namespace {

/// How far the last place of a format is above that of f32.
constexpr int places_above(const FloatFormat& format) {
  return binary32::mantissa_bits - format.mantissa_bits;
}

}  // namespace

/// Denormals become f32 as the integers that they are: those of f32 itself would be slow to
/// multiply.
void Translator::narrow_float_to_f32(const Hop& hop) {
  const FloatFormat format = float_format(hop.from);
  if (format.ending == Ending::power) return power_to_f32(hop);
  const Register& to = result(hop);
  if (hop.from == f8e5m2) {  // the upper byte of an f16
    const Register& halves = numbered(hop.to, hop.count * 2);
    vpmovzxbw(halves, source(hop));
    vpsllw(halves, halves, 8);
    return vcvtph2ps(to, halves);
  }
  const int bytes = hop.count * 4, up = places_above(format);
  const Register &sign = numbered(temporary(), bytes), &normal = numbered(temporary(), bytes);
  const Register& chosen = chosen_register(hop);
  vpmovzxbd(sign, source(hop));
  vandps(to, sign, constant(0x7f, 4));
  vpslld(sign, sign, 24);
  vandps(sign, sign, constant(binary32::sign, 4));
  vpslld(normal, to, uint8_t(up));
  vpaddd(normal, normal, constant(binary32::rebias(format), 4));
  vcvtdq2ps(to, to);
  vmulps(to, to, constant(binary32::power_of_two(1 - format.bias - format.mantissa_bits), 4));
  choose_greater(chosen, normal, binary32::power_of_two(1 - format.bias) - 1);
  take_chosen(to, normal, chosen);
  const uint32_t end = (format.end_of_finite() << up) + binary32::rebias(format);
  if (format.ending == Ending::infinite) {
    choose_greater(chosen, to, end - 1);
    vpaddd(normal, to, constant(binary32::infinity - end, 4));
    take_chosen(to, normal, chosen);
    vaddps(to, to, constant(binary32::sign, 4));  // -0 changes nothing, but quiets NaNs
  } else if (format.ending == Ending::one_nan) {
    choose_equal(chosen, to, end);
    take_chosen(to, binary32::quiet_nan, chosen);
  }
  vorps(to, to, sign);
  if (format.ending != Ending::unsigned_0) return;
  choose_equal(chosen, to, binary32::sign);
  take_chosen(to, binary32::quiet_nan, chosen);
}

/// 0 is 2^-127, a denormal of f32; 255 is the NaN. Both have the bit that makes NaNs quiet.
void Translator::power_to_f32(const Hop& hop) {
  const Register &to = result(hop), &other = numbered(temporary(), hop.count * 4);
  const Register& chosen = chosen_register(hop);
  vpmovzxbd(to, source(hop));
  vpslld(to, to, binary32::mantissa_bits);
  vorps(other, to, constant(binary32::quiet_bit, 4));
  choose_equal(chosen, to, 0);
  take_chosen(to, other, chosen);
  choose_equal(chosen, to, binary32::infinity);
  take_chosen(to, other, chosen);
}

/// Half of the last place is added, less one bit where the place is even. Denormals are rounded by
/// adding a number whose last bit is worth theirs.
void Translator::f32_to_narrow_float(const Hop& hop) {
  const FloatFormat format = float_format(hop.type);
  const int bytes = hop.count * 4, down = places_above(format);
  const Register &to = numbered(hop.to, bytes), &other = numbered(temporary(), bytes);
  const Register& a = hop.to == hop.a ? numbered(temporary(), bytes) : source(hop);
  if (hop.to == hop.a) avx_move(a, source(hop));
  if (format.ending == Ending::power) {
    f32_to_power(hop, a, other);
  } else {
    const Register& chosen = chosen_register(hop);
    vandps(to, a, constant(~binary32::sign, 4));
    vpsrld(other, to, uint8_t(down));
    vandps(other, other, constant(1, 4));
    vpaddd(other, other, constant((1u << (down - 1)) - 1, 4));
    vpaddd(other, other, to);
    vpsrld(other, other, uint8_t(down));
    vpsubd(other, other, constant(binary32::rebias(format) >> down, 4));
    choose_greater(chosen, to, binary32::power_of_two(1 - format.bias) - 1);
    const uint32_t large = binary32::power_of_two(1 - format.bias + down);
    vaddps(to, to, constant(large, 4));
    vpsubd(to, to, constant(large, 4));
    take_chosen(to, other, chosen);
    // Beyond the largest number, NaNs too: infinity, the NaN, or the largest number.
    vpminud(to, to,
            constant(format.end_of_finite() - (format.ending == Ending::finite ? 1 : 0), 4));
    sign_and_nans(hop, a, other, chosen);
  }
  done_with(other);
  narrow({u32, u8, hop.count, hop.to, hop.to}, 0);
}

/// `to` has the code of a's magnitude, of NaNs one beyond all numbers.
void Translator::sign_and_nans(const Hop& hop, const Register& a, const Register& other,
                               const Register& chosen) {
  const FloatFormat format = float_format(hop.type);
  const Register& to = numbered(hop.to, hop.count * 4);
  const uint32_t sign = 1u << format.magnitude_bits(), end = format.end_of_finite();
  if (format.ending == Ending::infinite) {
    const uint32_t mantissa = (1u << format.mantissa_bits) - 1;
    vpsrld(other, a, uint8_t(places_above(format)));
    vandps(other, other, constant(mantissa, 4));
    vorps(other, other, constant(end | (mantissa + 1) / 2, 4));
    choose_nans(chosen, a);
    take_chosen(to, other, chosen);
  }
  vpsrld(other, a, uint8_t(31 - format.magnitude_bits()));
  vandps(other, other, constant(sign, 4));
  if (format.ending == Ending::unsigned_0) {
    choose_equal(chosen, to, 0);
    take_chosen(other, 0, chosen);
  }
  vorps(to, to, other);
  if (format.ending != Ending::finite) return;
  // There is none: a zero of the opposite sign.
  vxorps(other, other, constant(sign, 4));
  choose_nans(chosen, a);
  take_chosen(to, other, chosen);
}

/// f8e8m0fnu: 2^(code - 127), ties up; zero, negative numbers and NaN are 255.
void Translator::f32_to_power(const Hop& hop, const Register& a, const Register& other) {
  constexpr uint32_t tie_of_least = 0x600000, nan = 255;
  const Register& to = numbered(hop.to, hop.count * 4);
  const Register& chosen = chosen_register(hop);
  vpminud(other, a, constant(binary32::infinity, 4));
  vxorps(to, to, to);
  choose_greater(chosen, other, tie_of_least - 1);
  vpaddd(other, other, constant(binary32::quiet_bit, 4));
  vpsrld(other, other, binary32::mantissa_bits);
  take_chosen(to, other, chosen);
  choose_equal(chosen, a, 0);
  take_chosen(to, nan, chosen);
}

/// To the neighbour whose last bit is set where it is not exact: what is then rounded to fewer bits
/// is rounded once. Numbers of one sign are in the order of their bits.
void Translator::f64_to_odd_f32(const Hop& hop) {
  constexpr uint8_t ordered = 7;
  const int bytes = hop.count * 8;
  const Register &to = result(hop), &above = numbered(temporary(), bytes);
  const Register& a = hop.to == hop.a ? numbered(temporary(), bytes) : source(hop);
  if (hop.to == hop.a) avx_move(a, source(hop));
  vcvtpd2ps(to, a);
  vcvtps2pd(above, to);
  vpsubq(above, above, a);
  if (family_ == Family::evex) {
    vcmppd(k7, a, a, ordered);
    vmovdqu64(above | k7 | Xbyak::util::T_z, above);
    vpcmpgtq(k7, above, constant(0, 8));
    vpsubd(to | k7, to, constant(1, 4));
    vptestmq(k7, above, above);
    return vpord(to | k7, to, constant(1, 4));
  }
  const int other_number = temporary(), above_number = above.getIdx();
  const Register& other = numbered(other_number, bytes);
  vcmppd(other, a, a, ordered);
  vandps(above, above, other);
  vpcmpgtq(other, above, constant(0, 8));
  vpcmpeqq(above, above, constant(0, 8));
  vandnps(above, above, constant(1, 8));
  if (hop.to == hop.a) done_with(a);
  for (const int number : {other_number, above_number})
    narrow({u64, u32, hop.count, number, number}, 0);
  vpaddd(to, to, numbered(other_number, hop.count * 4));
  vorps(to, to, numbered(above_number, hop.count * 4));
}

}  // namespace restride::xbyak
