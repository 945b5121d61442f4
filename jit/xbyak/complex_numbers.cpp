// Complex numbers: pairs of floats, the real part first. What is done to the parts alone is done as
// to floats.
#include "element/float_format.hpp"
#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;
using enum ElementType;

namespace {

/// A number as the bytes of its parts, over and over.
std::array<uint8_t, 16> parts(ElementType part, uint64_t real, uint64_t imaginary) {
  const size_t width = size_t(storage_bytes(part));
  std::array<uint8_t, 16> lane{};
  for (size_t k = 0; k < lane.size(); ++k) {
    const uint64_t value = k / width % 2 == 0 ? real : imaginary;
    lane[k] = uint8_t(value >> (8 * (k % width)));
  }
  return lane;
}

constexpr uint64_t sign_of(ElementType part) {
  return part == f32 ? 0x80000000 : uint64_t{1} << 63;
}

}  // namespace

/// The other part of each number.
void Translator::swap_parts(const Register& to, const Register& a, ElementType part) {
  part == f64 ? vpermilpd(to, a, 0x55) : vpermilps(to, a, 0xb1);
}

void Translator::compute_complex(const Op& op) {
  const ElementType part = part_type(op.type);
  if (is_comparison(op.operation())) return compare_complex(op, part);
  if (op.operation() == Operation::multiply) return multiply_complex(op, part);
  Op of_parts = op;
  of_parts.type = part;
  compute_floats(of_parts);
}

/// (ac - bd) + (ad + bc)i: both parts of b times a, and, the other way round, times b.
void Translator::multiply_complex(const Op& op, ElementType part) {
  const bool doubles = part == f64;
  const int bytes = program_.vector_bytes;
  const Register &to = vector(op.to), &a = vector(op.a), &b = vector(op.b);
  const Register &crossed = numbered(temporary(), bytes), &one_part = numbered(temporary(), bytes);
  const auto multiply = [&](const Register& into, const Register& x, const Register& y) {
    doubles ? vmulpd(into, x, y) : vmulps(into, x, y);
  };
  swap_parts(crossed, b, part);
  doubles ? vpermilpd(one_part, a, 0xff) : vmovshdup(one_part, a);
  multiply(crossed, crossed, one_part);
  vxorps(crossed, crossed, constant(parts(part, sign_of(part), 0)));
  doubles ? vmovddup(one_part, a) : vmovsldup(one_part, a);
  multiply(to, one_part, b);
  doubles ? vaddpd(to, to, crossed) : vaddps(to, to, crossed);
  canonical_nans(op, part);
}

/// 1 where both parts are equal, or where they are not.
void Translator::compare_complex(const Op& op, ElementType part) {
  constexpr uint8_t equal = 0;
  const bool doubles = part == f64;
  const Register &to = vector(op.to), &a = vector(op.a), &b = vector(op.b);
  if (family_ == Family::evex) {
    doubles ? vcmppd(k7, a, b, equal) : vcmpps(k7, a, b, equal);
    const Register masked = to | k7 | Xbyak::util::T_z;
    const uint64_t ones = ~uint64_t{0};
    doubles ? vmovdqu64(masked, constant(ones, 8)) : vmovdqu32(masked, constant(ones, 8));
  } else {
    doubles ? vcmppd(to, a, b, equal) : vcmpps(to, a, b, equal);
  }
  const Register& other = numbered(temporary(), program_.vector_bytes);
  swap_parts(other, to, part);
  vandps(to, to, other);
  const std::array<uint8_t, 16> one = parts(part, part == f32 ? 0x3f800000 : 0x3ff0000000000000, 0);
  if (op.operation() == Operation::equal) return vandps(to, to, constant(one));
  vandnps(to, to, constant(one));
}

/// From a real number of the part's type, from the other complex type, or to pred.
void Translator::convert_complex(const Hop& hop) {
  const Register& a = source(hop);
  if (hop.type == pred) return complex_to_pred(hop);
  const Register& to = result(hop);
  if (hop.from == c64) return vcvtps2pd(to, a);
  if (hop.from == c128) return vcvtpd2ps(to, a);
  if (hop.type == c64) return vpmovzxdq(to, a);
  if (hop.count == 1) return vmovq(Xbyak::Xmm(hop.to), Xbyak::Xmm(hop.a));
  if (family_ == Family::evex) return vexpandpd(to | mask(0x55) | Xbyak::util::T_z, a);
  vpermq(Xbyak::Ymm(hop.to), Xbyak::Ymm(hop.a), 0x50);
  vandps(to, to, constant(parts(f64, ~uint64_t{0}, 0)));
}

/// 1 where any bit but the signs is set: of two parts of eight bytes in the first of two bytes.
void Translator::complex_to_pred(const Hop& hop) {
  const bool wide = hop.from == c128;
  const ElementType part = part_type(hop.from);
  const Register& bits = numbered(hop.to, hop.count * int(storage_bytes(hop.from)));
  const uint64_t others = ~sign_of(part);
  vandps(bits, source(hop), constant(parts(part, others, others)));
  if (!wide) return to_pred({u64, pred, hop.count, hop.to, hop.to});
  const Register& other = numbered(temporary(), hop.count * 16);
  swap_parts(other, bits, f64);
  vorps(bits, bits, other);
  to_pred({u64, pred, 2 * hop.count, hop.to, hop.to});
  narrow({u16, pred, hop.count, hop.to, hop.to}, 0);
}

}  // namespace restride::xbyak
