// Nesting: makes the digits of every axis one numeral, each digit counting units of the next finer
// one.
//
// They are one already unless a tile fails to divide the tile it splits. T(4)(8) leaves a digit of
// extent 8 below one of step 4, T(8)(3) one of step 3 below one of step 8. Where the axis is whole
// in units of the coarser digit, what lies below it becomes an axis of its own, with bounds of its
// own; else a digit that reaches too far is cut short, which is right as long as nobody asks for
// the bytes it leaves out.
#pragma once

#include <vector>

#include "restride/result.hpp"
#include "space/digits.hpp"
#include "space/iteration_space.hpp"

namespace restride {

/// `operands` holds the digits of the target first. `fills_target`: bytes of the target that no
/// index reaches are wanted too. Axes may be added. Errors: `unsupported` where no numeral
/// describes the digits.
Result<void> nest(std::vector<Digits*>& operands, std::vector<Axis>& axes, bool fills_target);

}  // namespace restride
