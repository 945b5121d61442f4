// See position_runs.hpp.
#include "microkernel/transpose/position_runs.hpp"

namespace restride {

std::vector<PositionRun> contiguous_runs(const std::vector<Position>& positions,
                                         int64_t Position::*operand, int64_t element_bytes,
                                         int64_t most) {
  std::vector<PositionRun> result;
  for (size_t k = 0; k < positions.size(); ++k) {
    const bool continues = !result.empty() && static_cast<int64_t>(result.back().count) < most &&
                           positions[k].*operand == positions[k - 1].*operand + element_bytes;
    if (continues) {
      ++result.back().count;
    } else {
      result.push_back({k, 1});
    }
  }
  return result;
}

}  // namespace restride
