// The blocks of permutations: which loops they have, so that their source and target are windows.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "microkernel/permute/permutation_network.hpp"
#include "schedule/scheduler.hpp"

namespace restride {
namespace {

// A run that several tiles of the source make, the last of them cut off, is short.
constexpr int64_t most_cut_run_bytes = 256;

// Larger matrices are not permuted whole: networks take them.
constexpr int64_t most_dense_bytes = 1024;
// Larger blocks have more windows than registers: f32 5 x 5 .25 -> .33, 8 x 8 .57 -> .36, f64 3 x 3
// .39 -> .52, 5 x 5 .29 -> .23, u16 6 x 6 .35 -> .57.
constexpr int64_t most_dense_bytes_of_lanes = 112;

// Where whole windows of the source would make blocks too large, pieces of so many bytes do: f32
// 2 x 5 within 40 bytes .47 -> .91 of the ceiling, u16 2 x 9 .27 -> .60.
constexpr int64_t least_piece_bytes = 32;

// Runs of so many bytes at most are made of whole windows where these are less than lines: the code
// for 784 bytes of u8 7 x 7 took a millisecond.
constexpr int64_t most_exact_bytes = 256;

// Runs of the source and what lies between them, loaded as one, where a window of the target joins
// so few: of u8[500,500,n] planes of 3 from pixels of 4 .20 -> .67, of 4 from 6 .37 -> .67, of 5
// from 8 .53 -> .49; u16 in L1 of 3 from 4 .09 -> .30, of 4 from 6 .43 -> .21.
constexpr int64_t most_spanned(int64_t element_bytes) {
  return element_bytes == 1 ? 6 : element_bytes == 2 ? 5 : 0;
}

/// How many windows hold elements at sorted offsets, with all that lies between them.
int64_t spanned_windows(const std::vector<int64_t>& offsets, int64_t element_bytes,
                        int64_t window_bytes) {
  int64_t count = 0, end = 0;
  for (const int64_t offset : offsets) {
    if (count > 0 && offset + element_bytes <= end) continue;
    end = offset + window_bytes;
    ++count;
  }
  return count;
}

}  // namespace

int64_t Scheduler::window_extent(int64_t run, int64_t extent, int64_t whole) const {
  const int64_t exact = whole / std::gcd(run, whole);
  const bool narrow = whole < target_.line_bytes;
  if (narrow && extent % exact != 0 && run * extent <= target_.line_bytes) return extent;
  if (exact <= extent && run * exact <= (narrow ? most_exact_bytes : most_permuted_bytes))
    return exact;
  return std::min(extent, ceil_div(whole, run));
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

bool Scheduler::has_dense_block() {
  std::vector<int64_t> block(space().loops.size(), 1);
  std::array<int64_t, 2> runs = {space().op.bytes, space().op.bytes};
  for (;;) {
    const size_t operand = runs[0] <= runs[1] ? 0 : 1;
    int next = loop_count() - 1;
    while (next >= 0 && (loop(next).stride[operand] != runs[operand] || loop(next).extent == 1)) {
      --next;
    }
    if (next < 0 || !loop(next).own.empty()) return false;
    block[static_cast<size_t>(next)] = loop(next).extent;
    runs = {block_run(block, 0), block_run(block, 1)};
    if (runs[0] != runs[1] || runs[0] != block_bytes(block)) continue;
    return runs[0] <= (permutes_lanes(target_) ? most_dense_bytes_of_lanes : most_dense_bytes);
  }
}

int64_t Scheduler::block_bytes(const std::vector<int64_t>& block) const {
  int64_t bytes = schedule_.space.op.bytes;
  for (const int64_t extent : block) bytes *= extent;
  return bytes;
}

int64_t Scheduler::block_run(const std::vector<int64_t>& block, size_t operand) {
  int64_t run = space().op.bytes;
  for (int k = loop_count() - 1; k >= 0;) {
    const int64_t extent = block[static_cast<size_t>(k)];
    const bool goes_on = extent > 1 && loop(k).stride[operand] == run;
    run *= goes_on ? extent : 1;
    k = goes_on ? loop_count() - 1 : k - 1;
  }
  return run;
}

int64_t Scheduler::joined_windows(const std::vector<int64_t>& block) {
  const int64_t bytes = space().op.bytes, window = permuted_window_bytes();
  const int64_t target_run = block_run(block, 0), source_run = block_run(block, 1);
  // Runs of one window count once, wherever they begin.
  const bool one_window = source_run <= window;
  std::vector<int> loops;
  for (int k = 0; k < loop_count(); ++k) {
    if (block[static_cast<size_t>(k)] > 1) loops.push_back(k);
  }
  std::sort(loops.begin(), loops.end(),
            [this](int a, int b) { return loop(a).stride[0] < loop(b).stride[0]; });
  std::vector<int64_t> sources, joined;
  for (int64_t element = 0; element < std::min(target_run, window) / bytes; ++element) {
    int64_t rest = element, source = 0, begin = 0;  // of the element, and of the run it is in
    for (const int k : loops) {
      const int64_t extent = block[static_cast<size_t>(k)], stride = loop(k).stride[1];
      const bool within = one_window && std::abs(stride) < source_run;
      source += rest % extent * stride;
      begin += within ? 0 : rest % extent * stride;
      rest /= extent;
    }
    sources.push_back(source);
    joined.push_back(one_window ? begin : source / window);
  }
  std::sort(sources.begin(), sources.end());
  const int64_t spanned = spanned_windows(sources, bytes, window);
  std::sort(joined.begin(), joined.end());
  const int64_t different = std::unique(joined.begin(), joined.end()) - joined.begin();
  return spanned <= most_spanned(bytes) ? std::min(spanned, different) : different;
}

Scheduler::Windows Scheduler::windows_of(const std::vector<int64_t>& block) {
  const int64_t all = block_bytes(block), window = permuted_window_bytes();
  const int64_t target_run = block_run(block, 0), source_run = block_run(block, 1);
  return {all / target_run * ceil_div(target_run, window),
          all / source_run * ceil_div(source_run, window), joined_windows(block)};
}

std::vector<int64_t> Scheduler::block_of_rings(const PermutedLimits& most) {
  const int64_t window = permuted_window_bytes();
  for (const auto& [target, source] : {std::pair{window, window},
                                       {window, window / 2},
                                       {window / 2, window},
                                       {window / 2, window / 2}}) {
    std::vector<int64_t> block = permuted_block(target, source);
    const int64_t bytes = block_bytes(block);
    if (bytes <= most_permuted_bytes && bytes > space().op.bytes && makes_rings(most, block))
      return block;
  }
  return {};
}

bool Scheduler::makes_rings(const PermutedLimits& most, const std::vector<int64_t>& block) {
  const int64_t most_steps = most.steps_of_rings * ceil_div(block_bytes(block), target_.line_bytes);
  if (most_steps == 0 || permutes_lanes(target_)) return false;
  const int64_t bytes = space().op.bytes, window = permuted_window_bytes();
  // A look at it, before every element is followed: a ring has all that a window joins. But shorter
  // runs may share windows.
  const auto [targets, sources, joined] = windows_of(block);
  const int64_t places = std::max(joined, targets * joined / sources);
  const bool too_many = targets + sources > most_steps || !fits_registers(places, target_);
  if (too_many && 2 * block_run(block, 1) >= window) return false;
  std::vector<nest::Side> sides;
  for (int k = 0; k < loop_count(); ++k) {
    const int64_t extent = block[static_cast<size_t>(k)];
    if (!loop(k).own.empty() && extent > 1) return false;
    if (extent > 1) sides.push_back({extent, loop(k).stride});
  }
  const WindowMoves windows = window_moves(sides, bytes, window, schedule_.reads_between);
  const std::optional<RingRoute> route =
      find_rings(windows.moves, windows.sources.size(), windows.targets.size(),
                 static_cast<size_t>(window / bytes));
  if (!route || !fits_registers(*route, target_)) return false;
  const size_t steps = windows.sources.size() + windows.targets.size() + route->blends;
  return static_cast<int64_t>(steps) <= most_steps;
}

bool Scheduler::repeats(const std::vector<int64_t>& block) {
  for (int k = 0; k < loop_count(); ++k) {
    if (block[static_cast<size_t>(k)] > 1 && loop(k).stride[1] == 0) return true;
  }
  return false;
}

void Scheduler::lengthen_dense(std::vector<int64_t>& block, int64_t whole) {
  const int64_t bytes = block_bytes(block);
  if (!schedule_.nontemporal || block_run(block, 0) != bytes || block_run(block, 1) != bytes)
    return;
  const int64_t times = whole / std::gcd(bytes, whole);
  for (int k = 0; k < loop_count(); ++k) {
    const bool follows = loop(k).stride[0] == bytes && loop(k).stride[1] == bytes;
    if (follows && loop(k).own.empty() && times <= loop(k).extent &&
        times * bytes <= most_permuted_bytes) {
      block[static_cast<size_t>(k)] = times;
      return;
    }
  }
}

void Scheduler::lengthen_to_windows(std::vector<int64_t>& block, size_t operand, int64_t whole) {
  int64_t run = space().op.bytes;
  const auto is_enough = [&] {
    const bool repeated = operand == 0 && schedule_.nontemporal && repeats(block);
    const int64_t least = repeated || run < target_.line_bytes ? whole : 1;
    return run >= whole && run % least == 0;
  };
  while (!is_enough()) {
    int next = -1;
    for (int k = 0; k < loop_count(); ++k) {
      if (loop(k).stride[operand] == run && (loop(k).own.empty() || is_joined(loop(k)))) next = k;
    }
    if (next < 0) return;
    int64_t& extent = block[static_cast<size_t>(next)];
    if (!loop(next).own.empty()) {  // all of it
      extent = loop(next).extent;
      run *= operand == 0 ? extent : loop(next).own.front().every;
      continue;
    }
    extent = std::max(extent, window_extent(run, loop(next).extent, whole));
    run *= extent;
    if (extent < loop(next).extent) return;
  }
}

std::vector<int64_t> Scheduler::permuted_block(int64_t whole, int64_t source_whole) {
  std::vector<int64_t> block(space().loops.size(), 1);
  lengthen_to_windows(block, 0, whole);
  const std::vector<int64_t> of_target = block;
  lengthen_to_windows(block, 1, source_whole);
  // There is little of a source that repeats, and long pieces of others are nearly windows.
  const bool pieces = repeats(of_target) || block_run(of_target, 1) >= least_piece_bytes;
  if (block_bytes(block) > most_permuted_bytes && pieces) block = of_target;
  lengthen_dense(block, whole);
  return block;
}

void Scheduler::lengthen_shifted_rows(std::vector<int64_t>& block) {
  constexpr int64_t vectors = 4;
  const int run = contiguous(0);
  if (run < 0 || block_bytes(block) * vectors > most_permuted_bytes) return;
  int64_t& extent = block[static_cast<size_t>(run)];
  const bool whole = extent * space().op.bytes % permuted_window_bytes() == 0;
  if (!whole || extent * vectors > loop(run).extent) return;
  bool shifted = false;
  for (int k = 0; k < loop_count(); ++k) {
    const bool rows = k != run && block[static_cast<size_t>(k)] > 1;
    shifted = shifted || (rows && loop(k).stride[0] % target_.line_bytes != 0);
  }
  if (shifted) extent *= vectors;
}

}  // namespace restride
