// See lines_in_set.hpp.
#include "schedule/lines_in_set.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/arithmetic.hpp"

namespace restride::scheduling {

int64_t lines_in_set(const Target& target, std::vector<Walk> walks, int64_t touched_bytes) {
  std::vector<int64_t> in_set(static_cast<size_t>(target.page_bytes / target.line_bytes));
  for (Walk& walk : walks) {
    // Several steps in a line: it counts once. Zen 4, u8[32,3,224,224]{1,3,2,0}, whose columns are
    // three bytes apart, .62 -> .94 of the ceiling.
    const int64_t stride = std::abs(walk.stride);
    if (stride != 0 && stride < target.line_bytes)
      walk = {target.line_bytes, ceil_div(stride * walk.steps, target.line_bytes)};
  }
  int64_t most = 0, count = 1;
  const int64_t enough = 2 * l1_ways(target);
  for (const Walk& walk : walks) count *= walk.steps;
  for (int64_t k = 0; k < count && most <= enough; ++k) {
    int64_t first = 0, rest = k;
    for (const Walk& walk : walks) {
      first += rest % walk.steps * walk.stride;
      rest /= walk.steps;
    }
    first = remainder_above(first, target.page_bytes);
    for (int64_t at = first; at < first + touched_bytes; at += target.line_bytes) {
      const size_t set = static_cast<size_t>(at / target.line_bytes) % in_set.size();
      most = std::max(most, ++in_set[set]);
    }
  }
  return most;
}

int64_t lines_in_set(const Target& target, int64_t stride, int64_t count, int64_t touched_bytes) {
  return lines_in_set(target, {{stride, count}}, touched_bytes);
}

}  // namespace restride::scheduling
