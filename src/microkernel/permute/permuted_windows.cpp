// See permuted_windows.hpp.
#include "microkernel/permute/permuted_windows.hpp"

#include <algorithm>
#include <utility>

namespace restride {

using nest::Side;

std::vector<ElementMove> element_moves(const std::vector<Side>& sides) {
  std::vector<ElementMove> result{{0, 0}};
  for (const Side& side : sides) {
    std::vector<ElementMove> repeated;
    repeated.reserve(result.size() * static_cast<size_t>(side.extent));
    for (const ElementMove& outer : result) {
      for (int64_t i = 0; i < side.extent; ++i) {
        const Strides at = side.at(i);
        repeated.push_back({outer.target + at[0], outer.source + at[1],
                            outer.filled || i + side.filled >= side.extent});
      }
    }
    result = std::move(repeated);
  }
  const auto before = [](const ElementMove& a, const ElementMove& b) {
    return a.target < b.target;
  };
  if (!std::is_sorted(result.begin(), result.end(), before))
    std::sort(result.begin(), result.end(), before);
  return result;
}

std::vector<Window> windows(const std::vector<int64_t>& offsets, int64_t element_bytes,
                            int64_t vector_bytes) {
  std::vector<Window> result;
  for (const int64_t offset : offsets) {
    const bool continues = !result.empty() && result.back().begin + result.back().bytes == offset &&
                           result.back().bytes + element_bytes <= vector_bytes;
    if (continues) {
      result.back().bytes += element_bytes;
    } else {
      result.push_back({offset, element_bytes});
    }
  }
  return result;
}

std::vector<Window> bridged(const std::vector<Window>& parts, int64_t element_bytes,
                            int64_t vector_bytes) {
  std::vector<Window> result;
  for (const Window& part : parts) {
    const int64_t distance = result.empty() ? 0 : part.begin - result.back().begin;
    if (!result.empty() && distance + part.bytes <= vector_bytes && distance % element_bytes == 0) {
      result.back().bytes = distance + part.bytes;
    } else {
      result.push_back(part);
    }
  }
  return result;
}

WindowMoves window_moves(const std::vector<Side>& sides, int64_t element, int64_t vector,
                         bool reads_between) {
  const std::vector<ElementMove> moved = element_moves(sides);
  std::vector<int64_t> targets, sources;
  for (const ElementMove& move : moved) {
    targets.push_back(move.target);
    if (!move.filled) sources.push_back(move.source);
  }
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  WindowMoves result{windows(targets, element, vector), windows(sources, element, vector), {}};
  if (reads_between) result.sources = bridged(result.sources, element, vector);
  const auto slot = [&](int64_t bytes) { return static_cast<size_t>(bytes / element); };
  const auto source_window = [&](int64_t source) {
    const auto after =
        std::upper_bound(result.sources.begin(), result.sources.end(), source,
                         [](int64_t offset, const Window& w) { return offset < w.begin; });
    return static_cast<size_t>(after - result.sources.begin()) - 1;
  };
  size_t target = 0;
  for (const ElementMove& move : moved) {
    if (move.target >= result.targets[target].begin + result.targets[target].bytes) ++target;
    if (move.filled) continue;
    const size_t source = source_window(move.source);
    result.moves.push_back({source, slot(move.source - result.sources[source].begin), target,
                            slot(move.target - result.targets[target].begin)});
  }
  return result;
}

namespace {

// Longer runs would hold too many registers.
constexpr int64_t most_waiting_bytes = 128;

/// Makes whole stores of `bytes` that follow each other leave together, if they are few.
void join_short_runs(std::vector<LaneStore>& stores, int64_t bytes) {
  for (size_t first = 0, end = 0; first < stores.size(); first = end) {
    size_t after = stores[first].after;
    for (end = first + 1; end < stores.size(); ++end) {
      if (stores[end].offset != stores[end - 1].offset + bytes) break;
      after = std::max(after, stores[end].after);
    }
    if (static_cast<int64_t>(end - first) * bytes > most_waiting_bytes) continue;
    for (size_t k = first; k < end; ++k) stores[k].after = after;
  }
}

}  // namespace

std::vector<LaneStore> lane_stores(const std::vector<Window>& windows, int64_t sibling,
                                   int64_t whole_bytes) {
  std::vector<LaneStore> alone, result;
  for (size_t k = 0; k < windows.size(); ++k) {
    alone.push_back({windows[k].begin, {k, 0}, {}, k});
    alone.push_back({windows[k].begin + sibling, {k, 1}, {}, k});
  }
  std::sort(alone.begin(), alone.end(),
            [](const LaneStore& a, const LaneStore& b) { return a.offset < b.offset; });
  const auto is_whole = [&](const LaneStore& store) {
    return !store.high && windows[store.low.window].bytes == whole_bytes;
  };
  for (const LaneStore& next : alone) {
    const bool follows = !result.empty() && is_whole(result.back()) && is_whole(next) &&
                         result.back().offset + whole_bytes == next.offset;
    if (follows) {
      result.back().high = next.low;
      result.back().after = std::max(result.back().after, next.after);
    } else {
      result.push_back(next);
    }
  }
  join_short_runs(result, 2 * whole_bytes);
  return result;
}

}  // namespace restride
