// See draft.hpp.
#include "schedule/draft.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "schedule/block_sizes.hpp"
#include "space/rewrites.hpp"

namespace restride::scheduling {
namespace {

// With masks: longer rows are loops, and the line that is written twice does not show.
constexpr int64_t most_filled_row_bytes = 1024;

// Short runs of a source with gaps: the line that holds some of them is used up before it is gone,
// and so is a page where what lies inside visits more of them than have their translations at hand.
// 17 random layouts, geometric mean 1.5 times as fast: u8[9,400,128,8]{3,2,1,0:T(16,64)} to
// {3,1,0,2} .06 -> .20 of the ceiling. Not so runs that lie two lines apart (.95 times), more than
// 1024 pages (.79 times), runs of four lines (.86 times).
constexpr int64_t most_pages = 2048;
constexpr int64_t most_short_lines = 2;

// Around the caches, digits of wide elements that loops cut are as long as they are, and runs go on
// behind them: f64[128,8,30,20,12]{0,1,3,2,4} .35 -> .74 of the ceiling, f64[200,12,6,9,28]
// {0,4,2,3,1} .47 -> .75, 11 problems .88 of the time; f32 1.0 and 1.17, in the caches .91 to 1.13.
constexpr int64_t least_whole_bytes = 8;

/// From `factor` to `most`: the least of these multiples of `granule` that divides the extent, or
/// `factor`.
int64_t even(int64_t extent, int64_t factor, int64_t most, int64_t granule = 1) {
  for (int64_t divisor = ceil_div(factor, granule) * granule; divisor <= most; divisor += granule) {
    if (extent % divisor == 0) return divisor;
  }
  return factor;
}

}  // namespace

Draft::Draft(const IterationSpace& space, const Target& target, CodeGoal goal, bool begins_line)
    : target_(&target),
      goal_(goal),
      begins_line_(begins_line),
      schedule_{space},
      marks_(space.loops.size(), Mark::outside) {
  for (int operand = 0; operand <= source_count(space.op); ++operand) {
    const ByteRange touched = touched_bytes(space, operand);
    extent_bytes_[static_cast<size_t>(operand)] = touched.end - touched.begin;
  }
}

void Draft::begin_anew(IterationSpace space) {
  schedule_.space = std::move(space);
  marks_.assign(schedule_.space.loops.size(), Mark::outside);
}

int Draft::contiguous(size_t operand) const {
  return next_in_run(operand, element_stride(space().op, static_cast<int>(operand)));
}

bool Draft::runs_cross() const {
  const int target = contiguous(0), source = contiguous(1);
  return target >= 0 && source >= 0 && target != source;
}

int Draft::next_in_run(size_t operand, int64_t bytes) const {
  for (int k = 0; k < loop_count(); ++k) {
    if (mark(k) != Mark::outside || loop(k).stride[operand] != bytes) continue;
    if (!loop(k).own.empty()) continue;
    if (operand != 0 && loop(k).stride[0] == 0) continue;
    bool finest = true;
    for (int j = 0; j < loop_count(); ++j) {
      finest = finest && (j == k || mark(j) != Mark::outside || loop(j).axis != loop(k).axis ||
                          loop(j).step > loop(k).step);
    }
    if (finest) return k;
  }
  return -1;
}

bool Draft::leaves_no_rest(int k) const {
  const Axis& axis = space().axes[static_cast<size_t>(loop(k).axis)];
  return axis.valid == axis.padded && axis.valid % (loop(k).extent * loop(k).step) == 0;
}

int Draft::split_off(int k, int64_t factor) {
  if (loop(k).extent <= factor) return k;
  split(space(), static_cast<size_t>(k), factor);
  marks_.insert(marks_.begin() + k + 1, Mark::outside);
  return k + 1;
}

bool Draft::movable_inside(int k) const {
  if (!loop(k).own.empty()) return false;
  for (int j = 0; j < loop_count(); ++j) {
    if (mark(j) == Mark::outside && loop(j).axis == loop(k).axis && loop(j).step < loop(k).step)
      return false;
  }
  return true;
}

int64_t Draft::length_of(int64_t extent, int64_t run, int64_t wanted, Length length) const {
  const int64_t most = wanted / run, line = target().line_bytes;
  switch (length) {
    case Length::quarter_more:
      return even(extent, most, most * 5 / 4, line / std::gcd(run, line));
    case Length::about:
      return even(extent, most, 2 * most - 1);
    case Length::without_rest:
      return dividing_part(extent, most);
    default:
      return most;
  }
}

int64_t Draft::run_with(int k, int64_t run) const {
  const int64_t longer = run * loop(k).extent;
  if (!schedule_.nontemporal || space().op.bytes < least_whole_bytes) return longer;
  const Axis& axis = space().axes[static_cast<size_t>(loop(k).axis)];
  return std::min(longer, run / loop(k).step * axis.valid);
}

int64_t Draft::take_run(size_t operand, int64_t run, int64_t wanted, Mark as, Length length) {
  while (2 * run <= wanted) {
    const int k = next_in_run(operand, run);
    // The target leaves the loop that the runs of the source begin with to the source.
    if (k < 0 || (operand == 0 && loop(k).stride[1] == element_stride(space().op, 1))) break;
    const int64_t factor = length_of(loop(k).extent, run, wanted, length);
    if (factor == 1) break;
    const int inner = split_off(k, factor);
    mark(inner) = as;
    run = run_with(inner, run);
  }
  return run;
}

int Draft::continued_by(int k) const {
  for (int j = 0; j < loop_count(); ++j) {
    const Loop &inner = loop(k), &outer = loop(j);
    bool continues = mark(j) == mark(k) && outer.own.empty() && inner.own.empty() &&
                     outer.axis == inner.axis && outer.step == inner.step * inner.extent;
    for (size_t operand = 0; operand < inner.stride.size(); ++operand) {
      continues = continues && outer.stride[operand] == inner.stride[operand] * inner.extent;
    }
    if (continues && j != k) return j;
  }
  return -1;
}

int Draft::join(int outer, int inner) {
  loop(inner).extent *= loop(outer).extent;
  erase(outer);
  return outer < inner ? inner - 1 : inner;
}

int Draft::nearest(size_t operand, int64_t least_stride) const {
  int next = -1;
  for (int k = 0; k < loop_count(); ++k) {
    const int64_t stride = std::abs(loop(k).stride[operand]);
    if (mark(k) != Mark::outside || !movable_inside(k) || stride < least_stride) continue;
    if (next < 0 || stride < std::abs(loop(next).stride[operand])) next = k;
  }
  return next;
}

int Draft::nearest_source(int64_t run_bytes) const {
  const int k = nearest(1, run_bytes);
  if (k < 0) return -1;
  const int64_t stride = std::abs(loop(k).stride[1]);
  if (stride == run_bytes || stride <= target().line_bytes) return k;
  if (run_bytes > most_short_lines * target().line_bytes) return -1;
  int64_t pages = 1;
  for (int j = 0; j < loop_count(); ++j) {
    const bool inside = j > k || mark(j) != Mark::outside;
    if (inside && std::abs(loop(j).stride[1]) >= target().page_bytes) pages *= loop(j).extent;
  }
  return pages > most_pages ? k : -1;
}

void Draft::erase(int k) {
  space().loops.erase(space().loops.begin() + k);
  marks_.erase(marks_.begin() + k);
}

void Draft::go_on(size_t operand) {
  const int next = nearest(operand, 1);
  if (next >= 0) move_inside(next);
}

void Draft::follow(size_t operand, int64_t near_bytes) {
  int count = 0;
  for (int k = 0; k < loop_count(); ++k) {
    if (mark(k) != Mark::outside) continue;
    if (!loop(k).own.empty()) return;
    ++count;
  }
  for (int k; (k = farthest(operand, count, near_bytes)) >= 0; --count) move_inside(k);
  for (; count > 0; --count) {
    const auto first = std::find(marks_.begin(), marks_.end(), Mark::outside);
    move_inside(static_cast<int>(first - marks_.begin()));
  }
}

void Draft::lay_tile(size_t operand) {
  const auto lies = [&](int k) { return std::abs(loop(k).stride[operand]); };
  for (int k = 0; k < loop_count(); ++k) {
    for (int j = k + 1; j < loop_count(); ++j) {
      if (mark(k) == Mark::outside || mark(j) == Mark::outside || lies(j) <= lies(k)) continue;
      std::swap(loop(k), loop(j));
      std::swap(mark(k), mark(j));
    }
  }
}

int Draft::farthest(size_t operand, int count, int64_t near_bytes) const {
  int found = -1;
  std::vector<int> seen;  // axes
  for (int k = 0; count > 0; ++k) {
    if (mark(k) != Mark::outside) continue;
    --count;
    const bool finer = std::find(seen.begin(), seen.end(), loop(k).axis) != seen.end();
    seen.push_back(loop(k).axis);
    const int64_t most = found < 0 ? -1 : std::abs(loop(found).stride[operand]);
    const bool far = std::abs(loop(k).stride[0]) >= near_bytes;
    if (far && !finer && std::abs(loop(k).stride[operand]) > most) found = k;
  }
  return found;
}

void Draft::move_inside(int k) {
  int last = loop_count() - 1;
  while (mark(last) != Mark::outside) --last;
  for (; k < last; ++k) {
    std::swap(loop(k), loop(k + 1));
    std::swap(mark(k), mark(k + 1));
  }
}

void Draft::move_outside(int k, int to) {
  auto& loops = space().loops;
  std::rotate(loops.begin() + to, loops.begin() + k, loops.begin() + k + 1);
  std::rotate(marks_.begin() + to, marks_.begin() + k, marks_.begin() + k + 1);
}

bool Draft::fills_within(const Loop& loop, Mark mark) const {
  const bool masks = target().byte_masks || schedule_.movement == Movement::row;
  if (!masks || !loop.own.empty()) return false;
  const bool run = loop.stride[0] == schedule_.space.op.bytes;
  const int64_t run_bytes = loop.extent * schedule_.space.op.bytes;
  switch (schedule_.movement) {
    case Movement::permute:
      return mark == Mark::target_run;
    case Movement::row:
      return schedule_.window_loop < 0 && run &&
             (run_bytes <= most_filled_row_bytes || !target().byte_masks);
    case Movement::transpose:
      return run && mark == Mark::target_run &&
             (run_bytes <= schedule_.vector_bytes || schedule_.fills_images);
    default:
      return false;
  }
}

void Draft::gather_tile() {
  std::vector<Loop> gathered;
  gathered.reserve(space().loops.size());
  const auto gather = [&](Mark wanted) {
    for (int k = 0; k < loop_count(); ++k) {
      if (mark(k) == wanted) gathered.push_back(loop(k));
    }
  };
  gather(Mark::outside);
  if (schedule_.window_loop >= 0) {
    const auto before = marks_.begin() + schedule_.window_loop;
    const auto inside =
        std::count_if(marks_.begin(), before, [](Mark mark) { return mark != Mark::outside; });
    schedule_.window_loop = static_cast<int>(gathered.size()) + static_cast<int>(inside);
  }
  gather(Mark::around);
  const size_t first = gathered.size();
  schedule_.target_run = 0;
  for (int k = 0; k < loop_count(); ++k) {
    if (mark(k) == Mark::outside || mark(k) == Mark::around) continue;
    const uint32_t bit = uint32_t{1} << (gathered.size() - first);
    if (mark(k) == Mark::target_run) schedule_.target_run |= bit;
    if (fills_within(loop(k), mark(k))) schedule_.fills_within |= bit;
    gathered.push_back(loop(k));
  }
  schedule_.tile_loops = static_cast<int>(gathered.size() - first);
  space().loops = std::move(gathered);
}

}  // namespace restride::scheduling
