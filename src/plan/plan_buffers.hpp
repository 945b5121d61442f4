// The buffers of a problem.
#pragma once

#include "plan/plan_state.hpp"
#include "restride/problem.hpp"
#include "restride/result.hpp"

namespace restride {

/// What a plan holds besides its kernels. Precondition: the problem is valid, and `op` is that of
/// its space.
Result<Plan::State> describe_buffers(const Problem& problem, const ElementOp& op);

}  // namespace restride
