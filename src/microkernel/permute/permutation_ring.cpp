// See permutation_ring.hpp.
#include "microkernel/permute/permutation_ring.hpp"

#include <algorithm>
#include <numeric>

namespace restride {
namespace {

uint64_t bit(size_t slot) { return uint64_t{1} << slot; }

/// Groups of windows that have elements in common. Nodes are windows of the source, then those of
/// the target.
class Groups {
 public:
  explicit Groups(size_t nodes) : next_(nodes) { std::iota(next_.begin(), next_.end(), size_t{0}); }

  size_t of(size_t node) {
    while (next_[node] != node) node = next_[node] = next_[next_[node]];
    return node;
  }

  /// The first node of a group stands for it.
  void join(size_t a, size_t b) {
    const size_t first = of(a), second = of(b);
    next_[std::max(first, second)] = std::min(first, second);
  }

 private:
  std::vector<size_t> next_;
};

class RingSearch {
 public:
  RingSearch(const std::vector<SlotMove>& moves, size_t source_windows, size_t target_windows,
             size_t slots)
      : moves_(moves),
        sources_(source_windows),
        slots_(slots),
        ring_(source_windows + target_windows),
        place_(ring_.size()) {
    route_.middle.resize(moves.size());
  }

  std::optional<RingRoute> run() {
    take_places();
    if (!take_slots()) return std::nullopt;
    const std::vector<uint64_t> spread = spread_slots(moves_, route_.middle, sources_);
    for (const Ring& ring : route_.rings) {
      std::vector<uint64_t> held = at_places(ring, spread);
      for (size_t distance = 1; distance < ring.places; distance *= 2) {
        for (const RingStep& step : ring_steps(ring, distance, held))
          route_.blends += step.stays && step.comes ? 1 : 0;
      }
    }
    return std::move(route_);
  }

 private:
  size_t target_node(const SlotMove& move) const { return sources_ + move.target_window; }

  void take_places() {
    Groups groups(ring_.size());
    for (const SlotMove& move : moves_) groups.join(move.source_window, target_node(move));
    std::vector<size_t> ring_of_group(ring_.size(), ring_.size());
    for (size_t node = 0; node < ring_.size(); ++node) {
      size_t& ring = ring_of_group[groups.of(node)];
      if (ring == ring_.size()) {
        ring = route_.rings.size();
        route_.rings.emplace_back();
      }
      ring_[node] = ring;
      Ring& taken = route_.rings[ring];
      std::vector<size_t>& windows = node < sources_ ? taken.sources : taken.targets;
      place_[node] = windows.size();
      windows.push_back(node < sources_ ? node : node - sources_);
      taken.places = std::max(taken.places, windows.size());
    }
  }

  size_t distance(const SlotMove& move) const {
    const size_t places = route_.rings[ring_[move.source_window]].places;
    return (place_[target_node(move)] + places - place_[move.source_window]) % places;
  }

  /// Gives each distance as many slots as the busiest pair of windows has elements.
  bool take_slots() {
    const size_t targets = ring_.size() - sources_;
    std::vector<size_t> between(sources_ * targets);  // elements, by pair of windows
    for (size_t k = 0; k < moves_.size(); ++k) {
      const SlotMove& move = moves_[k];
      route_.middle[k] = between[move.source_window * targets + move.target_window]++;
    }
    std::vector<std::vector<size_t>> wanted(route_.rings.size());
    for (size_t r = 0; r < wanted.size(); ++r) wanted[r].resize(route_.rings[r].places);
    for (size_t k = 0; k < moves_.size(); ++k) {
      size_t& most = wanted[ring_[moves_[k].source_window]][distance(moves_[k])];
      most = std::max(most, route_.middle[k] + 1);
    }
    for (size_t r = 0; r < wanted.size(); ++r) {
      if (std::reduce(wanted[r].begin(), wanted[r].end()) > slots_) return false;
      std::vector<size_t>& distances = route_.rings[r].distance;
      for (size_t d = 0; d < wanted[r].size(); ++d) {
        const size_t first = distances.size();
        distances.resize(first + wanted[r][d], d);
        wanted[r][d] = first;
      }
    }
    for (size_t k = 0; k < moves_.size(); ++k)
      route_.middle[k] += wanted[ring_[moves_[k].source_window]][distance(moves_[k])];
    return true;
  }

  const std::vector<SlotMove>& moves_;
  const size_t sources_;
  const size_t slots_;
  std::vector<size_t> ring_, place_;  // by node
  RingRoute route_;
};

}  // namespace

uint64_t moving_slots(const Ring& ring, size_t distance) {
  uint64_t moving = 0;
  for (size_t slot = 0; slot < ring.distance.size(); ++slot) {
    if ((ring.distance[slot] & distance) != 0) moving |= bit(slot);
  }
  return moving;
}

std::vector<RingStep> ring_steps(const Ring& ring, size_t distance, std::vector<uint64_t>& held) {
  const uint64_t moving = moving_slots(ring, distance);
  std::vector<RingStep> steps;
  std::vector<uint64_t> behind(ring.places);
  const size_t cycles = std::gcd(ring.places, distance);
  for (size_t first = 0; first < cycles; ++first) {
    for (size_t n = 0, place = first; n < ring.places / cycles; ++n) {
      const size_t from = (place + ring.places - distance) % ring.places;
      const uint64_t stays = held[place] & ~moving, comes = held[from] & moving;
      behind[place] = stays | comes;
      if (behind[place] != 0) steps.push_back({place, from, stays != 0, comes != 0});
      place = (place + distance) % ring.places;
    }
  }
  held = std::move(behind);
  return steps;
}

std::vector<uint64_t> spread_slots(const std::vector<SlotMove>& moves,
                                   const std::vector<size_t>& middle, size_t source_windows) {
  std::vector<uint64_t> slots(source_windows);
  for (size_t k = 0; k < moves.size(); ++k) slots[moves[k].source_window] |= bit(middle[k]);
  return slots;
}

std::vector<uint64_t> at_places(const Ring& ring, const std::vector<uint64_t>& spread) {
  std::vector<uint64_t> held(ring.places);
  for (size_t place = 0; place < ring.sources.size(); ++place)
    held[place] = spread[ring.sources[place]];
  return held;
}

std::optional<RingRoute> find_rings(const std::vector<SlotMove>& moves, size_t source_windows,
                                    size_t target_windows, size_t slots) {
  return RingSearch(moves, source_windows, target_windows, slots).run();
}

}  // namespace restride
