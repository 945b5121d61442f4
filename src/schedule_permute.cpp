// Schedules of permutations: a block whose source and target both are a few contiguous windows.
#include <algorithm>
#include <numeric>
#include <vector>

#include "arithmetic.hpp"
#include "scheduler.hpp"

namespace restride {
namespace {

// A run that several tiles of the source make, the last of them cut off, is short.
constexpr int64_t most_cut_run_bytes = 256;

// Windows of the target are asked for this long before they are written, where the target goes on
// for some time. L2: u8 10000 x 3 .68 -> 1.1 of the ceiling, x 4 .65 -> .96, x 5 .69 -> .96, f32
// [200,300,3] by rows .88 -> .98; 64, 128 and 256 bytes are the same.
constexpr int64_t window_ahead_bytes = 128;
constexpr int64_t least_asked_run_bytes = 1024;

/// Whether a loop is what join_cut_runs makes: all of an axis, to which the source has a digit of
/// its own.
bool is_joined(const Loop& loop) { return loop.own.size() == 1 && loop.own.front().operand == 1; }

}  // namespace

bool Scheduler::permutes() const {
  const int64_t bytes = schedule_.space.op.bytes;
  return target_.permute_width > 0 && bytes >= target_.permute_width && bytes < 16;
}

int64_t Scheduler::window_extent(int64_t run, int64_t extent) const {
  const int64_t vector = target_.vector_bytes, exact = vector / std::gcd(run, vector);
  if (exact <= extent && run * exact <= most_permuted_bytes) return exact;
  return std::min(extent, ceil_div(vector, run));
}

void Scheduler::join_cut_runs() {
  for (int outer = 0; outer < loop_count(); ++outer) {
    const int axis = loop(outer).axis;
    const auto walks = [&](const Loop& loop) { return loop.axis == axis; };
    const std::vector<Loop>& loops = space().loops;
    const auto inner = std::find_if(loops.begin() + outer + 1, loops.end(), walks);
    if (inner == loops.end() || std::count_if(loops.begin(), loops.end(), walks) != 2) continue;
    const Axis& bounds = space().axes[static_cast<size_t>(axis)];
    const int64_t bytes = space().op.bytes, digit = loop(outer).step;
    const bool cut = bounds.valid % digit != 0 && bounds.valid == bounds.padded;
    const bool run = inner->stride[0] == bytes && loop(outer).stride[0] == digit * bytes;
    if (!cut || !run || bounds.valid * bytes > most_cut_run_bytes || !inner->own.empty() ||
        !loop(outer).own.empty()) {
      continue;
    }
    Loop joined{axis, 1, bounds.valid, inner->stride};
    joined.own = {{1, digit, loop(outer).stride[1]}};
    loop(static_cast<int>(inner - loops.begin())) = joined;
    space().loops.erase(loops.begin() + outer);
    marks_.erase(marks_.begin() + outer);
  }
}

bool Scheduler::permute() {
  const IterationSpace unjoined = space();
  join_cut_runs();
  if (mark_permuted()) return true;
  space() = unjoined;
  marks_.assign(space().loops.size(), Mark::outside);
  return false;
}

bool Scheduler::mark_permuted() {
  std::vector<int64_t> block(space().loops.size(), 1);
  for (const size_t operand : {size_t{0}, size_t{1}}) {
    int64_t run = space().op.bytes;
    while (run < target_.vector_bytes) {
      int next = -1;
      for (int k = 0; k < loop_count(); ++k) {
        if (loop(k).stride[operand] == run && (loop(k).own.empty() || is_joined(loop(k)))) next = k;
      }
      if (next < 0) break;
      int64_t& extent = block[static_cast<size_t>(next)];
      if (!loop(next).own.empty()) {  // all of it
        extent = loop(next).extent;
        run *= operand == 0 ? extent : loop(next).own.front().every;
        continue;
      }
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
    if (extent == 1) continue;
    if (is_joined(loop(k))) mark(k) = Mark::target_run;
    if (movable_inside(k)) mark(split_off(k, extent)) = Mark::target_run;
  }
  schedule_.movement = Movement::permute;
  return true;
}

int64_t Scheduler::block_bytes(const std::vector<int64_t>& block) const {
  int64_t bytes = schedule_.space.op.bytes;
  for (const int64_t extent : block) bytes *= extent;
  return bytes;
}

int64_t Scheduler::permuted_claimed_ahead() {
  const bool repeats = std::any_of(space().loops.begin(), space().loops.end(),
                                   [](const Loop& loop) { return loop.stride[1] == 0; });
  if (repeats || schedule_.nontemporal || goal_ == CodeGoal::part || stays_in_l1() ||
      schedule_.vector_bytes != target_.line_bytes) {
    return 0;
  }
  int64_t run = space().op.bytes;
  for (int next = 0; next < loop_count() && run < least_asked_run_bytes;) {
    const bool goes_on =
        loop(next).extent > 1 && loop(next).stride[0] == run && loop(next).own.empty();
    run *= goes_on ? loop(next).extent : 1;
    next = goes_on ? 0 : next + 1;
  }
  return run < least_asked_run_bytes ? 0 : window_ahead_bytes;
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
