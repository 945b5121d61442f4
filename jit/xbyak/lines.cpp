// What asks where in a line it stands, in every family: loads and stores of lines, and copies of
// their begins and ends.
#include <algorithm>

#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;

namespace {

// Kept free for detours in the families that copy.
constexpr int copy_register = 15;

}  // namespace

void Translator::load_for_line(const Op& op) {
  constexpr int in_rcx = 1;
  lea(rcx, at(line_of(op)));
  and_(ecx, line_bytes - 1);
  neg(rcx);
  lea(rax, at(op));
  address_in_rax_ = -1;
  if (family_ == Family::sse) return movdqu(low(op.to), ptr[rcx + rax]);
  load_vector(number(op.to), program_.vector_bytes, {.base = in_rcx, .plus_rax = true});
}

void Translator::store_line(const Op& op) {
  lea(rax, at(op));
  address_in_rax_ = -1;
  Xbyak::Label done;
  if (op.width != 0) {
    mov(ecx, eax);
    and_(ecx, line_bytes - 1);
    cmp(ecx, op.width);
    jae(done);
  }
  and_(rax, -line_bytes);
  if (family_ == Family::sse) {
    movntdq(ptr[rax + op.at], low(op.a));
  } else {
    vmovntdq(ptr[rax + op.at], vector(op.a));
  }
  L(done);
}

/// Two pieces that overlap, of the largest power of two that there is. Which one that is is hard to
/// foretell, but one jump is; all powers, one after the other, would be as many. (Zen 3,
/// u8[8400,5696] .95 of the time.)
void Translator::copy_in_line(const Op& op) {
  const Xbyak::Reg64 &to = rax, &from = rcx, &bytes = rdx, &data = rsi;
  const bool bytes_in_use = in_use(bytes), data_in_use = in_use(data);
  lea(from, at(copied_by(op)));
  address_in_rax_ = -1;
  lea(to, at(op));
  address_in_rax_ = -1;
  if (bytes_in_use) push(bytes);
  if (data_in_use) push(data);
  mov(bytes, to);
  if (op.code == Code::copy_begin) neg(bytes);
  and_(bytes, line_bytes - 1);
  if (op.code == Code::copy_end) {
    sub(to, bytes);
    sub(from, bytes);
  }
  Xbyak::Label done;
  for (int piece = line_bytes / 2; piece >= op.width; piece /= 2) {
    Xbyak::Label smaller;
    test(dl, piece);
    jz(smaller);
    copy_bytes(from, to, piece);
    if (piece > op.width) {
      copy_bytes(from + bytes - piece, to + bytes - piece, piece);
      jmp(done);
    }
    L(smaller);
  }
  L(done);
  if (data_in_use) pop(data);
  if (bytes_in_use) pop(bytes);
}

bool Translator::in_use(const Xbyak::Reg64& general) const {
  return (saved_ >> general.getIdx() & 1) != 0;
}

void Translator::copy_bytes(const Xbyak::RegExp& from, const Xbyak::RegExp& to, int bytes) {
  switch (bytes) {
    case 1:
      mov(sil, byte[from]);
      return mov(byte[to], sil);
    case 2:
      mov(si, word[from]);
      return mov(word[to], si);
    case 4:
      mov(esi, dword[from]);
      return mov(dword[to], esi);
    case 8:
      mov(rsi, qword[from]);
      return mov(qword[to], rsi);
    default:
      break;
  }
  const int vector = std::min(bytes, program_.vector_bytes);
  const Register& data = numbered(copy_register, vector);
  for (int at = 0; at < bytes; at += vector) {
    if (family_ == Family::sse) {
      movdqu(data, ptr[from + at]);
      movdqu(ptr[to + at], data);
    } else {
      vmovdqu(data, ptr[from + at]);
      vmovdqu(ptr[to + at], data);
    }
  }
}

}  // namespace restride::xbyak
