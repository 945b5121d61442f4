// Elements that a bound cuts: runs of a few bytes that source and target have in common, as the
// pairs of T(8,128)(2,1), where the axis ends within one of them.
//
//     rows     0 1 | 2 3 | 4 5 | 6          of the target, 2 elements side by side: of the last
//              pair  pair  pair  cut        pair one half is padding, or another tile's
//
// simplify cannot widen the element, but all that is not cut moves as if it had: what is scheduled
// is the space with every run whole, then the run becomes the innermost loop of the tile again
// (Schedule::joined_elements), for lower to cut.
#pragma once

#include <optional>

#include "loop_nest/schedule.hpp"
#include "schedule/scheduling.hpp"
#include "space/iteration_space.hpp"

namespace restride::scheduling {

/// Which loop makes the elements.
struct CutElements {
  size_t loop;
  int64_t count;  ///< of elements that move as one
};

/// Those of a simplified space; none where no bound cuts any.
std::optional<CutElements> cut_elements(const IterationSpace& space);

/// Whether a schedule that moves them one by one makes whole lines of them all the same: blocks
/// that are permuted do, on some processors fast enough. Zen 3, f32[4130,4059] to T(8,4) 1.09 of
/// the ceiling, as one .71.
bool makes_lines_of_cut_elements(const Schedule& one_by_one, const IterationSpace& space,
                                 const CutElements& cut, const Target& target);

/// The space with all of them whole.
IterationSpace with_whole_elements(const IterationSpace& space, const CutElements& cut);

/// A schedule of that for the space itself; none where it does not move elements one by one.
std::optional<Schedule> with_cut_elements(Schedule whole, const IterationSpace& space,
                                          const CutElements& cut);

}  // namespace restride::scheduling
