// Schedules where operands share bytes: units that share none.
#include <algorithm>
#include <numeric>

#include "base/arithmetic.hpp"
#include "microkernel/packed/packed_image.hpp"
#include "schedule/scheduler.hpp"

namespace restride {
namespace {

// A tile with packed elements, so that units cost nothing to start; rows of it, and elements of a
// source's run, so that blocks can use up lines.
constexpr int64_t packed_tile_elements = 16 * 1024;
constexpr int64_t packed_tile_rows = 128;

}  // namespace

void Scheduler::packed() {
  schedule_.movement = Movement::compute;
  int k = 0;
  while (k < loop_count() && writes_widest(k) && loop(k).own.empty()) {
    const int64_t inside = elements_inside(k), period = byte_period_of(loop(k));
    if (inside < packed_tile_elements) {
      k = split_off(k, std::max(packed_tile_rows, ceil_div(packed_tile_elements, inside)) / 8 * 8);
      break;
    }
    if (period > 1) {
      k = split_off(k, begins_runs(k) ? packed_tile_rows : period);
      break;
    }
    ++k;
  }
  for (int inner = loop_count() - 1; inner >= k; --inner) {
    if (movable_inside(inner)) mark(inner) = Mark::target_run;
  }
  for (int operand = 1; operand <= source_count(space().op); ++operand) {
    const int run = finest(static_cast<size_t>(operand));
    if (run < 0 || mark(run) != Mark::outside || !movable_inside(run)) continue;
    mark(split_off(run, packed_tile_rows)) = Mark::source_run;
  }
}

bool Scheduler::writes_widest(int k) {
  for (int j = k + 1; j < loop_count(); ++j) {
    if (std::abs(loop(j).stride[0]) > std::abs(loop(k).stride[0])) return false;
  }
  return true;
}

int64_t Scheduler::elements_inside(int k) {
  int64_t elements = 1;
  for (int j = k + 1; j < loop_count(); ++j) elements *= loop(j).extent;
  return elements;
}

int64_t Scheduler::byte_period_of(const Loop& loop) {
  int64_t period = 1;
  for (size_t k = 0; k < loop.stride.size(); ++k) {
    if (space().op.packing[k].bits != 0) period = std::max(period, byte_period(loop.stride[k]));
  }
  return period;
}

int Scheduler::finest(size_t operand) {
  int finest = -1;
  for (int k = 0; k < loop_count(); ++k) {
    const int64_t stride = std::abs(loop(k).stride[operand]);
    if (stride == 0) continue;
    if (finest < 0 || stride < std::abs(loop(finest).stride[operand])) finest = k;
  }
  return finest;
}

}  // namespace restride
