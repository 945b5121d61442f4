// Operations between registers with AVX2 and AVX-512 encodings, and the choice of operation.
#include <algorithm>
#include <bit>

#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;

void Translator::avx(const Op& op) {
  switch (op.code) {
    case Code::load:
      return avx_load(op);
    case Code::splat:
      return avx_splat(op);
    case Code::shift:
      return avx_shift(op);
    case Code::load_for_line:
      return load_for_line(op);
    case Code::constant:
      return avx_constant(op);
    case Code::unpack_low:
    case Code::unpack_high:
      return avx_unpack(op);
    case Code::lanes:
      return avx_lanes(op);
    case Code::insert:
      return avx_insert(op);
    case Code::extract:
      return avx_extract(op);
    case Code::permute:
      return avx_permute(op);
    case Code::shuffle:
      return avx_shuffle(op);
    case Code::store:
      return avx_store(op);
    case Code::store_nontemporal:
      return avx_store_nontemporal(op);
    case Code::store_line:
      return store_line(op);
    case Code::store_begin:
    case Code::store_end:
      return avx_store_in_line(op);
    case Code::copy_begin:
    case Code::copy_end:
      return copy_in_line(op);
    case Code::store_run:
      return store_run(op);
    case Code::prefetch:
      return prefetch(op);
    case Code::convert:
      return avx_convert(op);
    case Code::compute:
      return avx_compute(op);
    case Code::round:
      return avx_round(op);
    case Code::spread:
      return avx_spread(op);
    case Code::pack:
      return avx_pack(op);
    case Code::mix_low:
    case Code::mix_high:
      return avx_mix(op);
  }
}

/// The instruction for elements of the operation's width, from two registers to that of its result.
Instruction Translator::between(const std::array<EvexForm, 4>& forms, const Op& op, Reg first,
                                Reg second) const {
  const EvexForm& form = forms[size_t(std::countr_zero(op.width))];
  return Instruction(form, {number(op.to), number(first)}, number(second));
}

void Translator::avx_constant(const Op& op) {
  const auto& bytes = program_.tables[size_t(op.table)];
  if (std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; })) {
    return avx_zero(vector(op.to));
  }
  load_table({op.table, 1}, number(op.to));
}

void Translator::avx_shuffle(const Op& op) {
  const int held = survey_.held.find({op.table, 1});
  if (held >= 0) return vpshufb(vector(op.to), vector(op.a), numbered(held, program_.vector_bytes));
  vpshufb(vector(op.to), vector(op.a), table(op));
  table_was_used();
}

void Translator::avx_unpack(const Op& op) {
  if (takes_zmm()) {
    const auto& forms = op.code == Code::unpack_high ? evex::unpack_high : evex::unpack_low;
    return append(between(forms, op, op.a, op.b));
  }
  unpack(vector(op.to), vector(op.a), vector(op.b), op.width, op.code);
}

void Translator::unpack(const Register& to, const Register& a, const Register& b, int width,
                        Code code) {
  const bool high = code == Code::unpack_high;
  switch (width) {
    case 1:
      return high ? vpunpckhbw(to, a, b) : vpunpcklbw(to, a, b);
    case 2:
      return high ? vpunpckhwd(to, a, b) : vpunpcklwd(to, a, b);
    case 4:
      return high ? vpunpckhdq(to, a, b) : vpunpckldq(to, a, b);
    default:
      return high ? vpunpckhqdq(to, a, b) : vpunpcklqdq(to, a, b);
  }
}

void Translator::avx_lanes(const Op& op) {
  const Xbyak::Ymm to(physical_[size_t(op.to)]), a(physical_[size_t(op.a)]),
      b(physical_[size_t(op.b)]);
  if (program_.vector_bytes == 64) {
    return vshufi32x4(Xbyak::Zmm(to.getIdx()), Xbyak::Zmm(a.getIdx()), Xbyak::Zmm(b.getIdx()),
                      op.select);
  }
  const int first = op.select & 1, second = op.select >> 1 & 1;
  if (family_ == Family::evex) return vshufi32x4(to, a, b, uint8_t(first | second << 1));
  // The two lanes that stay where they are need no crossing.
  if (first == 0 && second == 1) return vpblendd(to, a, b, 0xf0);
  vperm2i128(to, a, b, uint8_t(first | (2 + second) << 4));
}

