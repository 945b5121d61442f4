// What peels have in common: the runs of operands, and how much of them is before and behind lines.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loop_nest/schedule.hpp"
#include "target/target.hpp"

namespace restride {

/// The axis along which elements of an operand lie side by side; -1: none, or more than they.
int axis_of_runs(const IterationSpace& space, size_t operand);

/// Whether all loops of an axis advance in all operands as its finest does.
bool is_uniform(const IterationSpace& space, int axis);

/// Whether all loops but those of `axis` lead to whole lines of an operand.
bool keeps_to_lines(const IterationSpace& space, const Target& target, size_t operand, int axis);

/// Whether an operand has runs along an axis, nothing else, and all of them begin at the same place
/// in a line.
bool runs_begin_alike(const IterationSpace& space, const Target& target, size_t operand, int axis);

/// The elements of an axis before the first line of a run that begins `phase` bytes behind one, and
/// those behind the last line.
Peel ends_of(const IterationSpace& space, const Target& target, int axis, int64_t phase);

// Both ends of a run share lines with others, and what goes apart is moved through the caches. Zen
// 4, 16 bytes behind a line: ten matrices of 4096 and 8192 a side in .73 of the time (f32 .39 ->
// .57 of the ceiling, f64 .32 -> .48, u16 .21 -> .49), 57 cases of ttc in .93; of 256 bytes 1.01.
constexpr int64_t least_peeled_run_bytes = 1024;

/// Whether runs of an operand along an axis are long enough to be peeled around the caches, and all
/// begin alike.
bool can_peel(const IterationSpace& space, const Target& target, size_t operand, int axis);

/// Whether blocks leave around the caches, none of them by itself wherever in a line it begins.
bool is_staged_transpose(const Schedule& schedule);

/// Elements of an axis in a block.
int64_t block_elements(const Schedule& schedule, int axis);

/// What goes apart is little, and so are rests.
void shorten_code(Schedule& schedule);

/// Lets an axis be `length` elements long: its outermost loop takes them.
void set_length(IterationSpace& space, int axis, int64_t length);

/// Whether lines of so many rows of the source, `axis`, crowd sets of L1.
bool crowds_l1(const IterationSpace& space, const Target& target, int axis, int64_t lines);

}  // namespace restride
