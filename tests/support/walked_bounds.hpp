// Bounds of operands by enumeration.
#pragma once

#include "program/program.hpp"

namespace restride::testing {

/// Makes the operands of a Program as large as its accesses need, by walking all iterations.
void find_bounds(Program& program);

}  // namespace restride::testing
