// Elements of 1, 2 and 4 bits: spread over bytes of their own, and packed again. Every step works
// on words: it takes a byte apart, or puts one together.
//
//     spread    |ab| ─► |ab|..| ─► |ab|.ab| ─► |.a|.b|...     zero-extend, shift, choose
//     pack      |.a|.b| ─► |ab|..| ─► |ab|                    multiply and add, narrow
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

}  // namespace restride::xbyak
