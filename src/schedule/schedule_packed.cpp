// Schedules where operands share bytes: units that share none.
#include <algorithm>
#include <cstdlib>

#include "base/arithmetic.hpp"
#include "microkernel/packed/packed_image.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {
namespace {

// A tile with packed elements, so that units cost nothing to start; rows of it, and elements of a
// source's run, so that blocks can use up lines.
constexpr int64_t packed_tile_elements = 16 * 1024;
constexpr int64_t packed_tile_rows = 128;

/// Whether no loop behind this one has a larger stride in the target.
bool writes_widest(const Draft& draft, int k) {
  for (int j = k + 1; j < draft.loop_count(); ++j) {
    if (std::abs(draft.loop(j).stride[0]) > std::abs(draft.loop(k).stride[0])) return false;
  }
  return true;
}

int64_t elements_inside(const Draft& draft, int k) {
  int64_t elements = 1;
  for (int j = k + 1; j < draft.loop_count(); ++j) elements *= draft.loop(j).extent;
  return elements;
}

int64_t byte_period_of(const Draft& draft, const Loop& loop) {
  int64_t period = 1;
  for (size_t k = 0; k < loop.stride.size(); ++k) {
    if (draft.space().op.packing[k].bits != 0)
      period = std::max(period, byte_period(loop.stride[k]));
  }
  return period;
}

}  // namespace

void packed(Draft& draft) {
  draft.schedule().movement = Movement::compute;
  int k = 0;
  while (k < draft.loop_count() && writes_widest(draft, k) && draft.loop(k).own.empty()) {
    const int64_t inside = elements_inside(draft, k), period = byte_period_of(draft, draft.loop(k));
    if (inside < packed_tile_elements) {
      k = draft.split_off(
          k, std::max(packed_tile_rows, ceil_div(packed_tile_elements, inside)) / 8 * 8);
      break;
    }
    if (period > 1) {
      k = draft.split_off(k, begins_runs(draft, k) ? packed_tile_rows : period);
      break;
    }
    ++k;
  }
  for (int inner = draft.loop_count() - 1; inner >= k; --inner) {
    if (draft.movable_inside(inner)) draft.mark(inner) = Mark::target_run;
  }
  for (int operand = 1; operand <= source_count(draft.space().op); ++operand) {
    const int run = finest_loop(draft, static_cast<size_t>(operand));
    if (run < 0 || draft.mark(run) != Mark::outside || !draft.movable_inside(run)) continue;
    draft.mark(draft.split_off(run, packed_tile_rows)) = Mark::source_run;
  }
}

}  // namespace restride::scheduling
