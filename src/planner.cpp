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

}  // namespace

std::vector<Program> plan_programs(const IterationSpace& simplified, const Target& target) {
  const Schedule scheduled = schedule(simplified, target);
  std::vector<Program> programs;
  if (!scheduled.nontemporal) {
    programs.push_back(select(lower(scheduled), scheduled, target, 1));
    return programs;
  }
  programs.push_back(select(lower(scheduled), scheduled, target, target.vector_bytes));
  // Where no store can be proved aligned, the promise of an aligned target buys nothing.
  if (!uses_nontemporal_stores(programs.front())) {
    programs.front() = select(lower(scheduled), scheduled, target, 1);
    return programs;
  }
  // A target that is not aligned is rare: its program is the one for arrays that stay in the
  // caches, made in a third of the time.
  Target caching = target;
  caching.nontemporal = false;
  const Schedule compact = schedule(simplified, caching, CodeGoal::compact);
  programs.push_back(select(lower(compact), compact, caching, 1));
  return programs;
}

std::vector<Target> rivals(const IterationSpace& simplified, const Target& target) {
  std::vector<Target> result;
  if (target.nontemporal) {
    const bool streams = schedule(simplified, target).nontemporal;
    Target other = target;
    other.streaming_bytes = streams ? std::numeric_limits<int64_t>::max() : 0;
    other.streaming_fill_bytes = other.imaging_bytes = other.streaming_bytes;
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
