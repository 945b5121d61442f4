// select: LoopNest -> Program. Every tile gets its microkernel; loops become loops with address
// streams.
#pragma once

#include "loop_nest/loop_nest.hpp"
#include "loop_nest/schedule.hpp"
#include "program/program.hpp"
#include "target/target.hpp"

namespace restride {

/// The program of a nest. `alignment` is what the caller promises of the target pointer, in bytes;
/// non-temporal stores of the schedule are used where it proves them aligned.
Program select(const LoopNest& nest, const Schedule& schedule, const Target& target,
               int64_t alignment);

}  // namespace restride
