// Binary operations on f32 and f64, and the choice between floats and integers.
//
// A NaN that comes out is replaced by the positive quiet one. Comparisons make a mask, in a mask
// register or of all bits, of which one bit an element is kept.
#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;
using enum ElementType;

namespace {

constexpr uint8_t unordered = 3;

/// How processors number comparisons: false with NaN, but for the second.
uint8_t predicate(Operation operation) {
  switch (operation) {
    case Operation::equal:
      return 0x00;
    case Operation::not_equal:
      return 0x04;
    case Operation::less:
      return 0x11;
    case Operation::less_equal:
      return 0x12;
    case Operation::greater:
      return 0x1e;
    default:
      return 0x1d;
  }
}

}  // namespace

void Translator::avx_compute(const Op& op) {
  if (op.type == pred) return compute_pred(op);
  if (is_complex(op.type)) return compute_complex(op);
  if (!is_float(op.type)) {
    return op.operation() == Operation::divide ? divide_integers(op) : compute_integers(op);
  }
  if (is_comparison(op.operation())) return compare_floats(op);
  compute_floats(op);
}

void Translator::compute_floats(const Op& op) {
  const Register &to = vector(op.to), &a = vector(op.a), &b = vector(op.b);
  const bool doubles = op.type == f64;
  switch (op.operation()) {
    case Operation::add:
      doubles ? vaddpd(to, a, b) : vaddps(to, a, b);
      break;
    case Operation::subtract:
      doubles ? vsubpd(to, a, b) : vsubps(to, a, b);
      break;
    case Operation::multiply:
      doubles ? vmulpd(to, a, b) : vmulps(to, a, b);
      break;
    case Operation::divide:
      doubles ? vdivpd(to, a, b) : vdivps(to, a, b);
      break;
    default:
      return choose_floats(op);
  }
  canonical_nans(op, op.type);
}

/// In the result, of floats of this type.
void Translator::canonical_nans(const Op& op, ElementType type) {
  const Register& to = vector(op.to);
  const bool doubles = type == f64;
  if (family_ == Family::evex) {
    doubles ? vcmppd(k7, to, to, unordered) : vcmpps(k7, to, to, unordered);
    return replace_nans(to, to, type);
  }
  const Register& nans = numbered(temporary(), program_.vector_bytes);
  doubles ? vcmppd(nans, to, to, unordered) : vcmpps(nans, to, to, unordered);
  replace_nans(to, nans, type);
}

/// Where k7, with AVX2 `nans`, says so.
void Translator::replace_nans(const Register& to, const Register& nans, ElementType type) {
  const int width = type == f64 ? 8 : 4;
  const uint64_t nan = type == f64 ? 0x7ff8000000000000 : 0x7fc00000;
  if (family_ == Family::evex) {
    return width == 8 ? vmovdqu64(to | k7, constant(nan, width))
                      : vmovdqu32(to | k7, constant(nan, width));
  }
  vblendvps(to, to, constant(nan, width, 1), nans);
}

/// Maximum and minimum, -0 less than +0. AVX-512 has that, apart from NaN; the older maxima give
/// the second of two zeros, so the bits of both orders are joined.
void Translator::choose_floats(const Op& op) {
  const Register &to = vector(op.to), &a = vector(op.a), &b = vector(op.b);
  const bool doubles = op.type == f64, greatest = op.operation() == Operation::maximum;
  if (family_ == Family::evex) {
    constexpr uint8_t with_sign = 4;
    const uint8_t choice = with_sign | (greatest ? 1 : 0);
    doubles ? vcmppd(k7, a, b, unordered) : vcmpps(k7, a, b, unordered);
    doubles ? vrangepd(to, a, b, choice) : vrangeps(to, a, b, choice);
    return replace_nans(to, to, op.type);
  }
  const Register &nans = numbered(temporary(), program_.vector_bytes),
                 &other = numbered(temporary(), program_.vector_bytes);
  doubles ? vcmppd(nans, a, b, unordered) : vcmpps(nans, a, b, unordered);
  if (greatest) {
    doubles ? vmaxpd(other, a, b) : vmaxps(other, a, b);
    doubles ? vmaxpd(to, b, a) : vmaxps(to, b, a);
    vandps(to, to, other);
  } else {
    doubles ? vminpd(other, a, b) : vminps(other, a, b);
    doubles ? vminpd(to, b, a) : vminps(to, b, a);
    vorps(to, to, other);
  }
  replace_nans(to, nans, op.type);
}

void Translator::compare_floats(const Op& op) {
  const Register &to = vector(op.to), &a = vector(op.a), &b = vector(op.b);
  const uint8_t how = predicate(op.operation());
  const bool doubles = op.type == f64;
  if (family_ == Family::evex) {
    doubles ? vcmppd(k7, a, b, how) : vcmpps(k7, a, b, how);
    return ones_of_mask(op);
  }
  doubles ? vcmppd(to, a, b, how) : vcmpps(to, a, b, how);
  doubles ? vpsrlq(to, to, 63) : vpsrld(to, to, 31);
}

/// The result of a comparison: 1 where k7 is set, else 0.
void Translator::ones_of_mask(const Op& op) {
  const int type_bytes = int(storage_bytes(op.type));
  const int width = op.width == 1 ? 1 : type_bytes;
  const Register masked =
      sized(op.to, program_.vector_bytes / type_bytes * width) | k7 | Xbyak::util::T_z;
  switch (width) {
    case 1:
      return vmovdqu8(masked, constant(1, 1));
    case 2:
      return vmovdqu16(masked, constant(1, 2));
    case 4:
      return vmovdqu32(masked, constant(1, 4));
    default:
      return vmovdqu64(masked, constant(1, 8));
  }
}

}  // namespace restride::xbyak
