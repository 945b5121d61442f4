// See imaged_run.hpp.
#include "schedule/imaged_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/arithmetic.hpp"
#include "schedule/block_sizes.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {

int64_t evenly_up(int64_t count, int64_t most) { return ceil_div(count, ceil_div(count, most)); }

int64_t without_rest(int64_t count, int64_t length, int64_t least, int64_t most) {
  for (int64_t tried = most; tried >= least; --tried) {
    if (count % tried == 0) return tried;
  }
  return length;
}

int64_t least_of(int64_t length, CodeGoal goal) {
  return goal == CodeGoal::small ? ceil_div(length, 2) : ceil_div(3 * length, 4);
}

namespace {

/// How much of loop `k` makes whole lines of a run of `run` bytes, up to about `most`, where all
/// else walks lines; 0 where that takes more or less than it may. Zen 4, four problems .65 to
/// .94 of the time: f32[40,500,301,14]{3,0,2,1} .52 -> .82 of the ceiling, [400,311,33,11]
/// {3,1,0,2} .47 -> .57.
int64_t whole_lines(const Draft& draft, int k, int64_t run, int64_t most, const RunLimits& limits) {
  const int64_t line = draft.target().line_bytes, count = line / std::gcd(run, line);
  const int64_t extent = draft.loop(k).extent, bytes = count * run;
  if (count == 1 || extent % count != 0 || bytes > limits.whole_bytes ||
      !others_begin_lines(draft, k))
    return 0;
  const int64_t times = extent / count, longest = std::max<int64_t>(most / bytes, 1);
  const int64_t taken =
      count * without_rest(times, std::min(times, longest), ceil_div(longest, 2), longest);
  return taken * run < limits.least_whole_bytes ? 0 : taken;
}

/// The longest run with more of loop `k`, of a run that has `far` rows of the source by now.
int64_t longest_run(const Draft& draft, int k, int64_t run, int64_t far, const RunLimits& limits) {
  if (std::abs(draft.loop(k).stride[1]) < draft.target().page_bytes) return limits.bytes;
  return std::clamp(run * (rows_read_ahead / far), limits.near_bytes, limits.bytes);
}

}  // namespace

int64_t take_imaged_run(Draft& draft, const RunLimits& limits, Runs runs) {
  const bool transposes = draft.contiguous(0) != draft.contiguous(1);
  const bool may_rest =
      runs == Runs::whole && (transposes || !draft.begins_line() || limits.rests_on_lines ||
                              draft.target().images_rows_with_rests);
  int64_t run = draft.space().op.bytes, far = 1;
  for (int k = draft.contiguous(0); k >= 0; k = draft.next_in_run(0, run)) {
    const int64_t most = longest_run(draft, k, run, far, limits);
    int64_t count = whole_lines(draft, k, run, most, limits);
    if (count == 0 && 2 * run > most) return run;
    if (!may_rest && !draft.leaves_no_rest(k)) return run;
    const int64_t extent = draft.loop(k).extent;
    if (count == 0) {
      const int64_t length = evenly_up(extent, most / run);
      int64_t least = least_of(length, draft.goal());
      if (runs == Runs::pieces) least = std::min(least, ceil_div(least_imaged_run_bytes, run));
      count = without_rest(extent, length, least, most / run);
    }
    const int inner = draft.split_off(k, count);
    draft.mark(inner) = Mark::target_run;
    const Loop& taken = draft.loop(inner);
    run *= taken.extent;
    if (std::abs(taken.stride[1]) >= draft.target().page_bytes) far *= taken.extent;
    if (taken.extent < extent) return run;
  }
  return run;
}

}  // namespace restride::scheduling
