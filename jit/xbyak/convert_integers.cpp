// Conversions from integers, and to pred, at the low end of registers.
//
// Where AVX2 has no conversion, the bits of an integer are put under the exponent of a large power
// of two, which is subtracted again: exact in two halves, and rounded once in their sum.
#include <bit>

#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;
using enum ElementType;

namespace {

using Widening = void (Xbyak::CodeGenerator::*)(const Xbyak::Xmm&, const Xbyak::Operand&);
using Narrowing = void (Xbyak::CodeGenerator::*)(const Xbyak::Operand&, const Xbyak::Xmm&);
using Code = Xbyak::CodeGenerator;

/// By the logarithms of both widths.
constexpr Widening zero_extensions[3][4] = {
    {nullptr, &Code::vpmovzxbw, &Code::vpmovzxbd, &Code::vpmovzxbq},
    {nullptr, nullptr, &Code::vpmovzxwd, &Code::vpmovzxwq},
    {nullptr, nullptr, nullptr, &Code::vpmovzxdq}};
constexpr Widening sign_extensions[3][4] = {
    {nullptr, &Code::vpmovsxbw, &Code::vpmovsxbd, &Code::vpmovsxbq},
    {nullptr, nullptr, &Code::vpmovsxwd, &Code::vpmovsxwq},
    {nullptr, nullptr, nullptr, &Code::vpmovsxdq}};
constexpr Narrowing truncations[4][3] = {{},
                                         {&Code::vpmovwb},
                                         {&Code::vpmovdb, &Code::vpmovdw},
                                         {&Code::vpmovqb, &Code::vpmovqw, &Code::vpmovqd}};

int logarithm(ElementType type) { return std::countr_zero(uint64_t(storage_bytes(type))); }

}  // namespace

/// From less than a byte to a byte: what is above the element is not of it. A sign is moved to the
/// top by taking off what it weighs.
void Translator::extend(const Hop& hop) {
  const uint64_t ones = (1u << bits(hop.from)) - 1, sign = ones / 2 + 1;
  const Register& to = result(hop);
  vandps(to, source(hop), constant(ones, 1));
  if (!is_signed(hop.from)) return;
  vxorps(to, to, constant(sign, 1));
  vpsubb(to, to, constant(sign, 1));
}

/// From a byte to less than that.
void Translator::cut(const Hop& hop) {
  vandps(result(hop), source(hop), constant((1u << bits(hop.type)) - 1, 1));
}

/// Integer to integer of whole bytes.
void Translator::resize(const Hop& hop) {
  const int from = logarithm(hop.from), to = logarithm(hop.type);
  if (from > to) return narrow(hop, 0);
  if (from == to) {
    if (hop.to != hop.a) avx_move(result(hop), source(hop));
    return;
  }
  const auto& extensions = is_signed(hop.from) ? sign_extensions : zero_extensions;
  (this->*extensions[from][to])(result(hop), source(hop));
}

/// The bytes of every element from `first_byte` on, as many as the result has; of an argument that
/// nobody needs any more. AVX2 gathers them lane by lane.
void Translator::narrow(const Hop& hop, int first_byte) {
  const int from = int(storage_bytes(hop.from)), to = int(storage_bytes(hop.type));
  if (may_stay_wide_ && is_last_step_) {
    narrowed_ = {first_byte, from, to, hop.count, hop.a};
    return;
  }
  if (family_ == Family::evex) {
    const Register& low_to = numbered(hop.to, hop.count * to);
    if (first_byte > 0) vpsrld(source(hop), source(hop), uint8_t(8 * first_byte));
    const Narrowing truncate = truncations[logarithm(hop.from)][logarithm(hop.type)];
    return (this->*truncate)(low_to, source(hop));
  }
  std::array<uint8_t, 16> chosen;
  for (int k = 0; k < 16; ++k) {
    constexpr uint8_t zero = 0x80;
    chosen[size_t(k)] = k < 16 / from * to ? uint8_t(k / to * from + first_byte + k % to) : zero;
  }
  const Register &low_to = numbered(hop.to, 16), &all = numbered(hop.to, hop.count * from);
  vpshufb(all, source(hop), constant(chosen));
  if (hop.count * from <= 16) return;
  const Register& high = numbered(temporary(), 16);
  vextracti128(high, Xbyak::Ymm(hop.to), 1);
  switch (16 / from * to) {
    case 2:
      return vpunpcklwd(low_to, low_to, high);
    case 4:
      return vpunpckldq(low_to, low_to, high);
    default:
      return vpunpcklqdq(low_to, low_to, high);
  }
}

