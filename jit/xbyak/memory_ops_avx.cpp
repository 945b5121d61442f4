// Loads and stores with AVX2 and AVX-512 encodings.
//
// Registers 0 to 15 with up to 32 bytes take the shorter VEX forms; xbyak picks EVEX for the
// others, except where the two have different names. Loads and stores of pieces go through masks
// where no single instruction does it: a masked access touches only the bytes of its mask, so its
// address may start before them.
#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;

namespace {

bool is_piece(const Op& op) {
  return op.bytes <= 8 && (op.bytes & (op.bytes - 1)) == 0 && op.at % op.bytes == 0 && op.at < 16;
}

}  // namespace

void Translator::avx_move(const Register& to, const Xbyak::Operand& from) {
  const bool high = to.getIdx() > 15 || (!from.isMEM() && from.getIdx() > 15);
  if (to.isZMM() || high) {
    vmovdqu64(to, from);
  } else {
    vmovdqu(to, from);
  }
}

void Translator::avx_move(const Xbyak::Address& to, const Register& from) {
  if (from.isZMM() || from.getIdx() > 15) {
    vmovdqu64(to, from);
  } else {
    vmovdqu(to, from);
  }
}

/// All bytes of the register: 16-byte instructions clear what is above.
void Translator::avx_zero(const Register& to) {
  const Register x(to.getIdx());
  if (x.getIdx() > 15) {
    vpxord(x, x, x);
  } else {
    vpxor(x, x, x);
  }
}

void Translator::load_vector(int to, int bytes, const Place& place) {
  if (bytes == 64) return append(Instruction(evex::load, {to}, place));
  if (to < 16) return append(Instruction(VexMove::load, bytes, to, place));
  vmovdqu64(numbered(to, bytes), address(place));
}

void Translator::store_vector(const Place& place, int from, int bytes) {
  if (bytes == 64) return append(Instruction(evex::store, {from}, place));
  if (from < 16) return append(Instruction(VexMove::store, bytes, from, place));
  vmovdqu64(address(place), numbered(from, bytes));
}

void Translator::avx_load(const Op& op) {
  if (op.bytes == program_.vector_bytes) return load_vector(number(op.to), op.bytes, place(op));
  if (op.a != none) return avx_merge(op);
  if (op.at == 0 && is_whole_piece(op.bytes, program_.vector_bytes)) return avx_load_piece(op);
  if (family_ == Family::evex) return avx_masked_load(op);
  avx_zero(vector(op.to));
  if (op.bytes == 16)
    return vinserti128(Xbyak::Ymm(physical_[size_t(op.to)]), Xbyak::Ymm(physical_[size_t(op.to)]),
                       at(op), op.at / 16);
  avx_insert_piece(low(op.to), low(op.to), op);
}

/// The first 1 to 32 bytes of a register; the rest becomes zero.
void Translator::avx_load_piece(const Op& op) {
  switch (op.bytes) {
    case 1:
      movzx(ecx, byte[at(op).getRegExp()]);
      return vmovd(low(op.to), ecx);
    case 2:
      movzx(ecx, word[at(op).getRegExp()]);
      return vmovd(low(op.to), ecx);
    case 4:
      return vmovd(low(op.to), at(op));
    case 8:
      return vmovq(low(op.to), at(op));
    default:
      return load_vector(number(op.to), op.bytes, place(op));
  }
}

/// Any bytes, anywhere; the rest becomes zero.
void Translator::avx_masked_load(const Op& op) {
  const Xbyak::Opmask k = mask(byte_mask(op.at, op.bytes));
  vmovdqu8(sized(op.to, op.at + op.bytes) | k | Xbyak::util::T_z, at(op, op.at));
}

void Translator::avx_merge(const Op& op) {
  if (is_piece(op) && is_narrow(op.a)) return avx_insert_piece(low(op.to), low(op.a), op);
  if (op.bytes == 16 && op.at % 16 == 0) return avx_merge_lane(op);
  if (family_ == Family::evex && op.bytes == 32 && op.at % 32 == 0) {
    return vinserti64x4(Xbyak::Zmm(physical_[size_t(op.to)]), Xbyak::Zmm(physical_[size_t(op.a)]),
                        at(op), op.at / 32);
  }
  if (family_ == Family::evex) {
    if (!same(op.to, op.a)) avx_move(vector(op.to), vector(op.a));
    vmovdqu8(vector(op.to) | mask(byte_mask(op.at, op.bytes)), at(op, op.at));
    return;
  }
  // The instruction clears the upper lane, so the lower one is built aside.
  const Register aside(15);
  avx_insert_piece(aside, low(op.a), op);
  vinserti128(Xbyak::Ymm(physical_[size_t(op.to)]), Xbyak::Ymm(physical_[size_t(op.a)]), aside, 0);
}

