// See permuted_block.hpp.
#include "schedule/permuted_block.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "microkernel/permute/permutation_network.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {
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

/// The extent a loop needs for a run of `run` bytes to become a multiple of `whole`: of a
/// short loop all, rather than a rest with code of its own.
int64_t window_extent(const Target& target, int64_t run, int64_t extent, int64_t whole) {
  const int64_t exact = whole / std::gcd(run, whole);
  const bool narrow = whole < target.line_bytes;
  if (narrow && extent % exact != 0 && run * extent <= target.line_bytes) return extent;
  if (exact <= extent && run * exact <= (narrow ? most_exact_bytes : most_permuted_bytes))
    return exact;
  return std::min(extent, ceil_div(whole, run));
}

int64_t joined_windows(const Draft& draft, const PermutedBlock& block) {
  const int64_t bytes = draft.space().op.bytes, window = permuted_window_bytes(draft.target());
  const int64_t target_run = block_run(draft, block, 0), source_run = block_run(draft, block, 1);
  // Runs of one window count once, wherever they begin.
  const bool one_window = source_run <= window;
  std::vector<int> loops;
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (block[static_cast<size_t>(k)] > 1) loops.push_back(k);
  }
  std::sort(loops.begin(), loops.end(),
            [&](int a, int b) { return draft.loop(a).stride[0] < draft.loop(b).stride[0]; });
  std::vector<int64_t> sources, joined;
  for (int64_t element = 0; element < std::min(target_run, window) / bytes; ++element) {
    int64_t rest = element, source = 0, begin = 0;  // of the element, and of the run it is in
    for (const int k : loops) {
      const int64_t extent = block[static_cast<size_t>(k)], stride = draft.loop(k).stride[1];
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

/// Whether all windows of a block share the blends that join them, which takes few.
bool makes_rings(const Draft& draft, const PermutedLimits& most, const PermutedBlock& block) {
  const int64_t most_steps =
      most.steps_of_rings * ceil_div(block_bytes(draft, block), draft.target().line_bytes);
  if (most_steps == 0 || permutes_lanes(draft.target())) return false;
  const int64_t bytes = draft.space().op.bytes, window = permuted_window_bytes(draft.target());
  // A look at it, before every element is followed: a ring has all that a window joins. But shorter
  // runs may share windows.
  const auto [targets, sources, joined] = windows_of(draft, block);
  const int64_t places = std::max(joined, targets * joined / sources);
  const bool too_many = targets + sources > most_steps || !fits_registers(places, draft.target());
  if (too_many && 2 * block_run(draft, block, 1) >= window) return false;
  std::vector<nest::Side> sides;
  for (int k = 0; k < draft.loop_count(); ++k) {
    const int64_t extent = block[static_cast<size_t>(k)];
    if (!draft.loop(k).own.empty() && extent > 1) return false;
    if (extent > 1) sides.push_back({extent, draft.loop(k).stride});
  }
  const WindowMoves windows = window_moves(sides, bytes, window, draft.schedule().reads_between);
  const std::optional<RingRoute> route =
      find_rings(windows.moves, windows.sources.size(), windows.targets.size(),
                 static_cast<size_t>(window / bytes));
  if (!route || !fits_registers(*route, draft.target())) return false;
  const size_t steps = windows.sources.size() + windows.targets.size() + route->blends;
  return static_cast<int64_t>(steps) <= most_steps;
}

/// Whether a block writes elements of the source more than once.
bool repeats(const Draft& draft, const PermutedBlock& block) {
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (block[static_cast<size_t>(k)] > 1 && draft.loop(k).stride[1] == 0) return true;
  }
  return false;
}

/// Repeats a dense block that streams until it is a multiple of `whole` bytes, so that it can
/// leave around the caches.
void lengthen_dense(const Draft& draft, PermutedBlock& block, int64_t whole) {
  const int64_t bytes = block_bytes(draft, block);
  if (!draft.schedule().nontemporal || block_run(draft, block, 0) != bytes ||
      block_run(draft, block, 1) != bytes)
    return;
  const int64_t times = whole / std::gcd(bytes, whole);
  for (int k = 0; k < draft.loop_count(); ++k) {
    const bool follows = draft.loop(k).stride[0] == bytes && draft.loop(k).stride[1] == bytes;
    if (follows && draft.loop(k).own.empty() && times <= draft.loop(k).extent &&
        times * bytes <= most_permuted_bytes) {
      block[static_cast<size_t>(k)] = times;
      return;
    }
  }
}

/// Lengthens a block until runs of an operand are multiples of `whole` bytes, as far as that
/// goes.
void lengthen_to_windows(const Draft& draft, PermutedBlock& block, size_t operand, int64_t whole) {
  int64_t run = draft.space().op.bytes;
  const auto is_enough = [&] {
    const bool repeated = operand == 0 && draft.schedule().nontemporal && repeats(draft, block);
    const int64_t least = repeated || run < draft.target().line_bytes ? whole : 1;
    return run >= whole && run % least == 0;
  };
  while (!is_enough()) {
    int next = -1;
    for (int k = 0; k < draft.loop_count(); ++k) {
      if (draft.loop(k).stride[operand] == run &&
          (draft.loop(k).own.empty() || is_joined(draft.loop(k))))
        next = k;
    }
    if (next < 0) return;
    int64_t& extent = block[static_cast<size_t>(next)];
    if (!draft.loop(next).own.empty()) {  // all of it
      extent = draft.loop(next).extent;
      run *= operand == 0 ? extent : draft.loop(next).own.front().every;
      continue;
    }
    extent = std::max(extent, window_extent(draft.target(), run, draft.loop(next).extent, whole));
    run *= extent;
    if (extent < draft.loop(next).extent) return;
  }
}

}  // namespace

