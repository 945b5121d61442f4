// Rewrites of an iteration space. Post-condition of every one: the set of (source bytes, target
// byte, computed or filled) triples is the same before and after. Tests execute it on random
// spaces.
#pragma once

#include <cstddef>
#include <cstdint>

#include "space/iteration_space.hpp"

namespace restride {

// ---- what simplify applies, in this order

/// Marks a space whose axes visit nothing, or compute nothing, by the plainest form that does the
/// same: what only the target walks nests.
void normalize_bounds(IterationSpace& space);

/// Drops loops of one iteration.
void drop_single_iterations(IterationSpace& space);

/// Where both bounds of an axis are multiples of a step, the loops below that step form an axis of
/// their own: nothing can cut them, so they may stand anywhere.
void separate(IterationSpace& space);

/// Orders the loops to walk the target from major to minor, as far as coarser loops of an axis
/// stand outside its finer ones.
void order_by_target(IterationSpace& space);

/// Joins loop `k` with loop `k + 1` inside it if the pair advances like a single loop.
bool fuse(IterationSpace& space, size_t k);

/// Folds a loop that is contiguous in all operands into the element, as far as its extent and
/// bounds have powers of two and the element keeps within `limit`: a transpose of pairs of f32 is a
/// transpose of 8-byte elements.
bool widen(IterationSpace& space, int64_t limit);

/// Numbers the axes in the order their loops appear and forgets those that no loop walks.
void renumber(IterationSpace& space);

// ---- what schedule applies

/// Whether loop `k` can be split at `factor`: that its own digits, if it has some, all lie below.
bool can_split(const IterationSpace& space, size_t k, int64_t factor);

/// Splits loop `k` into a loop over blocks of `factor` iterations and, behind it, a loop within a
/// block. The last block may be partial: the bounds of the axis cut it off.
/// Precondition: can_split.
void split(IterationSpace& space, size_t k, int64_t factor);

/// Moves loop `from` to position `to`. Precondition: invariant 2 holds afterwards.
void move_loop(IterationSpace& space, size_t from, size_t to);

}  // namespace restride
