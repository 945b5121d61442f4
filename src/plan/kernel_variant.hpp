// What execute() has to know of a kernel besides its entry.
#pragma once

#include <span>

#include "backend/backend.hpp"
#include "plan/plan_state.hpp"
#include "program/program.hpp"
#include "restride/result.hpp"

namespace restride {

/// Lays a kernel's arguments out and extends the ranges of `kernels` by what it touches. Errors:
/// `unsupported` where execute() could not pass them.
Result<KernelVariant> make_variant(std::span<const program::Operand> operands, int64_t units,
                                   Kernel kernel, KernelSet& kernels);

}  // namespace restride