void Translator::avx_insert(const Op& op) {
  const Xbyak::Ymm to(physical_[size_t(op.to)]), a(physical_[size_t(op.a)]);
  const uint8_t lane = uint8_t(op.at / 16);
  if (program_.vector_bytes == 64) {
    return vinserti32x4(Xbyak::Zmm(to.getIdx()), Xbyak::Zmm(a.getIdx()), low(op.b), lane);
  }
  if (family_ == Family::evex) return vinserti32x4(to, a, low(op.b), lane);
  vinserti128(to, a, low(op.b), lane);
}

void Translator::avx_extract(const Op& op) {
  const Xbyak::Ymm a(physical_[size_t(op.a)]);
  const uint8_t lane = uint8_t(op.at / 16);
  if (lane == 0) {
    if (!same(op.to, op.a)) avx_move(low(op.to), low(op.a));
    return;
  }
  if (program_.vector_bytes == 64) {
    return vextracti32x4(low(op.to), Xbyak::Zmm(a.getIdx()), lane);
  }
  if (family_ == Family::evex) return vextracti32x4(low(op.to), a, lane);
  vextracti128(low(op.to), a, lane);
}

/// With masks the result's register holds the table first, if no other one does; it is none of the
/// arguments'.
void Translator::avx_permute(const Op& op) {
  if (family_ == Family::vex) return vex_permute(op);
  if (const std::optional<uint64_t> taken = blend_mask(program_, op)) {
    return vpblendmb(vector(op.to) | mask(*taken), vector(op.a), vector(op.b));
  }
  if (is_funnel(program_, op, set_)) return avx_funnel(op);
  // One source has no form for 4 and 8 bytes in one lane, and xbyak 6.68 encodes that for 8 bytes
  // in two lanes as the one for 4.
  const int one_source_bytes = op.width < 4 ? 16 : op.width == 4 ? 32 : 64;
  const int indices = table_register(op);
  if (op.b == none && program_.vector_bytes >= one_source_bytes)
    return avx_permute_one(op, indices);
  if (indices != number(op.to)) avx_move(vector(op.to), numbered(indices, program_.vector_bytes));
  avx_permute_two(op, op.b == none ? op.a : op.b);
}

/// The odd elements of a before the even ones of b: pairs of b followed by those of a, shifted by
/// one.
void Translator::avx_funnel(const Op& op) {
  const Register &to = vector(op.to), &a = vector(op.a), &b = vector(op.b);
  switch (op.width) {
    case 1:
      return vpshldw(to, b, a, 8);
    case 2:
      return vpshldd(to, b, a, 16);
    default:
      return vpshldq(to, b, a, 32);
  }
}

/// The places of elements in two vectors stand behind the code; which of them are chosen begins as
/// far before the second as b comes to stand behind the begin of a line.
void Translator::avx_shift(const Op& op) {
  const int vector = program_.vector_bytes;
  lea(rax, at(op));
  address_in_rax_ = -1;
  and_(eax, vector - 1);
  neg(rax);
  const std::array<uint8_t, 16> first{}, second{uint8_t(vector / op.width)};
  const int place = place_of({TableCopy::in_order, op.width, first});
  place_of({TableCopy::in_order, op.width, second});
  lea(rcx, Constant(*this, place, 0));
  vmovdqu64(this->vector(op.to), ptr[rcx + rax + vector]);
  avx_permute_two(op, op.b);
}

void Translator::avx_permute_one(const Op& op, int indices) {
  if (takes_zmm()) {
    const EvexForm& form = evex::permute_one[size_t(std::countr_zero(op.width))];
    return append(Instruction(form, {number(op.to), indices}, number(op.a)));
  }
  const Register &to = vector(op.to), &a = vector(op.a);
  const Register& places = numbered(indices, program_.vector_bytes);
  switch (op.width) {
    case 1:
      return vpermb(to, places, a);
    case 2:
      return vpermw(to, places, a);
    default:
      return vpermd(Xbyak::Ymm(to.getIdx()), Xbyak::Ymm(places.getIdx()), a);
  }
}

void Translator::avx_permute_two(const Op& op, Reg second) {
  if (takes_zmm()) return append(between(evex::permute_two, op, op.a, second));
  const Register &to = vector(op.to), &a = vector(op.a), &b = vector(second);
  switch (op.width) {
    case 1:
      return vpermi2b(to, a, b);
    case 2:
      return vpermi2w(to, a, b);
    case 4:
      return vpermi2d(to, a, b);
    default:
      return vpermi2q(to, a, b);
  }
}

}  // namespace restride::xbyak
