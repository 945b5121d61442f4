// Schedules of permutations: a block whose source and target both are a few contiguous windows.
#include <algorithm>
#include <numeric>
#include <vector>

#include "arithmetic.hpp"
#include "scheduler.hpp"

namespace restride {
bool Scheduler::permutes() const {
  const int64_t bytes = schedule_.space.op.bytes;
  return target_.permute_width > 0 && bytes >= target_.permute_width && bytes < 16;
}

int64_t Scheduler::window_extent(int64_t run, int64_t extent) const {
  const int64_t vector = target_.vector_bytes, exact = vector / std::gcd(run, vector);
  if (exact <= extent && run * exact <= most_permuted_bytes) return exact;
  return std::min(extent, ceil_div(vector, run));
}

bool Scheduler::permute() {
  std::vector<int64_t> block(space().loops.size(), 1);
  for (const size_t operand : {size_t{0}, size_t{1}}) {
    int64_t run = space().op.bytes;
    while (run < target_.vector_bytes) {
      int next = -1;
      for (int k = 0; k < loop_count(); ++k) {
        if (loop(k).stride[operand] == run && loop(k).own.empty()) next = k;
      }
      if (next < 0) break;
      int64_t& extent = block[static_cast<size_t>(next)];
      extent = std::max(extent, window_extent(run, loop(next).extent));
      run *= extent;
      if (extent < loop(next).extent) break;
    }
  }
  lengthen_shifted_rows(block);
  const int64_t bytes = block_bytes(block);
  if (bytes > most_permuted_bytes || bytes == space().op.bytes) return false;
  for (int k = loop_count() - 1; k >= 0; --k) {
    const int64_t extent = block[static_cast<size_t>(k)];
    if (extent > 1 && movable_inside(k)) mark(split_off(k, extent)) = Mark::target_run;
  }
  schedule_.movement = Movement::permute;
  return true;
}

int64_t Scheduler::block_bytes(const std::vector<int64_t>& block) const {
  int64_t bytes = schedule_.space.op.bytes;
  for (const int64_t extent : block) bytes *= extent;
  return bytes;
}

void Scheduler::lengthen_shifted_rows(std::vector<int64_t>& block) {
  constexpr int64_t vectors = 4;
  const int run = contiguous(0);
  if (run < 0 || block_bytes(block) * vectors > most_permuted_bytes) return;
  int64_t& extent = block[static_cast<size_t>(run)];
  const bool whole = extent * space().op.bytes % target_.vector_bytes == 0;
  if (!whole || extent * vectors > loop(run).extent) return;
  bool shifted = false;
  for (int k = 0; k < loop_count(); ++k) {
    const bool rows = k != run && block[static_cast<size_t>(k)] > 1;
    shifted = shifted || (rows && loop(k).stride[0] % target_.line_bytes != 0);
  }
  if (shifted) extent *= vectors;
}

}  // namespace restride
