// Permutes within lanes with AVX2 encodings: one instruction where the table is that of one, else
// the bytes of each register in their new places, and zeros, put together.
//
//     a  a1 a0 .. a7 a6 ..   vpshufb
//     b  .. .. b3 .. .. b0   vpshufb ──► vpor
//
// Where a is what such a permute has left zeros in for b, it stays as it is.
#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;

void Translator::vex_permute(const Op& op) {
  const ByteChoice choice = byte_choice(program_, op);
  uint16_t& cleared = cleared_[size_t(number(op.to))];
  if (op.b == none) {
    vpshufb(vector(op.to), vector(op.a), constant(places(choice, 0)));
    cleared = uint16_t(~(bytes_from(choice, 0) | bytes_from(choice, 1)));
  } else if (vex_permute_at_once(op, choice)) {
    cleared = 0;
  } else {
    vex_join(op, choice);
    cleared = uint16_t(~(bytes_from(choice, 0) | bytes_from(choice, 1)));
  }
}

bool Translator::vex_permute_at_once(const Op& op, const ByteChoice& choice) {
  const Register &to = vector(op.to), &a = vector(op.a), &b = vector(op.b);
  if (const auto dwords = blended(choice, 4)) {
    vpblendd(to, a, b, uint8_t(*dwords << 4 | *dwords));  // a bit for each of two lanes
  } else if (const auto words = blended(choice, 2)) {
    vpblendw(to, a, b, *words);
  } else if (const auto unpacked = unpacking(choice)) {
    const bool swapped = unpacked->first == 1;
    unpack(to, swapped ? b : a, swapped ? a : b, unpacked->width, unpacked->code);
  } else if (const auto halves = half_choice(choice)) {
    const bool swapped = halves->first == 1;
    vshufps(to, swapped ? b : a, swapped ? a : b, halves->select);
  } else if (const auto aligned = alignment(choice)) {
    const bool swapped = aligned->low == 1;
    vpalignr(to, swapped ? a : b, swapped ? b : a, uint8_t(aligned->begin));
  } else {
    return false;
  }
  return true;
}

void Translator::vex_join(const Op& op, const ByteChoice& choice) {
  // b goes first: the result may be in its register, or in a's.
  const Register &aside = numbered(15, program_.vector_bytes), &to = vector(op.to);
  vex_choose(aside, vector(op.b), choice, 1);
  const auto others = uint16_t(~bytes_from(choice, 0));
  const bool ready = stays(choice, 0) && (others & ~cleared_[size_t(number(op.a))]) == 0;
  if (!ready) vex_choose(to, vector(op.a), choice, 0);
  vpor(to, ready ? vector(op.a) : to, aside);
}

/// The bytes that come from register `number`, which is `from`; all others are 0.
void Translator::vex_choose(const Register& to, const Register& from, const ByteChoice& choice,
                            int number) {
  if (stays(choice, number)) {
    vpand(to, from, constant(ones(choice, number)));
  } else {
    vpshufb(to, from, constant(places(choice, number)));
  }
}

}  // namespace restride::xbyak
