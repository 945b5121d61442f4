// See page_walks.hpp.
#include "schedule/page_walks.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/arithmetic.hpp"

namespace restride::scheduling {
namespace {

/// Loops, innermost first: those of the tile, those around it, those outside.
std::vector<int> from_inside(const Draft& draft) {
  std::vector<int> order;
  const auto add = [&](auto is_next) {
    for (int k = draft.loop_count() - 1; k >= 0; --k) {
      if (is_next(draft.mark(k))) order.push_back(k);
    }
  };
  add([](Mark mark) { return mark == Mark::target_run || mark == Mark::source_run; });
  add([](Mark mark) { return mark == Mark::around; });
  add([](Mark mark) { return mark == Mark::outside; });
  return order;
}

}  // namespace

int64_t granules_bytes(std::vector<Walk> walks, int64_t element, int64_t granule) {
  std::sort(walks.begin(), walks.end(),
            [](const Walk& a, const Walk& b) { return a.stride < b.stride; });
  int64_t run = element, runs = 1;
  for (const auto& [stride, steps] : walks) {
    if (stride < run + granule) {
      run += stride * (steps - 1);
    } else {
      runs *= steps;
    }
  }
  return runs * ceil_div(run, granule) * granule;
}

int64_t page_walks(const Draft& draft) {
  const int64_t page = draft.target().page_bytes;
  std::array<std::vector<Walk>, 2> walks;
  int64_t pages = 0, entered = 1;
  bool fits = true;
  for (const int k : from_inside(draft)) {
    // The first loop that goes beyond what is at hand still finds what it had an iteration before.
    if (!fits) {
      entered *= draft.loop(k).extent;
      continue;
    }
    pages = 0;
    for (size_t operand = 0; operand < walks.size(); ++operand) {
      walks[operand].push_back({std::abs(draft.loop(k).stride[operand]), draft.loop(k).extent});
      pages += granules_bytes(walks[operand], draft.space().op.bytes, page) / page;
    }
    fits = pages <= draft.target().translated_pages;
  }
  return pages * entered;
}

}  // namespace restride::scheduling
