// See tile_run.hpp.
#include "microkernel/tile_run.hpp"

#include <algorithm>
#include <utility>

namespace restride {
namespace {

using nest::Side;
using program::Step;

/// Whether `outer` goes on where `inner` ends, in every operand.
bool continues(const Side& inner, const Side& outer) {
  for (size_t k = 0; k < inner.stride.size(); ++k) {
    if (outer.stride[k] != inner.stride[k] * inner.extent) return false;
  }
  return true;
}

/// Wraps that a loop of `extent` iterations does not get to.
void drop_unreached(Step& step, int64_t extent) {
  int64_t counts = 1;
  for (size_t k = 0; k < step.wraps.size(); ++k) {
    counts *= step.wraps[k].every;
    if (counts < extent + step.phase) continue;
    step.wraps.resize(k);
    return;
  }
}

}  // namespace

TileRun::TileRun(const std::vector<Side>& sides) {
  for (auto side = sides.rbegin(); side != sides.rend(); ++side) {
    if (!sides_.empty() && side->extent == 1) continue;
    if (!sides_.empty() && continues(sides_.back(), *side)) {
      sides_.back().extent *= side->extent;
    } else {
      sides_.push_back(*side);
    }
  }
}

int64_t TileRun::extent() const {
  int64_t extent = 1;
  for (const Side& side : sides_) extent *= side.extent;
  return extent;
}

int64_t TileRun::at(size_t operand, int64_t i) const {
  int64_t at = 0;
  for (const Side& side : sides_) {
    at += i % side.extent * side.stride[operand];
    i /= side.extent;
  }
  return at;
}

bool TileRun::is_contiguous(size_t operand, int64_t element_bytes) const {
  for (const Side& side : sides_) {
    if (side.stride[operand] != element_bytes) return false;
    element_bytes *= side.extent;
  }
  return true;
}

bool TileRun::divides(int64_t count) const {
  if (count < 1 || extent() % count != 0) return false;
  for (const Side& side : sides_) {
    if (side.extent % count == 0) return true;
    if (count % side.extent != 0) return false;
    count /= side.extent;
  }
  return true;
}

TileRun TileRun::first(int64_t count) const {
  std::vector<Side> sides;
  for (Side side : sides_) {
    side.extent = std::min(side.extent, count);
    count /= side.extent;
    sides.insert(sides.begin(), side);
  }
  return TileRun(sides);
}

Step TileRun::step(int stream, size_t operand, int64_t count) const {
  Step step{stream};
  int64_t every = 0;  // values of the digit before
  for (const Side& side : sides_) {
    if (count >= side.extent) {
      count /= side.extent;
      continue;
    }
    if (every == 0) {
      step.stride = count * side.stride[operand];
    } else {
      step.wraps.push_back({every, side.stride[operand]});
    }
    every = side.extent / count;
    count = 1;
  }
  return step;
}

Step then(Step inner, int64_t counts, const Step& outer) {
  for (const program::Wrap& wrap : inner.wraps) counts /= wrap.every;
  inner.wraps.push_back({counts, outer.stride});
  inner.wraps.insert(inner.wraps.end(), outer.wraps.begin(), outer.wraps.end());
  return inner;
}

program::Body loop_always(int64_t extent, std::vector<Step> steps, program::Body body) {
  for (Step& step : steps) drop_unreached(step, extent);
  program::Body result;
  result.push_back(program::For{extent, std::move(steps), std::move(body)});
  return result;
}

}  // namespace restride
