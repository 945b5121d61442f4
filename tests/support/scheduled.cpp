// See scheduled.hpp.
#include "support/scheduled.hpp"

#include "restride/problem.hpp"
#include "space/iteration_space.hpp"

namespace restride::testing {
namespace {

int64_t run_elements(const Schedule& schedule, bool of_target) {
  int64_t run = 1;
  const std::vector<Loop>& loops = schedule.space.loops;
  const size_t first = loops.size() - static_cast<size_t>(schedule.tile_loops);
  for (size_t k = first; k < loops.size(); ++k)
    run *= ((schedule.target_run >> (k - first) & 1) != 0) == of_target ? loops[k].extent : 1;
  return run;
}

}  // namespace

Schedule scheduled(const std::string& text, const Target& target) {
  IterationSpace space = *iteration_space(*parse_problem(text));
  simplify(space);
  return schedule(space, target);
}

int64_t target_run_elements(const Schedule& schedule) { return run_elements(schedule, true); }
int64_t source_run_elements(const Schedule& schedule) { return run_elements(schedule, false); }

}  // namespace restride::testing
