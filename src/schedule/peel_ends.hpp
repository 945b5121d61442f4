// What peels have in common: the runs of operands, and how much of them is before and behind lines.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loop_nest/schedule.hpp"
#include "target/target.hpp"

namespace restride {

/// The axis along which elements of an operand lie side by side; -1: none, or more than they.
int axis_of_runs(const IterationSpace& space, size_t operand);

/// Whether all loops of an axis advance in both operands as its finest does.
bool is_uniform(const IterationSpace& space, int axis);

/// Whether all loops but those of `axis` lead to whole lines of an operand.
bool keeps_to_lines(const IterationSpace& space, const Target& target, size_t operand, int axis);

/// Whether an operand has runs along an axis, nothing else, and all of them begin at the same place
/// in a line.
bool runs_begin_alike(const IterationSpace& space, const Target& target, size_t operand, int axis);

/// The elements of an axis before the first line of a run that begins `phase` bytes behind one, and
/// those behind the last line.
Peel ends_of(const IterationSpace& space, const Target& target, int axis, int64_t phase);

}  // namespace restride
