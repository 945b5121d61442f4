// Operations in SSE2, nothing newer: two operands, no byte inserts, pieces through general
// registers.
//
// Every vector has one lane here, so lanes, insert, extract, permute and shuffle do not occur
// (verify).
#include <algorithm>

#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;

void Translator::sse(const Op& op) {
  switch (op.code) {
    case Code::load:
      return op.a == none || op.bytes == 16 ? sse_load(op) : sse_merge(op);
    case Code::splat:
      return sse_splat(op);
    case Code::constant: {
      const auto& bytes = program_.tables[size_t(op.table)];
      if (std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; })) {
        return pxor(low(op.to), low(op.to));
      }
      movdqu(low(op.to), table(op));
      return table_was_used();
    }
    case Code::unpack_low:
    case Code::unpack_high:
      return sse_unpack(op);
    case Code::store:
      return sse_store(op);
    case Code::store_nontemporal:
      return movntdq(at(op), low(op.a));
    case Code::load_for_line:
      return load_for_line(op);
    case Code::store_line:
      return store_line(op);
    case Code::copy_begin:
    case Code::copy_end:
      return copy_in_line(op);
    case Code::store_run:
      return store_run(op);
    case Code::prefetch:
      return prefetch(op);
    default:
      failed_ = true;
  }
}

/// The result starts as a copy of the first argument.
void Translator::sse_prepare(const Op& op) {
  if (!same(op.to, op.a)) movdqa(low(op.to), low(op.a));
}

void Translator::sse_load(const Op& op) {
  const Register& to = low(op.to);
  if (op.bytes == 16) return movdqu(to, at(op));
  if (op.at > 0) {
    pxor(to, to);
    return sse_merge(op);
  }
  switch (op.bytes) {
    case 1:
      movzx(ecx, byte[at(op).getRegExp()]);
      return movd(to, ecx);
    case 2:
      movzx(ecx, word[at(op).getRegExp()]);
      return movd(to, ecx);
    case 4:
      return movd(to, at(op));
    default:
      return movq(to, at(op));
  }
}

void Translator::sse_merge(const Op& op) {
  const Register& to = low(op.to);
  if (op.a != none) sse_prepare(op);
  switch (op.bytes) {
    case 1:
      return sse_insert_byte(op);
    case 2:
      return pinsrw(to, at(op), uint8_t(op.at / 2));
    case 4:
      pinsrw(to, at(op), uint8_t(op.at / 2));
      return pinsrw(to, at(op, -2), uint8_t(op.at / 2 + 1));
    default:
      return op.at ? movhps(to, at(op)) : movlps(to, at(op));
  }
}

/// A byte goes into the word around it.
void Translator::sse_insert_byte(const Op& op) {
  const Register& to = low(op.to);
  const uint8_t word = uint8_t(op.at / 2);
  const bool high = op.at % 2 == 1;
  pextrw(ecx, to, word);
  if (high) rol(cx, 8);
  mov(cl, byte[at(op).getRegExp()]);
  if (high) rol(cx, 8);
  pinsrw(to, ecx, word);
}

void Translator::sse_splat(const Op& op) {
  const Register& to = low(op.to);
  switch (op.width) {
    case 1:
      movzx(ecx, byte[at(op).getRegExp()]);
      imul(ecx, ecx, 0x01010101);
      movd(to, ecx);
      return pshufd(to, to, 0);
    case 2:
      movzx(ecx, word[at(op).getRegExp()]);
      movd(to, ecx);
      pshuflw(to, to, 0);
      return punpcklqdq(to, to);
    case 4:
      movd(to, at(op));
      return pshufd(to, to, 0);
    case 8:
      movq(to, at(op));
      return punpcklqdq(to, to);
    default:
      return movdqu(to, at(op));
  }
}

void Translator::sse_store(const Op& op) {
  if (op.bytes == 16) return movdqu(at(op), low(op.a));
  if (op.bytes == 8) return op.at ? movhps(at(op), low(op.a)) : movq(at(op), low(op.a));
  sse_store_piece(op);
}

void Translator::sse_store_piece(const Op& op) {
  const Register& a = low(op.a);
  const Register aside(15);
  if (op.bytes == 4) {
    if (op.at == 0) return movd(at(op), a);
    pshufd(aside, a, uint8_t(op.at / 4));
    return movd(at(op), aside);
  }
  pextrw(ecx, a, uint8_t(op.at / 2));
  if (op.bytes == 2) return mov(word[at(op).getRegExp()], cx);
  if (op.at % 2) shr(ecx, 8);
  mov(byte[at(op).getRegExp()], cl);
}

void Translator::sse_unpack(const Op& op) {
  sse_prepare(op);
  // With one register for both arguments the second is the copy.
  const Register& to = low(op.to);
  const Register& b = op.b == op.a ? to : low(op.b);
  const bool high = op.code == Code::unpack_high;
  switch (op.width) {
    case 1:
      return high ? punpckhbw(to, b) : punpcklbw(to, b);
    case 2:
      return high ? punpckhwd(to, b) : punpcklwd(to, b);
    case 4:
      return high ? punpckhdq(to, b) : punpckldq(to, b);
    default:
      return high ? punpckhqdq(to, b) : punpcklqdq(to, b);
  }
}

}  // namespace restride::xbyak
