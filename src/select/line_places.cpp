// See line_places.hpp.
#include "select/line_places.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "base/arithmetic.hpp"
#include "microkernel/microkernel.hpp"

namespace restride {
namespace {

bool is_in_target_run(const Schedule& schedule, size_t side) {
  return (schedule.target_run >> side & 1) != 0;
}

/// Whether panels of rows that several digits make leave by whole vectors.
bool moves_along_runs(const nest::Tile& tile, const Schedule& schedule) {
  if (schedule.movement != Movement::transpose || !has_panels(schedule.staging)) return false;
  int64_t run = schedule.space.op.bytes;
  for (size_t k = 0; k < tile.sides.size(); ++k)
    run *= is_in_target_run(schedule, k) ? tile.sides[k].extent : 1;
  return run % schedule.vector_bytes == 0;
}

/// The first of the innermost sides that make one run of the target and are moved as one.
size_t run_begin(const nest::Tile& tile, const Schedule& schedule) {
  int64_t run = schedule.space.op.bytes;
  size_t k = tile.sides.size();
  while (k > 0 && is_in_target_run(schedule, k - 1) && tile.sides[k - 1].stride[0] == run) {
    run *= tile.sides[--k].extent;
  }
  return k;
}

}  // namespace

int64_t divisor(const nest::Side& side) {
  int64_t divisor = side.stride[0];
  for (const OwnDigit& digit : side.own) {
    if (digit.operand == 0) divisor = std::gcd(divisor, digit.stride);
  }
  return divisor;
}

int64_t divisor_within(const nest::Tile& tile, const Schedule& schedule, bool joins_rows) {
  const bool runs_are_one = joins_rows || schedule.movement == Movement::repeat;
  const size_t rows = runs_are_one ? run_begin(tile, schedule) : tile.sides.size();
  const bool runs_of_vectors = moves_along_runs(tile, schedule);
  int64_t divisor = 0;
  for (size_t k = 0; k < rows; ++k) {
    const nest::Side& side = tile.sides[k];
    // Along the run of the target code moves by whole vectors.
    const int64_t stride = in_bytes(side.stride, schedule.space.op)[0];
    const bool along = runs_of_vectors && is_in_target_run(schedule, k);
    if (side.extent > 1 && stride >= schedule.vector_bytes && !along)
      divisor = std::gcd(divisor, stride);
    for (const OwnDigit& digit : side.own) {
      if (digit.operand == 0) divisor = std::gcd(divisor, digit.stride);
    }
  }
  return divisor;
}

int64_t to_vectors(const nest::Tile& tile, const Schedule& schedule, int64_t alignment,
                   int64_t place) {
  const ElementOp& op = schedule.space.op;
  const bool computes = schedule.movement == Movement::compute;
  const bool moves = schedule.movement == Movement::row || schedule.movement == Movement::splat;
  if (is_packed(op) || !(computes || (moves && !schedule.nontemporal))) return 0;
  int64_t row_bytes = 0;
  for (size_t k = 0; k < tile.sides.size(); ++k) {
    const nest::Side& side = tile.sides[k];
    const bool run =
        is_in_target_run(schedule, k) && side.own.empty() && side.stride[0] == op.bytes;
    if (run) row_bytes = side.extent * op.bytes;
    if (!run) alignment = std::gcd(alignment, divisor(side));
  }
  const int64_t vector = schedule.vector_bytes;
  const int64_t least =
      schedule.nontemporal ? least_streamed_bytes_from_line : least_bytes_from_line;
  const bool alike = alignment % vector == 0 && row_bytes >= least;
  return alike ? remainder_above(-place, vector) : 0;
}

bool pads_cached_lines(const nest::Tile& tile, const Schedule& schedule, int64_t alignment) {
  const IterationSpace& space = schedule.space;
  if (tile.work != nest::Work::fill || schedule.movement != Movement::transpose ||
      schedule.vector_bytes >= program::line_bytes || schedule.stages_lines)
    return false;
  int64_t moved = space.op.bytes, filled = space.op.bytes;
  const size_t around = space.loops.size() - static_cast<size_t>(schedule.tile_loops);
  for (size_t k = around; k < space.loops.size(); ++k) {
    const Loop& loop = space.loops[k];
    if (!is_in_target_run(schedule, k - around)) continue;
    const int64_t valid = space.axes[static_cast<size_t>(loop.axis)].valid;
    moved *= std::min(loop.extent, ceil_div(valid, loop.step));
  }
  for (auto side = tile.sides.rbegin(); side != tile.sides.rend(); ++side) {
    if (in_bytes(side->stride, space.op)[0] == filled) filled *= side->extent;
  }
  const bool staged = moved > schedule.vector_bytes && moved % schedule.vector_bytes == 0;
  const bool whole_lines = std::gcd(alignment, filled) % program::line_bytes == 0;
  return !staged && !whole_lines;
}

}  // namespace restride
