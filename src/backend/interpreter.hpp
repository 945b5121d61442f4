// The interpreter: executes a Program literally, one operation at a time. Always available.
#pragma once

#include "backend/backend.hpp"

namespace restride {

/// Runs units [first_unit, last_unit) of a verified Program once. Prepares it first, which
/// allocates; a Kernel of interpreter_backend() was prepared when it was made and allocates
/// nothing.
void interpret(const Program& program, void* const* operands, int64_t first_unit,
               int64_t last_unit);

const Backend& interpreter_backend();

}  // namespace restride
