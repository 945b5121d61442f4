// Packed shift: bytes of packed elements that begin elsewhere in a byte.
//
//     a |abcd|   b |efgh|   ──►   |bcde|, |cdef|, |defg|      E(2): from element 1, 2, 3 of a on
//
// By halves, as a barrel shifter: what begins a nibble on is mixed of a and b, what begins two bits
// on of that and whichever of a and b is nearer, and so on.
#pragma once

#include <cstdint>

#include "microkernel/emitter.hpp"

namespace restride {

/// Elements of a byte.
constexpr int elements_in_byte(Packing packing) { return 8 / packing.bits; }

/// In each byte the elements of a from `first` on, then the first ones of b. Those of a register
/// that is not there may be anything.
program::Reg shifted_elements(Emitter& emitter, Packing packing, int first, program::Reg a,
                              program::Reg b);

/// In each byte the first `count` elements of a, then the other ones of b.
program::Reg joined_elements(Emitter& emitter, Packing packing, int count, program::Reg a,
                             program::Reg b);

}  // namespace restride
