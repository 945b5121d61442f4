// Integer division by floats that hold more bits than arguments have: f32 for up to 16 bits, f64
// for 32. The quotient is off by less than what lies between it and the next whole number, so that
// cutting it off is exact.
#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;
using enum ElementType;

namespace {

constexpr uint32_t all_ones = 0xffffffff;

}  // namespace

/// Piece by piece, as conversions. The lowest number by -1 is itself: as many low bits are kept. By
/// zero: all ones.
void Translator::divide_integers(const Op& op) {
  const int width = int(storage_bytes(op.type)), vector_bytes = program_.vector_bytes;
  const ElementType type = width < 4 ? f32 : f64;
  const int count = vector_bytes / int(storage_bytes(type)), bytes = count * width;
  const int dividend = temporary(), divisor = temporary(), quotients = temporary();
  const uint32_t in_use = busy_;
  for (int at = 0; at < vector_bytes; at += bytes) {
    spare_ = busy_ & ~in_use;
    const int x = taken_piece(dividend, number(op.a), at);
    convert_piece({op.type, type, count, dividend, x});
    const int y = taken_piece(divisor, number(op.b), at);
    convert_piece({op.type, type, count, divisor, y});
    divide_piece({type, op.type, count, dividend, divisor});
    put_piece(quotients, at == 0 ? -1 : quotients, dividend, at, bytes);
  }
  const Register &made = numbered(quotients, vector_bytes),
                 &zeros = numbered(dividend, vector_bytes);
  if (width == 4) {
    choose_equal(zeros, vector(op.b), 0);
    take_chosen(made, all_ones, zeros);
  }
  avx_move(vector(op.to), made);
}

/// to = to / a, cut off, and of less than four bytes by zero all ones; a is overwritten.
void Translator::divide_piece(const Hop& hop) {
  const Register &to = numbered(hop.to, hop.count * int(storage_bytes(hop.from))), &a = source(hop);
  const Register& whole = numbered(hop.to, hop.count * 4);
  if (hop.from == f32) {
    vdivps(to, to, a);
    vcvttps2dq(whole, to);
    choose_equal(a, a, 0);
    take_chosen(whole, all_ones, a);
    return narrow({s32, hop.type, hop.count, hop.to, hop.to}, 0);
  }
  vdivpd(to, to, a);
  if (hop.type == s32) return vcvttpd2dq(whole, to);
  if (family_ == Family::evex) return vcvttpd2udq(whole, to);
  float_to_unsigned({f64, u32, hop.count, hop.to, hop.to});
}

}  // namespace restride::xbyak
