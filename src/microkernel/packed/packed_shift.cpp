// See packed_shift.hpp.
#include "microkernel/packed/packed_shift.hpp"

#include <utility>

namespace restride {

using program::none;
using program::Reg;

Reg shifted_elements(Emitter& emitter, Packing packing, int first, Reg a, Reg b) {
  int bits = first * packing.bits;
  if (bits == 0) return a;
  if (bits == 8) return b;
  if (a == none) a = b;
  if (b == none) b = a;
  if (packing.order == PackingOrder::most_significant_first) {
    std::swap(a, b);
    bits = 8 - bits;
  }
  for (int width = 4;; width /= 2) {
    const Reg middle = emitter.mix_low(width, emitter.mix_high(width, a, none), b);
    if (bits == width) return middle;
    if (bits < width) {
      b = middle;
    } else {
      a = middle;
      bits -= width;
    }
  }
}

namespace {

/// In each field of twice `width` bits the low `bits` of a, then those of b.
Reg joined_bits(Emitter& emitter, int width, int bits, Reg a, Reg b) {
  const auto halves = [&](Reg low, Reg high) {
    return emitter.mix_low(width, low, emitter.mix_high(width, high, none));
  };
  if (bits == width) return halves(a, b);
  const Reg inner = joined_bits(emitter, width / 2, bits % width, a, b);
  return bits < width ? halves(inner, b) : halves(a, inner);
}

}  // namespace

Reg joined_elements(Emitter& emitter, Packing packing, int count, Reg a, Reg b) {
  int bits = count * packing.bits;
  if (bits == 0) return b;
  if (bits == 8) return a;
  if (packing.order == PackingOrder::most_significant_first) {
    std::swap(a, b);
    bits = 8 - bits;
  }
  return joined_bits(emitter, 4, bits, a, b);
}

}  // namespace restride
