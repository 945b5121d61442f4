// select: LoopNest -> Program. Every tile gets its microkernel; loops become loops with address
// streams.
#pragma once

#include "loop_nest/loop_nest.hpp"
#include "loop_nest/schedule.hpp"
#include "program/program.hpp"
#include "target/target.hpp"

namespace restride {

/// What the caller promises of the target's pointer: it stands `phase` bytes behind a multiple of
/// `alignment` bytes.
struct TargetPointer {
  int64_t alignment = 1, phase = 0;
};

/// The program of a nest. Non-temporal stores of the schedule are used where the promise proves
/// them aligned.
Program select(const LoopNest& nest, const Schedule& schedule, const Target& target,
               const TargetPointer& pointer);

}  // namespace restride
