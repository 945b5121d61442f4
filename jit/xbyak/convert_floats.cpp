// Conversions from floats, at the low end of registers.
//
// To integers: NaN becomes 0 first, what would overflow is clamped where the limit is a float, or
// replaced where it is none. Conversions give the lowest signed or highest unsigned number for what
// overflows, and maxima give their second argument for NaN.
#include <bit>

#include "element/float_format.hpp"
#include "xbyak/coverage.hpp"
#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;
using enum ElementType;

namespace {

constexpr uint8_t ordered = 7, unordered = 3, greater_or_equal = 0x1d, truncating = 0xb,
                  to_nearest_even = 8;

uint64_t bits_of(ElementType type, double value) {
  return type == f32 ? std::bit_cast<uint32_t>(float(value)) : std::bit_cast<uint64_t>(value);
}

double power_of_two(int exponent) { return std::bit_cast<double>(uint64_t(exponent + 1023) << 52); }

}  // namespace

void Translator::float_to_float(const Hop& hop) {
  const Register &to = result(hop), &a = source(hop);
  if (hop.from == f16) return vcvtph2ps(to, a);
  if (hop.from == f32 && hop.type == f16) return vcvtps2ph(to, a, 0);
  if (hop.from == f32 && hop.type == f64) return vcvtps2pd(to, a);
  if (hop.from == f64) return hop.to_odd ? f64_to_odd_f32(hop) : vcvtpd2ps(to, a);
  if (hop.type == bf16) return f32_to_bf16(hop);
  if (is_byte_float(hop.from)) return narrow_float_to_f32(hop);
  if (is_byte_float(hop.type)) return f32_to_narrow_float(hop);
  vpmovzxwd(to, a);
  vpslld(to, to, 16);
  if (!hop.stays_raw) quieten(to);
}

/// -0 changes nothing, but quiets NaNs.
void Translator::quieten(const Register& floats) {
  vaddps(floats, floats, constant(0x80000000, 4));
}

/// All sixteen are in a table: of f16 the upper bytes, since the lower ones are 0.
void Translator::f4_to_f16(const Hop& hop) {
  constexpr std::array<uint8_t, 16> upper_bytes = {0x00, 0x38, 0x3c, 0x3e, 0x40, 0x42, 0x44, 0x46,
                                                   0x80, 0xb8, 0xbc, 0xbe, 0xc0, 0xc2, 0xc4, 0xc6};
  const Register &to = result(hop), &bytes = numbered(hop.to, hop.count);
  const Register& table = numbered(temporary(), hop.count);
  avx_move(table, constant(upper_bytes));
  vandps(bytes, source(hop), constant(0x0f, 1));
  vpshufb(bytes, table, bytes);
  vpmovzxbw(to, bytes);
  vpsllw(to, to, 8);
}

/// Half of the last place is added, less one bit where the place is even; NaNs are made quiet
/// instead, unless they are known to be. The instruction for this flushes denormals.
void Translator::f32_to_bf16(const Hop& hop) {
  const Register& a = source(hop);
  const Hop narrowing{u32, u16, hop.count, hop.to, temporary()};
  const Register& rounded = source(narrowing);
  vpsrld(rounded, a, 16);
  vandps(rounded, rounded, constant(1, 4));
  vpaddd(rounded, rounded, constant(0x7fff, 4));
  vpaddd(rounded, rounded, a);
  if (nans_are_canonical_) return narrow(narrowing, 2);
  if (family_ == Family::evex) {
    vcmpps(k7, a, a, unordered);
    vorps(rounded | k7, a, constant(0x400000, 4));
    return narrow(narrowing, 2);
  }
  const Register& nan = numbered(temporary(), 4 * hop.count);
  const Register& quiet = numbered(hop.to, 4 * hop.count);
  vcmpps(nan, a, a, unordered);
  vorps(quiet, a, constant(0x400000, 4));
  vblendvps(rounded, rounded, quiet, nan);
  narrow(narrowing, 2);
}

void Translator::float_to_integer(const Hop& hop) {
  const bool small = storage_bytes(hop.type) < 4 || (hop.from == f64 && hop.type == s32);
  if (small) return float_to_small(hop);
  if (is_signed(hop.type)) return float_to_signed(hop);
  if (family_ == Family::vex && hop.from == f32) return f32_to_u32(hop);
  float_to_unsigned(hop);
}

/// To an integer whose limits are numbers of the float: through s32.
void Translator::float_to_small(const Hop& hop) {
  const int bits = restride::bits(hop.type);
  const double end = power_of_two(is_signed(hop.type) ? bits - 1 : bits);
  const Register& all = numbered(hop.to, hop.count * int(storage_bytes(hop.from)));
  const Register& integers = numbered(hop.to, hop.count * 4);
  clamp(hop, bits_of(hop.from, is_signed(hop.type) ? -end : 0), bits_of(hop.from, end - 1));
  if (hop.from == f32) {
    vcvttps2dq(integers, all);
  } else {
    vcvttpd2dq(integers, all);
  }
  resize({s32, hop.type, hop.count, hop.to, hop.to});
  if (is_small_integer(hop.type)) cut({hop.type, hop.type, hop.count, hop.to, hop.to});
}