/// 1 where any bit is set, of a float any but the sign.
void Translator::to_pred(const Hop& hop) {
  const int width = int(storage_bytes(hop.from));
  const Register &to = numbered(hop.to, hop.count * width), &a = source(hop);
  const bool floats = is_float(hop.from);
  const Register& bits = floats ? to : a;
  if (floats && width == 2) vpsllw(to, a, 1);
  if (floats && width == 4) vpslld(to, a, 1);
  if (floats && width == 8) vpsllq(to, a, 1);
  if (width == 1) return vpminub(to, bits, constant(1, 1));
  if (width == 2) {
    vpminuw(to, bits, constant(1, 2));
  } else if (width == 4) {
    vpminud(to, bits, constant(1, 4));
  } else if (family_ == Family::evex) {
    vpminuq(to, bits, constant(1, 8));
  } else {
    vpcmpeqq(to, bits, constant(0, 8));
    vandnps(to, to, constant(1, 8));
  }
  narrow({hop.from, pred, hop.count, hop.to, hop.to}, 0);
}

/// From s32, u32, s64 or u64 to f32 or f64.
void Translator::integer_to_float(const Hop& hop) {
  const Register &to = result(hop), &a = source(hop);
  const bool to_f32 = hop.type == f32, evex = family_ == Family::evex;
  switch (hop.from) {
    case s32:
      return to_f32 ? vcvtdq2ps(to, a) : vcvtdq2pd(to, a);
    case u32:
      if (!evex) return u32_to_float(hop);
      return to_f32 ? vcvtudq2ps(to, a) : vcvtudq2pd(to, a);
    case s64:
      if (!evex) return wide_integer_to_f64(hop);
      return to_f32 ? vcvtqq2ps(to, a) : vcvtqq2pd(to, a);
    default:
      if (!evex) return wide_integer_to_f64(hop);
      return to_f32 ? vcvtuqq2ps(to, a) : vcvtuqq2pd(to, a);
  }
}

/// Under 2^52; in f32 the high half under 2^39 and the low one under 2^23.
void Translator::u32_to_float(const Hop& hop) {
  const Register &to = result(hop), &a = source(hop);
  if (hop.type == f64) {
    vpmovzxdq(to, a);
    vorps(to, to, constant(0x4330000000000000, 8));
    return vsubpd(to, to, constant(0x4330000000000000, 8));
  }
  const Register& high = numbered(temporary(), hop.count * 4);
  vpsrld(high, a, 16);
  vorps(high, high, constant(0x53000000, 4));
  vsubps(high, high, constant(0x53000080, 4));  // 2^39 + 2^23
  vandps(to, a, constant(0xffff, 4));
  vorps(to, to, constant(0x4b000000, 4));
  vaddps(to, to, high);
}

/// The high half under 2^84, the low one under 2^52. With 2^63 added a signed integer is none.
void Translator::wide_integer_to_f64(const Hop& hop) {
  const Register &to = result(hop), &a = source(hop);
  const Register& high = numbered(temporary(), hop.count * 8);
  const uint64_t sign = hop.from == s64 ? 0x80000000 : 0;
  vpsrlq(high, a, 32);
  vxorps(high, high, constant(0x4530000000000000 | sign, 8));
  vsubpd(high, high, constant(0x4530000000100000 | sign, 8));
  vandps(to, a, constant(0xffffffff, 8));
  vorps(to, to, constant(0x4330000000000000, 8));
  vaddpd(to, to, high);
}

}  // namespace restride::xbyak
