// Axis loops: the digits of all operands on one axis -> its loops, coarsest first.
//
//     digits begin at    24   8   6   2   1
//     loops of step      24      (2)  1          along (2) operands count 8 and 6 for themselves
//
// Where one digit begins at a multiple of where the next finer one does, whichever operands they
// belong to, each gets a loop. Others are taken together: above their least common multiple and
// below their greatest common divisor all operands walk by strides again; the loop in between has
// digits of its own for every operand that needs some.
#pragma once

#include <cstdint>
#include <vector>

#include "restride/result.hpp"
#include "space/digits.hpp"
#include "space/iteration_space.hpp"

namespace restride {

/// The loops of `axis`, strides in bits. `operands` holds the digits of the target first; those of
/// each operand nest. Errors: `unsupported` for more digits than a step of a program has.
Result<std::vector<Loop>> axis_loops(const std::vector<const Digits*>& operands, int axis,
                                     const Axis& bounds);

}  // namespace restride
