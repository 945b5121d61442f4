// Elements of 1, 2 and 4 bits: spread over bytes of their own, and packed again. Every step works
// on words: it takes a byte apart, or puts one together.
//
//     spread    |ab| ─► |ab|..| ─► |ab|.ab| ─► |.a|.b|...     zero-extend, shift, choose
//     pack      |.a|.b| ─► |ab|..| ─► |ab|                    multiply and add, narrow
//
// What takes bits of two bytes shifts one of them, or both, and chooses bit by bit.
#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;

void Translator::avx_spread(const Op& op) {
  const bool least_first = op.packing_order() == PackingOrder::least_significant_first;
  int bytes = program_.vector_bytes * op.width / 8;
  int from = taken_piece(number(op.to), number(op.a), op.at);
  const int shifted_number = temporary();
  for (int half = 4; half >= op.width; half /= 2) {
    bytes *= 2;
    const Register &to = numbered(number(op.to), bytes), &shifted = numbered(shifted_number, bytes);
    vpmovzxbw(to, numbered(from, bytes / 2));
    vpsllw(shifted, to, uint8_t(least_first ? 8 - half : 8));
    if (!least_first) vpsrlw(to, to, uint8_t(half));
    const uint64_t ones = (1u << half) - 1;
    if (family_ == Family::evex) {
      constexpr uint8_t either_and_third = 0xa8;
      vpternlogd(to, shifted, constant(ones, 1, 1), either_and_third);
    } else {
      vpor(to, to, shifted);
      vpand(to, to, constant(ones, 1));
    }
    from = number(op.to);
  }
}

void Translator::avx_pack(const Op& op) {
  const bool least_first = op.packing_order() == PackingOrder::least_significant_first;
  int bytes = program_.vector_bytes;
  const int work = temporary();
  vandps(numbered(work, bytes), vector(op.a), constant((1u << op.width) - 1, 1));
  for (int bits = op.width; bits < 8; bits *= 2) {
    const uint64_t weight = 1u << bits;
    const Register& pairs = numbered(work, bytes);
    vpmaddubsw(pairs, pairs, constant(least_first ? weight << 8 | 1 : 1u << 8 | weight, 2));
    const uint32_t busy = busy_;
    narrow({ElementType::u16, ElementType::u8, bytes / 2, work, work}, 0);
    spare_ |= busy_ & ~busy;
    bytes /= 2;
  }
  put_piece(number(op.to), op.b == none ? -1 : number(op.b), work, op.at, bytes);
}

/// to = the bits of a where `ones` of a byte are set, else those of b. `to` is one of them.
void Translator::choose_bits(int to, int a, int b, uint64_t ones) {
  const int bytes = program_.vector_bytes;
  const Register &result = numbered(to, bytes), &x = numbered(a, bytes), &y = numbered(b, bytes);
  if (family_ == Family::evex) {
    constexpr uint8_t first_or_second = 0xe4, second_or_first = 0xd8;
    const uint8_t choice = to == a ? first_or_second : second_or_first;
    return vpternlogd(result, to == a ? y : x, constant(ones, 1, 1), choice);
  }
  vpand(x, x, constant(ones, 1));
  vpand(y, y, constant(~ones, 1));
  vpor(result, x, y);
}

void Translator::avx_mix(const Op& op) {
  const uint64_t even_fields = 0xff / ((1u << op.width) + 1);
  const bool high = op.code == Code::mix_high;
  const int bytes = program_.vector_bytes, to = number(op.to);
  const Register& result = vector(op.to);
  if (op.b == none) {
    if (high) vpsrlw(result, vector(op.a), op.width);
    return vandps(result, high ? result : vector(op.a), constant(even_fields, 1));
  }
  // One of the two is shifted, the other one stays where it is.
  const int moves = temporary(), stays = high ? number(op.b) : number(op.a);
  const Register& shifted = numbered(moves, bytes);
  high ? vpsrlw(shifted, vector(op.a), op.width) : vpsllw(shifted, vector(op.b), op.width);
  if (to != stays) avx_move(result, numbered(stays, bytes));
  choose_bits(to, high ? moves : to, high ? to : moves, even_fields);
}

}  // namespace restride::xbyak
