// The hull of a numeral for counts in [first, last]. With the digits of `first` and `last` above
// each other, from the coarsest down:
//
//     first   3 1 4 2          equal digits are fixed: they shift everything;
//     last    3 2 0 7          below the first that differs the positions are the union of
//               |              - the suffix:  1, then everything from `4 2` up
//               first digit    - the prefix:  2, then everything up to `0 7`
//               that differs   - the middle:  digits between, then everything
#include "program/stream_range.hpp"

#include <algorithm>
#include <array>

namespace restride::program {
namespace {

// Far beyond any address space, and small enough that a sum over max_depth loops fits int64_t.
constexpr int64_t limit = int64_t{1} << 55;

struct Hull {
  int64_t low, high;
};

Hull shifted(Hull hull, int64_t by) { return {hull.low + by, hull.high + by}; }

Hull join(Hull x, Hull y) { return {std::min(x.low, y.low), std::max(x.high, y.high)}; }

Hull sum(Hull x, Hull y) { return {x.low + y.low, x.high + y.high}; }

/// The hull of digit * stride for digits in [first, last].
Hull walk(int64_t first, int64_t last, int64_t stride) {
  return {std::min(first * stride, last * stride), std::max(first * stride, last * stride)};
}

/// The digits of a Step that count up to some number reaches, finest first.
struct Numeral {
  int size = 0;
  std::array<int64_t, max_wraps + 1> stride, every, weight;

  int64_t digit(int k, int64_t count) const {
    return k + 1 < size ? count / weight[k] % every[k] : count / weight[k];
  }
};

Numeral numeral(const Step& step, int64_t most) {
  Numeral n;
  int64_t weight = 1, stride = step.stride;
  for (const Wrap& wrap : step.wraps) {
    n.stride[n.size] = stride, n.every[n.size] = wrap.every, n.weight[n.size] = weight;
    ++n.size;
    stride = wrap.stride;
    if (__builtin_mul_overflow(weight, wrap.every, &weight) || weight > most) return n;
  }
  n.stride[n.size] = stride, n.every[n.size] = 0, n.weight[n.size] = weight;
  ++n.size;
  return n;
}

/// Whether every position up to count `most` stays within the limit.
bool stays_small(const Numeral& n, int64_t start, int64_t most) {
  int64_t reach = 0;
  if (start < -limit || start > limit) return false;
  for (int k = 0; k < n.size; ++k) {
    int64_t digit = most / n.weight[k], part;
    if (n.every[k]) digit = std::min(digit, n.every[k] - 1);
    if (__builtin_mul_overflow(digit, n.stride[k], &part) || part < -limit || part > limit) {
      return false;
    }
    reach += part < 0 ? -part : part;
    if (reach > limit) return false;
  }
  return true;
}

/// The hull of the digits below `k`, all values.
Hull everything(const Numeral& n, int k) {
  Hull hull{0, 0};
  for (int j = 0; j < k; ++j) hull = sum(hull, walk(0, n.every[j] - 1, n.stride[j]));
  return hull;
}

/// The hull of the digits below `k` for counts from the low digits of `from` up.
Hull suffix(const Numeral& n, int k, int64_t from) {
  Hull hull{0, 0}, lower{0, 0};
  for (int j = 0; j < k; ++j) {
    const int64_t digit = n.digit(j, from), last = n.every[j] - 1;
    hull = shifted(hull, digit * n.stride[j]);
    if (digit < last) hull = join(hull, sum(lower, walk(digit + 1, last, n.stride[j])));
    lower = sum(lower, walk(0, last, n.stride[j]));
  }
  return hull;
}

/// The same for counts up to the low digits of `to`.
Hull prefix(const Numeral& n, int k, int64_t to) {
  Hull hull{0, 0}, lower{0, 0};
  for (int j = 0; j < k; ++j) {
    const int64_t digit = n.digit(j, to);
    hull = shifted(hull, digit * n.stride[j]);
    if (digit > 0) hull = join(hull, sum(lower, walk(0, digit - 1, n.stride[j])));
    lower = sum(lower, walk(0, n.every[j] - 1, n.stride[j]));
  }
  return hull;
}

Hull hull_of(const Numeral& n, int64_t first, int64_t last) {
  int64_t base = 0;
  int k = n.size - 1;
  for (; k >= 0 && n.digit(k, first) == n.digit(k, last); --k) {
    base += n.digit(k, first) * n.stride[k];
  }
  if (k < 0) return {base, base};
  const int64_t low = n.digit(k, first), high = n.digit(k, last);
  Hull hull = join(shifted(suffix(n, k, first), low * n.stride[k]),
                   shifted(prefix(n, k, last), high * n.stride[k]));
  if (low + 1 < high) {
    hull = join(hull, sum(everything(n, k), walk(low + 1, high - 1, n.stride[k])));
  }
  return shifted(hull, base);
}

}  // namespace

bool widen(StreamRange& range, const Step& step, int64_t extent) {
  int64_t most;  // the count after the last iteration: where generated code leaves the stream
  if (__builtin_add_overflow(step.phase, extent, &most)) return false;
  const Numeral n = numeral(step, most);
  if (!stays_small(n, step.start, most)) return false;
  Hull hull = step.wraps.empty() ? walk(step.phase, most - 1, step.stride)
                                 : hull_of(n, step.phase, most - 1);
  hull = shifted(hull, step.start);
  // Loops in loops add up: max_depth times the limit could overflow, so the sum is held to the
  // limit too.
  const Hull total{range.low + hull.low, range.high + hull.high};
  if (total.low < -limit || total.high > limit) return false;
  range.low = total.low, range.high = total.high;
  if (extent == 1) {
    range.fixed += uint64_t(hull.low);
    return true;
  }
  range.fixed += uint64_t(step.start);
  for (int k = 0; k < n.size; ++k) range.strides |= uint64_t(n.stride[k]);
  return true;
}

namespace {

/// The hull of what several steps add up to, and the bits of all distances from the first position.
struct Walked {
  Hull hull;
  int64_t first;
  uint64_t distances = 0;
};

Walked walked_together(std::span<const Step> steps, int stream, int64_t extent) {
  const auto position = [&](int64_t i) {
    int64_t at = 0;
    for (const Step& step : steps) at += step.stream == stream ? step(i) : 0;
    return at;
  };
  const int64_t first = position(0);
  Walked walked{{first, first}, first};
  for (int64_t i = 1; i < extent; ++i) {
    const int64_t at = position(i);
    walked.hull = join(walked.hull, {at, at});
    walked.distances |= uint64_t(at) - uint64_t(first);
  }
  return walked;
}

}  // namespace

bool widen(StreamRange& range, std::span<const Step> steps, int stream, int64_t extent) {
  constexpr int64_t most_positions = 4096;
  const auto moves = [&](const Step& step) { return step.stream == stream; };
  const auto step = std::find_if(steps.begin(), steps.end(), moves);
  if (step == steps.end()) return true;
  if (std::none_of(step + 1, steps.end(), moves)) return widen(range, *step, extent);
  if (extent > most_positions) return false;
  // The sum stays within the limit, whatever each adds to it.
  StreamRange apart;
  for (const Step& one : steps) {
    if (moves(one) && !widen(apart, one, extent)) return false;
  }
  const Walked walked = walked_together(steps, stream, extent);
  const Hull total{range.low + walked.hull.low, range.high + walked.hull.high};
  if (total.low < -limit || total.high > limit) return false;
  range.low = total.low, range.high = total.high;
  range.fixed += uint64_t(walked.first);
  range.strides |= walked.distances;
  return true;
}

}  // namespace restride::program