/// to = a between two numbers, the lowest of which is 0 for unsigned integers; NaN is 0.
void Translator::clamp(const Hop& hop, uint64_t lowest, uint64_t highest) {
  const bool doubles = hop.from == f64;
  const int width = doubles ? 8 : 4;
  const Register &to = numbered(hop.to, hop.count * width), &a = source(hop);
  const auto maximum = [&](const Register& x) {
    return doubles ? vmaxpd(to, x, constant(lowest, 8)) : vmaxps(to, x, constant(lowest, 4));
  };
  const auto minimum = [&](const Register& masked, const Register& x) {
    return doubles ? vminpd(masked, x, constant(highest, 8))
                   : vminps(masked, x, constant(highest, 4));
  };
  if (!is_signed(hop.type)) {
    maximum(a);
    return minimum(to, to);
  }
  if (family_ == Family::evex) {
    doubles ? vcmppd(k7, a, a, ordered) : vcmpps(k7, a, a, ordered);
    minimum(to | k7 | Xbyak::util::T_z, a);
  } else {
    const Register& numbers = numbered(temporary(), hop.count * width);
    doubles ? vcmppd(numbers, a, a, ordered) : vcmpps(numbers, a, a, ordered);
    vandps(to, a, numbers);
    minimum(to, to);
  }
  maximum(to);
}

/// To u32 or u64 with AVX-512, from f64 to u32 with AVX2.
void Translator::float_to_unsigned(const Hop& hop) {
  const Register &a = source(hop), &to = result(hop);
  const bool doubles = hop.from == f64;
  const int width = doubles ? 8 : 4;
  const Register& all = numbered(hop.to, hop.count * width);
  doubles ? vmaxpd(all, a, constant(0, 8)) : vmaxps(all, a, constant(0, 4));
  if (family_ == Family::vex) {
    vminpd(all, all, constant(bits_of(f64, power_of_two(32) - 1), 8));
    vroundpd(all, all, truncating);
    vaddpd(all, all, constant(bits_of(f64, power_of_two(52)), 8));
    return narrow({u64, u32, hop.count, hop.to, hop.to}, 0);
  }
  if (hop.type == u32) return doubles ? vcvttpd2udq(to, all) : vcvttps2udq(to, all);
  return doubles ? vcvttpd2uqq(to, all) : vcvttps2uqq(to, all);
}

/// With AVX2: from 2^31 on what is left above it is converted.
void Translator::f32_to_u32(const Hop& hop) {
  const int bytes = hop.count * 4;
  const Register &a = source(hop), &to = result(hop);
  const Register &above = numbered(temporary(), bytes), &beyond = numbered(temporary(), bytes),
                 &high = numbered(temporary(), bytes);
  vmaxps(to, a, constant(0, 4));
  vcmpps(beyond, to, constant(bits_of(f32, power_of_two(32)), 4, 1), greater_or_equal);
  vsubps(above, to, constant(bits_of(f32, power_of_two(31)), 4));
  vcvttps2dq(above, above);
  vcvttps2dq(to, to);
  vpsrad(high, to, 31);
  vandps(above, above, high);
  vorps(to, to, above);
  vorps(to, to, beyond);
}

/// To s32 from f32, and with AVX-512 to s64: the highest is no float.
void Translator::float_to_signed(const Hop& hop) {
  const Register &a = source(hop), &to = result(hop);
  const bool doubles = hop.from == f64;
  const int width = doubles ? 8 : 4, bits = 8 * int(storage_bytes(hop.type));
  const uint64_t end = bits_of(hop.from, power_of_two(bits - 1));
  if (family_ == Family::vex) {
    const Register &beyond = numbered(temporary(), hop.count * 4),
                   &numbers = numbered(temporary(), hop.count * 4);
    vcmpps(beyond, a, constant(end, 4, 1), greater_or_equal);
    vcmpps(numbers, a, a, ordered);
    vcvttps2dq(to, a);
    vxorps(to, to, beyond);
    return vandps(to, to, numbers);
  }
  const Register& x = hop.to == hop.a ? numbered(temporary(), hop.count * width) : a;
  if (hop.to == hop.a) avx_move(x, a);
  const auto compare = [&](const Xbyak::Operand& with, uint8_t how) {
    return doubles ? vcmppd(k7, x, with, how) : vcmpps(k7, x, with, how);
  };
  compare(x, ordered);
  const Register masked = to | k7 | Xbyak::util::T_z;
  if (hop.type == s32) {
    vcvttps2dq(masked, x);
  } else {
    doubles ? vcvttpd2qq(masked, x) : vcvttps2qq(masked, x);
  }
  compare(constant(end, width, 1), greater_or_equal);
  if (hop.type == s32) return vmovdqu32(to | k7, constant(0x7fffffff, 4));
  vmovdqu64(to | k7, constant(~uint64_t{0} >> 1, 8));
}

void Translator::avx_round(const Op& op) {
  const Register &to = vector(op.to), &a = vector(op.a);
  const bool doubles = op.type == f64;
  if (family_ == Family::evex) {
    return doubles ? vrndscalepd(to, a, to_nearest_even) : vrndscaleps(to, a, to_nearest_even);
  }
  doubles ? vroundpd(to, a, to_nearest_even) : vroundps(to, a, to_nearest_even);
}

}  // namespace restride::xbyak
