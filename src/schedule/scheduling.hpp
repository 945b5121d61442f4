// Scheduling: decides in which order an iteration space is executed, and in which pieces.
#pragma once

#include <cstdint>
#include <optional>

#include "loop_nest/schedule.hpp"
#include "space/iteration_space.hpp"
#include "target/target.hpp"

namespace restride {

/// What the code is wanted for.
enum class CodeGoal : uint8_t {
  fast,     ///< to run
  compact,  ///< to be there at once, should it be needed: networks of a lane, a quarter of the code
  small,    ///< to run where code would be long else: blocks of one network, of a lane
  part,     ///< to run within a block that has the scratch: takes none of its own in the caches
  leaving,  ///< such a part, from scratch to a target whose lines it asks for
};
constexpr bool is_part(CodeGoal goal) {
  return goal == CodeGoal::part || goal == CodeGoal::leaving;
}

/// Decides. The space has to be simplified. `begins_line`: whether the target's pointer stands on a
/// line; else it may stand anywhere.
Schedule schedule(const IterationSpace& simplified, const Target& target,
                  CodeGoal goal = CodeGoal::fast, bool begins_line = true);

/// What makes no whole block behind what goes apart: a block of its own, or apart as well, which
/// takes less code.
enum class PeeledRest : uint8_t { block, apart };

/// The schedule of targets on lines for one that begins `phase` bytes behind a line: what comes
/// before the next one goes apart, so that all blocks behind it begin on lines again. None where
/// runs of the target are short, or where they do not begin alike.
std::optional<Schedule> peeled(Schedule on_line, const Target& target, int64_t phase,
                               PeeledRest rest);

/// The same where the source begins as far behind a line, too: what is between the ends of runs of
/// the target is taken apart along runs of the source, which what is left reads line by line, in
/// blocks of its own. None where those are short, or do not begin alike either.
std::optional<Schedule> peeled_twice(const IterationSpace& simplified, const Schedule& on_line,
                                     const Target& target, int64_t phase);

/// The schedule of targets that begin between lines for a source `phase` bytes behind a line whose
/// rows would crowd L1 where panels read parts of two lines: it is taken apart along its runs. None
/// where these are short, or do not begin alike.
std::optional<Schedule> peeled_source(const IterationSpace& simplified, const Target& target,
                                      int64_t phase, CodeGoal goal);

/// The same for a transpose that stays in the caches. Its blocks divide what is between the ends,
/// where they can. None where no runs are long, or begin alike.
std::optional<Schedule> peeled_in_caches(Schedule on_line, const Target& target, int64_t phase);

/// The same for runs that others follow, which may be short: their last elements and the first ones
/// of the next run are moved together, and so along runs of the source where others follow those.
/// None where no rows of whole lines follow each other in the target.
std::optional<Schedule> spliced(Schedule on_line, const Target& target, int64_t phase);

/// The same of rows of the target that are columns side by side of the source, which is peeled as
/// well where panels that read parts of two lines would crowd L1. None where no such rows of whole
/// lines follow each other in the target.
std::optional<Schedule> spliced_columns(const IterationSpace& simplified, const Schedule& on_line,
                                        const Target& target, int64_t phase, CodeGoal goal);

}  // namespace restride
