// Conversions: where the elements lie. A conversion is split into pieces of as many elements as fit
// a register in every type on the way; each piece is brought to the low end of a register,
// converted there type by type, and put where it belongs.
//
//     f16 -> s8    a  |0...|1...|         through f32, so in two pieces
//                      │
//                      ├─► |0...| ─► f32 |0.......| ─► s8 |0.| ─┐
//                      └─► |1...| ─► f32 |1.......| ─► s8 |1.| ─┴─► to |0.|1.|....|
#include <algorithm>

#include "element/float_format.hpp"
#include "xbyak/coverage.hpp"
#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;

const Translator::Register& Translator::source(const Hop& hop) {
  return numbered(hop.a, hop.count * int(storage_bytes(hop.from)));
}

const Translator::Register& Translator::result(const Hop& hop) {
  return numbered(hop.to, hop.count * int(storage_bytes(hop.type)));
}

void Translator::avx_convert(const Op& op) {
  nans_are_computed_ = nans_[size_t(op.to)].computed;
  nans_are_canonical_ = op.from == ElementType::f32 && nans_[size_t(op.a)].canonical;
  if (op.from == op.type) {
    if (!same(op.to, op.a)) avx_move(vector(op.to), vector(op.a));
    return;
  }
  const int from_bytes = int(storage_bytes(op.from)), to_bytes = int(storage_bytes(op.type));
  const int count = program_.vector_bytes / widest_bytes(op.from, op.type);
  const bool one_piece = count * std::max(from_bytes, to_bytes) == program_.vector_bytes;
  if (!one_piece) return convert_in_pieces(op, count);
  const bool merges = from_bytes > to_bytes && (op.b != none || op.at > 0);
  const bool small = count * to_bytes < 16;
  const bool permuted = to_bytes < from_bytes && permutes_into(byte_mask(op.at, count * to_bytes));
  const bool aside = permuted || (merges && (small || op.b == none || same(op.to, op.b)));
  const int work = aside ? temporary() : number(op.to);
  const int at = from_bytes < to_bytes ? op.at : 0;
  const int into = op.b == none ? -1 : number(op.b);
  const Hop hop{op.from, op.type, count, work, number(op.a)};
  convert_and_put(hop, at, number(op.to), into, from_bytes > to_bytes ? op.at : 0);
}

/// The elements from byte `from_at` of hop.a on, to byte `to_at` of `to`, by way of hop.to.
void Translator::convert_and_put(const Hop& hop, int from_at, int to, int into, int to_at) {
  const int bytes = hop.count * int(storage_bytes(hop.type));
  narrowed_.reset();
  may_stay_wide_ = hop.to != to && !is_complex(hop.from) && permutes_into(byte_mask(to_at, bytes));
  Hop taken = hop;
  if (const std::optional<Hop> wider = widened(hop, from_at)) {
    taken = *wider;
  } else {
    taken.a = taken_piece(hop.to, hop.a, from_at);
  }
  convert_piece(taken);
  may_stay_wide_ = false;
  if (narrowed_) {
    put_narrowed(to, into, to_at, *narrowed_);
  } else if (hop.to != to || into >= 0 || to_at > 0) {
    put_piece(to, into, hop.to, to_at, bytes);
  }
}

void Translator::convert_in_pieces(const Op& op, int count) {
  const int from_bytes = int(storage_bytes(op.from)), to_bytes = int(storage_bytes(op.type));
  const int total = program_.vector_bytes / std::max(from_bytes, to_bytes);
  const int from_at = from_bytes < to_bytes ? op.at : 0, to_at = to_bytes < from_bytes ? op.at : 0;
  const int work = temporary();
  const int gathered = same(op.to, op.a) ? temporary() : number(op.to);
  int into = op.b == none ? -1 : number(op.b);
  const uint32_t in_use = busy_;
  for (int k = 0; k < total; k += count) {
    spare_ = busy_ & ~in_use;
    const Hop hop{op.from, op.type, count, work, number(op.a)};
    convert_and_put(hop, from_at + k * from_bytes, gathered, into, to_at + k * to_bytes);
    into = gathered;
  }
  if (gathered != number(op.to)) {
    avx_move(vector(op.to), numbered(gathered, program_.vector_bytes));
  }
}

/// Type by type. A narrower result has zeros above it.
void Translator::convert_piece(Hop hop) {
  const ElementType end = hop.type;
  while (hop.from != end) {
    hop.type = next_type(hop.from, end);
    is_last_step_ = hop.type == end;
    hop.stays_raw = nobody_sees_nans(hop.type, end);
    hop.to_odd = hop.from == ElementType::f64 && hop.type == ElementType::f32 && is_float(end) &&
                 hop.type != end;
    const uint32_t in_use = busy_ & ~spare_;
    convert_once(hop);
    spare_ = busy_ & ~in_use;
    hop.from = hop.type;
    hop.a = hop.to;
  }
}

/// Whether nobody looks at the bits of NaNs of type `type` on the way to `end`: of the other types
/// none has them, or the instruction that converts to it makes them quiet.
bool Translator::nobody_sees_nans(ElementType type, ElementType end) const {
  if (type == end) return nans_are_computed_;
  return !is_complex(end) && !is_byte_float(end);
}

