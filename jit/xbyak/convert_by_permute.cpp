// Conversions with AVX-512 VBMI, where one permute of bytes through a mask brings a piece of a
// register to wider elements, or what is left of wider ones to its place in a result:
//
//     bf16   |abcd....|........|   ──►  f32   | a b c d|        the other bytes are 0
//     f32    |.A.B.C.D|            ──►  bf16  |....ABCD|        the others stay as they are
//
// Otherwise a piece is first brought to the low end, and a result shortened there, by two
// operations of the one port that has them. Emerald Rapids: see bench/README.
#include <array>
#include <optional>

#include "xbyak/coverage.hpp"
#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;
using enum ElementType;

/// Whether the bytes that a mask chooses are one permute away: loading masks takes longer.
bool Translator::permutes_into(uint64_t bytes) const {
  return set_ == InstructionSet::avx512_vbmi && program_.vector_bytes == 64 &&
         survey_.masks.find(bytes) != 0;
}

/// The first step of a conversion from byte `at` of register `a` on, where a permute takes it:
/// what is left of it then, of which nothing may be.
std::optional<Translator::Hop> Translator::widened(Hop hop, int at) {
  if (!widens_by_permute(hop.from, hop.type)) return std::nullopt;
  const int from = int(storage_bytes(hop.from));
  const ElementType next = next_type(hop.from, hop.type);
  const int to = int(storage_bytes(next)), first = hop.from == bf16 ? to - from : 0;
  const uint64_t bytes = widened_bytes(from, to, first);
  const bool low = first == 0 && at == 0;
  if (low || !permutes_into(bytes) || hop.count * to != program_.vector_bytes) return std::nullopt;
  const int indices = hop.to == hop.a ? temporary() : hop.to;
  const TableCopy places{
      TableCopy::widening, 1, {uint8_t(at), uint8_t(from), uint8_t(to), uint8_t(first)}};
  avx_move(numbered(indices, 64), Constant(*this, place_of(places), 0));
  vpermb(Xbyak::Zmm(hop.to) | mask(bytes) | Xbyak::util::T_z, Xbyak::Zmm(indices),
         Xbyak::Zmm(hop.a));
  if (indices != hop.to) done_with(numbered(indices, 64));
  if (hop.from == bf16 && !nobody_sees_nans(next, hop.type)) quieten(numbered(hop.to, 64));
  hop.from = next;
  hop.a = hop.to;
  return hop;
}

/// The bytes of wide elements that are the result go to byte `at` of `to`, which has those of
/// `into` besides, or zeros for -1.
void Translator::put_narrowed(int to, int into, int at, const Narrowed& narrowed) {
  const int bytes = narrowed.count * narrowed.to;
  const TableCopy places{
      TableCopy::narrowing,
      1,
      {uint8_t(narrowed.first_byte), uint8_t(narrowed.from), uint8_t(narrowed.to), uint8_t(at)}};
  spare_ &= ~(uint32_t{1} << narrowed.number);
  const Register& indices = numbered(temporary(), 64);
  avx_move(indices, Constant(*this, place_of(places), 0));
  const Xbyak::Zmm places_of_result(indices.getIdx()), wide(narrowed.number);
  const Xbyak::Zmm chosen = Xbyak::Zmm(to) | mask(byte_mask(at, bytes));
  if (into < 0) {
    vpermb(chosen | Xbyak::util::T_z, places_of_result, wide);
  } else if (to == narrowed.number) {
    vpermb(places_of_result, places_of_result, wide);
    vpblendmb(chosen, Xbyak::Zmm(into), places_of_result);
  } else {
    if (to != into) avx_move(numbered(to, 64), numbered(into, 64));
    vpermb(chosen, places_of_result, wide);
  }
  done_with(indices);
}

std::array<uint8_t, 64> Translator::places_of_bytes(const TableCopy& copy) {
  std::array<uint8_t, 64> places{};
  const int at = copy.lane[0];
  for (int k = 0; k < int(places.size()); ++k) {
    const int from = copy.lane[1], to = copy.lane[2], first = copy.lane[3];
    if (copy.table == TableCopy::narrowing) {
      const int element = (k - first) / to, byte = (k - first) % to;
      places[size_t(k)] = k < first ? 0 : uint8_t(element * from + at + byte);
    } else if (k % to >= first) {
      places[size_t(k)] = uint8_t(at + k / to * from + k % to - first);
    }
  }
  return places;
}

}  // namespace restride::xbyak
