// See tile_run.hpp.
#include "microkernel/tile_run.hpp"

#include <algorithm>
#include <array>
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

std::vector<TileRun::Carry> TileRun::carries_of(const Side& side) {
  std::vector<Carry> carries;
  Strides stride = side.stride;
  std::array<int64_t, max_operands> counts;  // of a digit
  counts.fill(1);
  for (const OwnDigit& digit : side.own) {
    const auto operand = static_cast<size_t>(digit.operand);
    const int64_t every = counts[operand] *= digit.every;
    Carry carry{every - side.first % every, every, {}};
    carry.further[operand] = digit.stride - digit.every * stride[operand];
    stride[operand] = digit.stride;
    if (carry.begin >= side.extent || carry.further[operand] == 0) continue;
    const bool once = carry.begin + every >= side.extent;
    if (once) carry.every = side.extent;
    carries.push_back(carry);
  }
  return carries;
}

TileRun::TileRun(const std::vector<Side>& sides) {
  for (auto side = sides.rbegin(); side != sides.rend(); ++side) {
    if (!sides_.empty() && side->extent == 1) continue;
    if (sides_.empty()) carries_ = carries_of(*side);
    if (!sides_.empty() && !is_spliced() && continues(sides_.back(), *side)) {
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

int64_t TileRun::carried(size_t operand, int64_t i) const {
  int64_t further = 0;
  for (const Carry& carry : carries_) {
    if (i >= carry.begin) further += ((i - carry.begin) / carry.every + 1) * carry.further[operand];
  }
  return further;
}

int64_t TileRun::at(size_t operand, int64_t i) const {
  int64_t at = is_spliced() ? carried(operand, i % sides_.front().extent) : 0;
  for (const Side& side : sides_) {
    at += i % side.extent * side.stride[operand];
    i /= side.extent;
  }
  return at;
}

bool TileRun::is_contiguous(size_t operand, int64_t element_bytes) const {
  for (const Carry& carry : carries_) {
    if (carry.further[operand] != 0) return false;
  }
  for (const Side& side : sides_) {
    if (side.stride[operand] != element_bytes) return false;
    element_bytes *= side.extent;
  }
  return true;
}

bool TileRun::divides(int64_t count) const {
  if (count < 1 || extent() % count != 0) return false;
  for (const Carry& carry : carries_) {
    if (count < sides_.front().extent && (carry.begin % count != 0 || carry.every % count != 0))
      return false;
  }
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

std::vector<Step> TileRun::steps(int stream, size_t operand, int64_t count, const Step& outer,
                                 int64_t before) const {
  std::vector<Step> steps{then(step(stream, operand, count), extent() / count, outer)};
  steps.front().phase = before;
  if (!is_spliced() || count >= sides_.front().extent) return steps;
  // Each carry is a step that only goes on; what begins anew takes that back.
  const int64_t further = carried(operand, sides_.front().extent - 1);
  int64_t times = 1;
  std::vector<program::Wrap>& wraps = steps.front().wraps;
  for (size_t k = 0; k < wraps.size(); ++k) {
    if (k > 0) times *= wraps[k].every;
    wraps[k].stride -= times * further;
  }
  for (const Carry& carry : carries_) {
    const int64_t rest = carry.every - carry.begin;
    const program::Wrap wrap{carry.every / count, carry.further[operand]};
    if (wrap.stride != 0) steps.push_back({stream, 0, 0, before + rest / count, {wrap}});
  }
  return steps;
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
