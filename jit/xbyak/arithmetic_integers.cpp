// Binary operations on integers of 1 to 8 bytes and on pred. What the instruction sets lack is made
// of what they have: products of bytes from products of words, products of 8 bytes with AVX2 from
// those of 4, unsigned order with AVX2 from signed order.
#include <bit>
#include <utility>

#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;

namespace {

using Code = Xbyak::CodeGenerator;
using Mnemonic = void (Code::*)(const Xbyak::Xmm&, const Xbyak::Xmm&, const Xbyak::Operand&);
using Comparison = void (Code::*)(const Xbyak::Opmask&, const Xbyak::Xmm&, const Xbyak::Operand&,
                                  uint8_t);

/// By the logarithm of the width.
constexpr Mnemonic additions[4] = {&Code::vpaddb, &Code::vpaddw, &Code::vpaddd, &Code::vpaddq};
constexpr Mnemonic subtractions[4] = {&Code::vpsubb, &Code::vpsubw, &Code::vpsubd, &Code::vpsubq};
constexpr Mnemonic signed_maxima[4] = {&Code::vpmaxsb, &Code::vpmaxsw, &Code::vpmaxsd,
                                       &Code::vpmaxsq};
constexpr Mnemonic unsigned_maxima[4] = {&Code::vpmaxub, &Code::vpmaxuw, &Code::vpmaxud,
                                         &Code::vpmaxuq};
constexpr Mnemonic signed_minima[4] = {&Code::vpminsb, &Code::vpminsw, &Code::vpminsd,
                                       &Code::vpminsq};
constexpr Mnemonic unsigned_minima[4] = {&Code::vpminub, &Code::vpminuw, &Code::vpminud,
                                         &Code::vpminuq};
constexpr Mnemonic equalities[4] = {&Code::vpcmpeqb, &Code::vpcmpeqw, &Code::vpcmpeqd,
                                    &Code::vpcmpeqq};
constexpr Mnemonic signed_orders[4] = {&Code::vpcmpgtb, &Code::vpcmpgtw, &Code::vpcmpgtd,
                                       &Code::vpcmpgtq};
constexpr Comparison signed_comparisons[4] = {&Code::vpcmpb, &Code::vpcmpw, &Code::vpcmpd,
                                              &Code::vpcmpq};
constexpr Comparison unsigned_comparisons[4] = {&Code::vpcmpub, &Code::vpcmpuw, &Code::vpcmpud,
                                                &Code::vpcmpuq};

int logarithm(ElementType type) { return std::countr_zero(uint64_t(storage_bytes(type))); }

uint8_t predicate(Operation operation) {
  switch (operation) {
    case Operation::equal:
      return 0;
    case Operation::not_equal:
      return 4;
    case Operation::less:
      return 1;
    case Operation::less_equal:
      return 2;
    case Operation::greater:
      return 6;
    default:
      return 5;
  }
}

}  // namespace

void Translator::compute_integers(const Op& op) {
  const Register &to = vector(op.to), &a = vector(op.a), &b = vector(op.b);
  const int width = logarithm(op.type);
  const bool greatest = op.operation() == Operation::maximum;
  switch (op.operation()) {
    case Operation::add:
      return (this->*additions[width])(to, a, b);
    case Operation::subtract:
      return (this->*subtractions[width])(to, a, b);
    case Operation::multiply:
      return multiply_integers(op);
    case Operation::maximum:
    case Operation::minimum: {
      if (width == 3 && family_ == Family::vex) return choose_wide(op);
      const auto& maxima = is_signed(op.type) ? signed_maxima : unsigned_maxima;
      const auto& minima = is_signed(op.type) ? signed_minima : unsigned_minima;
      return (this->*(greatest ? maxima : minima)[width])(to, a, b);
    }
    case Operation::bit_and:
      return vandps(to, a, b);
    case Operation::bit_or:
      return vorps(to, a, b);
    case Operation::bit_xor:
      return vxorps(to, a, b);
    default:
      return compare_integers(op, number(op.a), number(op.b));
  }
}

void Translator::multiply_integers(const Op& op) {
  switch (storage_bytes(op.type)) {
    case 1:
      return multiply_bytes(op);
    case 2:
      return vpmullw(vector(op.to), vector(op.a), vector(op.b));
    case 4:
      return vpmulld(vector(op.to), vector(op.a), vector(op.b));
    default:
      if (family_ == Family::vex) return multiply_wide(op);
      return vpmullq(vector(op.to), vector(op.a), vector(op.b));
  }
}