void join_cut_runs(Draft& draft) {
  for (int outer = 0; outer < draft.loop_count(); ++outer) {
    const int axis = draft.loop(outer).axis;
    const auto walks = [&](const Loop& loop) { return loop.axis == axis; };
    const std::vector<Loop>& loops = draft.space().loops;
    const auto inner = std::find_if(loops.begin() + outer + 1, loops.end(), walks);
    if (inner == loops.end() || std::count_if(loops.begin(), loops.end(), walks) != 2) continue;
    const Axis& bounds = draft.space().axes[static_cast<size_t>(axis)];
    const int64_t bytes = draft.space().op.bytes, digit = draft.loop(outer).step;
    const bool cut = bounds.valid % digit != 0 && bounds.valid == bounds.padded;
    const bool run = inner->stride[0] == bytes && draft.loop(outer).stride[0] == digit * bytes;
    if (!cut || !run || bounds.valid * bytes > most_cut_run_bytes || !inner->own.empty() ||
        !draft.loop(outer).own.empty()) {
      continue;
    }
    Loop joined{axis, 1, bounds.valid, inner->stride};
    joined.own = {{1, digit, draft.loop(outer).stride[1]}};
    draft.loop(static_cast<int>(inner - loops.begin())) = joined;
    draft.erase(outer);
  }
}

int64_t block_bytes(const Draft& draft, const PermutedBlock& block) {
  int64_t bytes = draft.space().op.bytes;
  for (const int64_t extent : block) bytes *= extent;
  return bytes;
}

int64_t block_run(const Draft& draft, const PermutedBlock& block, size_t operand) {
  return run_bytes(draft, operand, [&](int k) { return block[static_cast<size_t>(k)]; });
}

bool has_dense_block(const Draft& draft) {
  PermutedBlock block(draft.space().loops.size(), 1);
  std::array<int64_t, 2> runs = {draft.space().op.bytes, draft.space().op.bytes};
  for (;;) {
    const size_t operand = runs[0] <= runs[1] ? 0 : 1;
    int next = draft.loop_count() - 1;
    while (next >= 0 &&
           (draft.loop(next).stride[operand] != runs[operand] || draft.loop(next).extent == 1)) {
      --next;
    }
    if (next < 0 || !draft.loop(next).own.empty()) return false;
    block[static_cast<size_t>(next)] = draft.loop(next).extent;
    runs = {block_run(draft, block, 0), block_run(draft, block, 1)};
    if (runs[0] != runs[1] || runs[0] != block_bytes(draft, block)) continue;
    return runs[0] <=
           (permutes_lanes(draft.target()) ? most_dense_bytes_of_lanes : most_dense_bytes);
  }
}

Windows windows_of(const Draft& draft, const PermutedBlock& block) {
  const int64_t all = block_bytes(draft, block), window = permuted_window_bytes(draft.target());
  const int64_t target_run = block_run(draft, block, 0), source_run = block_run(draft, block, 1);
  return {all / target_run * ceil_div(target_run, window),
          all / source_run * ceil_div(source_run, window), joined_windows(draft, block)};
}

PermutedBlock permuted_block(const Draft& draft, int64_t whole, int64_t source_whole) {
  PermutedBlock block(draft.space().loops.size(), 1);
  lengthen_to_windows(draft, block, 0, whole);
  const PermutedBlock of_target = block;
  lengthen_to_windows(draft, block, 1, source_whole);
  // There is little of a source that repeats, and long pieces of others are nearly windows.
  const bool pieces =
      repeats(draft, of_target) || block_run(draft, of_target, 1) >= least_piece_bytes;
  if (block_bytes(draft, block) > most_permuted_bytes && pieces) block = of_target;
  lengthen_dense(draft, block, whole);
  return block;
}

PermutedBlock block_of_rings(const Draft& draft, const PermutedLimits& most) {
  const int64_t window = permuted_window_bytes(draft.target());
  for (const auto& [target, source] : {std::pair{window, window},
                                       {window, window / 2},
                                       {window / 2, window},
                                       {window / 2, window / 2}}) {
    PermutedBlock block = permuted_block(draft, target, source);
    const int64_t bytes = block_bytes(draft, block);
    if (bytes <= most_permuted_bytes && bytes > draft.space().op.bytes &&
        makes_rings(draft, most, block))
      return block;
  }
  return {};
}

void lengthen_shifted_rows(const Draft& draft, PermutedBlock& block) {
  constexpr int64_t vectors = 4;
  const int run = draft.contiguous(0);
  if (run < 0 || block_bytes(draft, block) * vectors > most_permuted_bytes) return;
  int64_t& extent = block[static_cast<size_t>(run)];
  const bool whole = extent * draft.space().op.bytes % permuted_window_bytes(draft.target()) == 0;
  if (!whole || extent * vectors > draft.loop(run).extent) return;
  bool shifted = false;
  for (int k = 0; k < draft.loop_count(); ++k) {
    const bool rows = k != run && block[static_cast<size_t>(k)] > 1;
    shifted = shifted || (rows && draft.loop(k).stride[0] % draft.target().line_bytes != 0);
  }
  if (shifted) extent *= vectors;
}

bool blocks_begin_lines(const Draft& draft) {
  const auto taken = [&](int k) {
    return draft.mark(k) == Mark::target_run ? draft.loop(k).extent : 1;
  };
  const int64_t run = run_bytes(draft, 0, taken), line = draft.target().line_bytes;
  for (int k = 0; k < draft.loop_count(); ++k) {
    const int64_t stride = std::abs(draft.loop(k).stride[0]);
    if (taken(k) > 1 && stride >= run && stride % line != 0) return false;
  }
  return begins_lines(draft);
}

}  // namespace restride::scheduling
