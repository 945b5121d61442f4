// The planner's stages in a row.
#include "planner.hpp"

#include <algorithm>
#include <limits>

#include "loop_nest.hpp"
#include "microkernel.hpp"
#include "schedule.hpp"
#include "select.hpp"

namespace restride {
namespace {

void describe_tiles(const nest::Block& block, const Schedule& schedule,
                    std::vector<std::string>& kernels) {
  for (const nest::Node& node : block) {
    if (const nest::For* loop = std::get_if<nest::For>(&node.statement)) {
      describe_tiles(loop->body, schedule, kernels);
      continue;
    }
    std::string text = describe(std::get<nest::Tile>(node.statement), schedule.movement,
                                schedule.target_run, schedule.space.op.bytes);
    if (std::find(kernels.begin(), kernels.end(), text) == kernels.end())
      kernels.push_back(std::move(text));
  }
}

/// A program that demands nothing of its pointers.
Program plain_program(const IterationSpace& simplified, const Target& target,
                      CodeGoal goal = CodeGoal::fast) {
  const Schedule scheduled = schedule(simplified, target, goal);
  return select(lower(scheduled), scheduled, target, 1);
}

}  // namespace

std::vector<Program> plan_programs(const IterationSpace& simplified, const Target& target) {
  const Schedule scheduled = schedule(simplified, target);
  if (!scheduled.nontemporal) return {plain_program(simplified, target)};
  Program streaming = select(lower(scheduled), scheduled, target, target.vector_bytes);
  // Where no store can be proved aligned, the promise of an aligned target buys nothing.
  if (!uses_nontemporal_stores(streaming)) return {plain_program(simplified, target)};
  // A target that is not aligned is rare: its program is the one for arrays that stay in the
  // caches, made in a third of the time.
  Target caching = target;
  caching.nontemporal = false;
  return {std::move(streaming), plain_program(simplified, caching, CodeGoal::compact)};
}

std::vector<Target> rivals(const IterationSpace& simplified, const Target& target) {
  std::vector<Target> result;
  if (target.nontemporal) {
    const bool streams = schedule(simplified, target).nontemporal;
    Target other = target;
    other.streaming_bytes = streams ? std::numeric_limits<int64_t>::max() : 0;
    other.streaming_fill_bytes = other.streaming_bytes;
    result.push_back(other);
  }
  if (target.vector_bytes == 64) {
    Target narrower = target;
    narrower.vector_bytes = 32;
    result.push_back(narrower);
  }
  return result;
}

StageTexts explain_stages(const IterationSpace& simplified, const Target& target) {
  const Schedule scheduled = schedule(simplified, target);
  const LoopNest nest = lower(scheduled);
  StageTexts texts{to_string(scheduled), to_string(nest), {}};
  describe_tiles(nest.root, scheduled, texts.microkernels);
  return texts;
}

}  // namespace restride