void Translator::convert_once(const Hop& hop) {
  if (is_complex(hop.from) || is_complex(hop.type)) return convert_complex(hop);
  if (hop.from == ElementType::f4e2m1fn) return f4_to_f16(hop);
  if (is_small_integer(hop.from)) return extend(hop);
  if (hop.type == ElementType::pred) return to_pred(hop);
  if (hop.from == ElementType::pred) return vpminub(result(hop), source(hop), constant(1, 1));
  if (is_float(hop.from)) return is_float(hop.type) ? float_to_float(hop) : float_to_integer(hop);
  if (is_float(hop.type)) return integer_to_float(hop);
  if (is_small_integer(hop.type)) return cut(hop);
  resize(hop);
}

/// The number of a register with the bytes of `a` from `at` on at its low end: `a` itself or
/// `into`.
int Translator::taken_piece(int into, int a, int at) {
  const int vector_bytes = program_.vector_bytes;
  const Register &to = numbered(into, vector_bytes), &from = numbered(a, vector_bytes);
  const Register& low_to = numbered(into, 16);
  if (at == 0) return a;
  if (family_ == Family::evex && at % 4 == 0) {
    valignd(to, from, from, uint8_t(at / 4));
  } else if (vector_bytes == 32 && at % 8 == 0 && at != 16) {
    vpermq(Xbyak::Ymm(into), Xbyak::Ymm(a), uint8_t(at / 8));
  } else if (at >= 16) {
    vextracti128(low_to, Xbyak::Ymm(a), 1);
    if (at > 16) vpsrldq(low_to, low_to, uint8_t(at - 16));
  } else {
    vpsrldq(low_to, numbered(a, 16), uint8_t(at));
  }
  return into;
}

/// to = `into` with the low `bytes` of `piece` at byte `at`; with -1 for `into` the rest is zero,
/// as it is in `piece`. `piece` is `to` only where neither is given, or a piece of whole lanes goes
/// into another register.
void Translator::put_piece(int to, int into, int piece, int at, int bytes) {
  if (into < 0 && at == 0) {
    if (to != piece) avx_move(numbered(to, bytes), numbered(piece, bytes));
    return;
  }
  if (into < 0) {
    avx_zero(numbered(to, 16));
    into = to;
  }
  const bool evex = family_ == Family::evex;
  if (bytes == 32) {
    vinserti64x4(Xbyak::Zmm(to), Xbyak::Zmm(into), Xbyak::Ymm(piece), uint8_t(at / 32));
  } else if (bytes == 16 && program_.vector_bytes == 64) {
    vinserti32x4(Xbyak::Zmm(to), Xbyak::Zmm(into), Xbyak::Xmm(piece), uint8_t(at / 16));
  } else if (bytes == 16 && evex) {
    vinserti32x4(Xbyak::Ymm(to), Xbyak::Ymm(into), Xbyak::Xmm(piece), uint8_t(at / 16));
  } else if (bytes == 16) {
    vinserti128(Xbyak::Ymm(to), Xbyak::Ymm(into), Xbyak::Xmm(piece), uint8_t(at / 16));
  } else {
    put_small_piece(to, into, piece, at, bytes);
  }
}

/// Less than a lane: spread over the register and chosen from there.
void Translator::put_small_piece(int to, int into, int piece, int at, int bytes) {
  const Register &all = numbered(to, program_.vector_bytes), &from = numbered(piece, 16);
  const Register& others = numbered(into, program_.vector_bytes);
  if (family_ == Family::evex) {
    if (to != into) avx_move(all, others);
    const Xbyak::Opmask chosen = mask(uint64_t{1} << (at / bytes));
    if (bytes == 8) return vpbroadcastq(all | chosen, from);
    if (bytes == 4) return vpbroadcastd(all | chosen, from);
    if (bytes == 2) return vpbroadcastw(all | chosen, from);
    return vpbroadcastb(all | chosen, from);
  }
  const Register& spread = numbered(temporary(), program_.vector_bytes);
  if (bytes == 1) {
    std::array<uint8_t, 16> chosen{}, kept;
    chosen[size_t(at)] = 0xff;
    kept.fill(0xff);
    kept[size_t(at)] = 0;
    vpbroadcastb(spread, from);
    vandps(spread, spread, constant(chosen));
    vandps(all, others, constant(kept));
    return vorps(all, all, spread);
  }
  if (bytes == 8) {
    vpbroadcastq(spread, from);
  } else if (bytes == 4) {
    vpbroadcastd(spread, from);
  } else {
    vpbroadcastw(spread, from);
    // Of both lanes.
    vpblendw(spread, others, spread, uint8_t(1 << (at % 16 / 2)));
    return vpblendd(all, others, spread, at < 16 ? 0x0f : 0xf0);
  }
  const int dwords = bytes == 8 ? 3 : 1;
  vpblendd(all, others, spread, uint8_t(dwords << (at / 4)));
}

}  // namespace restride::xbyak
