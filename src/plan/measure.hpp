// Which of some kernels for the same problem is fastest, by running them.
//
//     KernelSets ── fastest ──► one of them
//
// They run on buffers made for it, in turns, so that whatever else the machine does slows them
// alike.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "plan/plan_state.hpp"

namespace restride {

/// The index of the fastest. `plan` describes the buffers of the problem; its kernels do not count.
/// Begins no run after `seconds`; 0 where no two rounds fit in, or no buffers can be had.
size_t fastest(std::span<const std::shared_ptr<KernelSet>> candidates, const Plan::State& plan,
               double seconds);

}  // namespace restride