/// The low bytes of words, and the high ones moved down.
void Translator::multiply_bytes(const Op& op) {
  const Register &to = vector(op.to), &a = vector(op.a), &b = vector(op.b);
  const Register &high = numbered(temporary(), program_.vector_bytes),
                 &factor = numbered(temporary(), program_.vector_bytes);
  vpsrlw(high, a, 8);
  vpsrlw(factor, b, 8);
  vpmullw(high, high, factor);
  vpsllw(high, high, 8);
  vpmullw(to, a, b);
  vandps(to, to, constant(0xff, 2));
  vorps(to, to, high);
}

/// The halves crosswise, moved up, and the low halves.
void Translator::multiply_wide(const Op& op) {
  const Register &to = vector(op.to), &a = vector(op.a), &b = vector(op.b);
  const Register &cross = numbered(temporary(), program_.vector_bytes),
                 &other = numbered(temporary(), program_.vector_bytes);
  vpsrlq(cross, a, 32);
  vpmuludq(cross, cross, b);
  vpsrlq(other, b, 32);
  vpmuludq(other, other, a);
  vpaddq(cross, cross, other);
  vpsllq(cross, cross, 32);
  vpmuludq(to, a, b);
  vpaddq(to, to, cross);
}

/// Maximum and minimum of 8-byte integers with AVX2.
void Translator::choose_wide(const Op& op) {
  const Register &to = vector(op.to), &a = vector(op.a), &b = vector(op.b);
  const Register &is_greater = numbered(temporary(), program_.vector_bytes),
                 &other = numbered(temporary(), program_.vector_bytes);
  if (is_signed(op.type)) {
    vpcmpgtq(is_greater, a, b);
  } else {
    constexpr uint64_t sign = uint64_t{1} << 63;
    vxorps(is_greater, a, constant(sign, 8));
    vxorps(other, b, constant(sign, 8));
    vpcmpgtq(is_greater, is_greater, other);
  }
  const bool greatest = op.operation() == Operation::maximum;
  vblendvps(to, greatest ? b : a, greatest ? a : b, is_greater);
}

/// The integers of op.type in registers x and y.
void Translator::compare_integers(const Op& op, int x, int y) {
  if (family_ == Family::vex) return compare_integers_vex(op, x, y);
  const auto& comparisons = is_signed(op.type) ? signed_comparisons : unsigned_comparisons;
  const Comparison compare = comparisons[logarithm(op.type)];
  (this->*compare)(k7, numbered(x, program_.vector_bytes), numbered(y, program_.vector_bytes),
                   predicate(op.operation()));
  ones_of_mask(op);
}

/// There are only `equal` and signed `greater`: arguments are exchanged, the answer is turned
/// round.
void Translator::compare_integers_vex(const Op& op, int x, int y) {
  const int bytes = program_.vector_bytes, width = int(storage_bytes(op.type));
  const Register& to = vector(op.to);
  const Operation operation = op.operation();
  const bool order = operation != Operation::equal && operation != Operation::not_equal;
  const bool exchanged = operation == Operation::less || operation == Operation::greater_equal;
  const bool turned = operation == Operation::not_equal || operation == Operation::less_equal ||
                      operation == Operation::greater_equal;
  if (exchanged) std::swap(x, y);
  if (order && !is_signed(op.type)) {
    const uint64_t sign = uint64_t{1} << (8 * width - 1);
    const int flipped_x = temporary(), flipped_y = temporary();
    vxorps(numbered(flipped_x, bytes), numbered(x, bytes), constant(sign, width));
    vxorps(numbered(flipped_y, bytes), numbered(y, bytes), constant(sign, width));
    x = flipped_x;
    y = flipped_y;
  }
  const Mnemonic compare = (order ? signed_orders : equalities)[logarithm(op.type)];
  (this->*compare)(to, numbered(x, bytes), numbered(y, bytes));
  if (turned) return vandnps(to, to, constant(1, width));
  vandps(to, to, constant(1, width));
}

/// Any byte but 0 is true. `add` and `maximum` are or, `multiply` and `minimum` are and.
void Translator::compute_pred(const Op& op) {
  const Register &to = vector(op.to), &a = vector(op.a), &b = vector(op.b);
  const Operation operation = op.operation();
  if (operation == Operation::add || operation == Operation::maximum ||
      operation == Operation::bit_or) {
    vorps(to, a, b);
    return vpminub(to, to, constant(1, 1));
  }
  if (operation == Operation::multiply || operation == Operation::minimum ||
      operation == Operation::bit_and) {
    vpminub(to, a, b);
    return vpminub(to, to, constant(1, 1));
  }
  const int x_number = temporary(), y_number = temporary();
  const Register &x = numbered(x_number, program_.vector_bytes),
                 &y = numbered(y_number, program_.vector_bytes);
  vpminub(x, a, constant(1, 1));
  vpminub(y, b, constant(1, 1));
  if (operation == Operation::bit_xor) return vxorps(to, x, y);
  compare_integers(op, x_number, y_number);
}

}  // namespace restride::xbyak