/// A masked broadcast needs no shuffle port, but overwrites its argument.
void Translator::avx_merge_lane(const Op& op) {
  const uint8_t lane = uint8_t(op.at / 16);
  const int held = family_ == Family::vex ? 0 : survey_.masks.find(lane_mask(op.at));
  const bool masked = held != 0 && same(op.to, op.a);
  if (takes_zmm()) {
    if (masked)
      return append(Instruction(evex::broadcast_lane, {number(op.to), 0, held}, place(op)));
    return append(
        Instruction(evex::insert_lane, {number(op.to), number(op.a)}, place(op)).immediate(lane));
  }
  const Xbyak::Ymm to(number(op.to)), a(number(op.a));
  if (family_ == Family::vex) return vinserti128(to, a, at(op), lane);
  if (masked) return vbroadcasti32x4(to | Xbyak::Opmask(held), at(op));
  vinserti32x4(to, a, at(op), lane);
}

/// 1 to 8 bytes into the low lane of `a`; the bytes above it become zero.
void Translator::avx_insert_piece(const Register& to, const Register& a, const Op& op) {
  const int place = op.at / op.bytes;
  switch (op.bytes) {
    case 1:
      return vpinsrb(to, a, at(op), place);
    case 2:
      return vpinsrw(to, a, at(op), place);
    case 4:
      return vpinsrd(to, a, at(op), place);
    default:
      return vpinsrq(to, a, at(op), place);
  }
}

void Translator::avx_splat(const Op& op) {
  const Register& to = vector(op.to);
  switch (op.width) {
    case 1:
      return vpbroadcastb(to, at(op));
    case 2:
      return vpbroadcastw(to, at(op));
    case 4:
      return vpbroadcastd(to, at(op));
    case 8:
      return vpbroadcastq(to, at(op));
    default:
      break;
  }
  if (program_.vector_bytes == 16) return load_vector(number(op.to), 16, place(op));
  if (family_ == Family::vex) return vbroadcasti128(Xbyak::Ymm(to.getIdx()), at(op));
  if (program_.vector_bytes == 32) return vbroadcasti32x4(Xbyak::Ymm(to.getIdx()), at(op));
  vbroadcasti32x4(Xbyak::Zmm(to.getIdx()), at(op));
}

void Translator::avx_store(const Op& op) {
  const bool half = op.at == 0 && (op.bytes == 16 || op.bytes == 32);
  if (half || op.bytes == program_.vector_bytes)
    return store_vector(place(op), number(op.a), op.bytes);
  if (is_piece(op)) return avx_store_piece(op);
  if (op.bytes == 16 && op.at % 16 == 0) return avx_store_lane(op);
  if (op.bytes == 32 && op.at % 32 == 0)
    return vextracti64x4(at(op), Xbyak::Zmm(number(op.a)), op.at / 32);
  const Xbyak::Opmask k = mask(byte_mask(op.at, op.bytes));
  vmovdqu8(at(op, op.at) | k, sized(op.a, op.at + op.bytes));
}

void Translator::avx_store_nontemporal(const Op& op) {
  if (takes_zmm()) return append(Instruction(evex::store_nontemporal, {number(op.a)}, place(op)));
  vmovntdq(at(op), vector(op.a));
}

void Translator::avx_store_lane(const Op& op) {
  const uint8_t lane = uint8_t(op.at / 16);
  if (takes_zmm()) {
    return append(Instruction(evex::extract_lane, {number(op.a)}, place(op)).immediate(lane));
  }
  const Xbyak::Ymm from(number(op.a));
  if (family_ == Family::vex) return vextracti128(at(op), from, lane);
  vextracti32x4(at(op), from, lane);
}

/// The part of a line from where the stream stands on, or before it. Vectors that are lines have 64
/// bytes, and a shift looks at no more bits of an address than that takes.
void Translator::avx_store_in_line(const Op& op) {
  lea(rcx, at(op));
  address_in_rax_ = -1;
  mov(rax, -1);
  shlx(rax, rax, rcx);
  if (op.code == Code::store_end) not_(rax);
  kmovq(k7, rax);
  and_(rcx, -line_bytes);
  vmovdqu8(ptr[rcx] | k7, vector(op.a));
}

/// 1 to 8 bytes of the low lane.
void Translator::avx_store_piece(const Op& op) {
  const Register& x = low(op.a);
  const int place = op.at / op.bytes;
  switch (op.bytes) {
    case 1:
      return vpextrb(at(op), x, uint8_t(place));
    case 2:
      return vpextrw(at(op), x, uint8_t(place));
    case 4:
      return place ? vpextrd(at(op), x, uint8_t(place)) : vmovd(at(op), x);
    default:
      return place ? vpextrq(at(op), x, uint8_t(place)) : vmovq(at(op), x);
  }
}

}  // namespace restride::xbyak
