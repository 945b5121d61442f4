// See permutation_merge.hpp.
#include "microkernel/permute/permutation_merge.hpp"

#include <algorithm>
#include <utility>

#include "program/program.hpp"

namespace restride {
namespace {

/// What a register has of the elements that some targets take.
struct Held {
  size_t node;
  struct Element {
    uint16_t move;
    uint8_t slot;
  };
  std::vector<Element> elements;
};

class MergeSearch {
 public:
  MergeSearch(const std::vector<SlotMove>& moves, size_t sources, size_t slots)
      : moves_(moves), sources_(sources), slots_(slots) {}

  std::vector<Merge> run(size_t targets) {
    std::vector<Held> all(sources_);
    for (size_t k = 0; k < sources_; ++k) all[k].node = k;
    for (size_t k = 0; k < moves_.size(); ++k) {
      all[moves_[k].source_window].elements.push_back(
          {static_cast<uint16_t>(k), static_cast<uint8_t>(moves_[k].source_slot)});
    }
    make(0, targets, all);
    return std::move(merges_);
  }

 private:
  /// Makes targets [first, end) of what some registers have of them.
  void make(size_t first, size_t end, const std::vector<Held>& held) {
    if (held.empty()) return;
    if (end - first == 1) return finish(first, held);
    const size_t middle = first + (end - first + 1) / 2;
    for (const auto& [begin, until] : {std::pair{first, middle}, std::pair{middle, end}}) {
      std::vector<Held> part = part_of(held, begin, until);
      // A single target is put together in its own slots.
      if (until - begin > 1) part = paired(std::move(part));
      make(begin, until, part);
    }
  }

  /// What registers have of targets [first, end), those that have something.
  std::vector<Held> part_of(const std::vector<Held>& held, size_t first, size_t end) const {
    std::vector<Held> result;
    for (const Held& each : held) {
      Held part{each.node, {}};
      part.elements.reserve(each.elements.size());
      for (const Held::Element& element : each.elements) {
        const size_t target = moves_[element.move].target_window;
        if (target >= first && target < end) part.elements.push_back(element);
      }
      if (!part.elements.empty()) result.push_back(std::move(part));
    }
    return result;
  }

  /// Merges two registers each whose elements fit one, the fullest with the fullest that fits.
  std::vector<Held> paired(std::vector<Held> held) {
    std::stable_sort(held.begin(), held.end(), [](const Held& a, const Held& b) {
      return a.elements.size() > b.elements.size();
    });
    std::vector<Held> result;
    std::vector<bool> taken(held.size());
    for (size_t k = 0; k < held.size(); ++k) {
      if (taken[k]) continue;
      size_t other = k + 1;
      const auto fits = [&](size_t j) {
        return !taken[j] && held[k].elements.size() + held[j].elements.size() <= slots_;
      };
      while (other < held.size() && !fits(other)) ++other;
      if (other == held.size()) {
        result.push_back(std::move(held[k]));
        continue;
      }
      taken[other] = true;
      result.push_back(merged(held[k], held[other]));
    }
    return result;
  }

  Held merged(const Held& a, const Held& b) {
    Held result{sources_ + merges_.size(), {}};
    result.elements.reserve(slots_);
    std::vector<uint8_t> table(slots_, program::undefined);
    size_t slot = 0;
    for (const Held* each : {&a, &b}) {
      const size_t base = each == &a ? 0 : slots_;
      for (const Held::Element& element : each->elements) {
        table[slot] = static_cast<uint8_t>(base + element.slot);
        result.elements.push_back({element.move, static_cast<uint8_t>(slot++)});
      }
    }
    merges_.push_back({a.node, b.node, std::move(table)});
    return result;
  }

  /// Puts elements into their slots of the target, a register after the other.
  void finish(size_t target, const std::vector<Held>& held) {
    std::vector<uint8_t> before(slots_, program::undefined);
    const auto place = [&](std::vector<uint8_t>& table, const Held& each, size_t base) {
      for (const Held::Element& element : each.elements)
        table[moves_[element.move].target_slot] = static_cast<uint8_t>(base + element.slot);
    };
    size_t node = held[0].node;
    if (held.size() == 1) {
      place(before, held[0], 0);
      merges_.push_back({node, Merge::none, std::move(before), target});
      return;
    }
    place(before, held[0], 0);
    for (size_t k = 1; k < held.size(); ++k) {
      std::vector<uint8_t> table = before;
      place(table, held[k], slots_);
      merges_.push_back({node, held[k].node, table});
      node = sources_ + merges_.size() - 1;
      for (size_t slot = 0; slot < slots_; ++slot)
        before[slot] =
            table[slot] == program::undefined ? program::undefined : static_cast<uint8_t>(slot);
    }
    merges_.back().target = target;
  }

  const std::vector<SlotMove>& moves_;
  const size_t sources_, slots_;
  std::vector<Merge> merges_;
};

}  // namespace

std::vector<Merge> find_merges(const std::vector<SlotMove>& moves, size_t source_windows,
                               size_t target_windows, size_t slots) {
  return MergeSearch(moves, source_windows, slots).run(target_windows);
}

size_t live_registers(const std::vector<Merge>& merges, size_t source_windows, bool stay) {
  constexpr size_t loaded_for_one = 2;
  const size_t nodes = source_windows + merges.size();
  std::vector<size_t> first(nodes, Merge::none), last(nodes, 0);
  for (size_t k = 0; k < merges.size(); ++k) {
    for (const size_t node : {merges[k].first, merges[k].second}) {
      if (node == Merge::none) continue;
      first[node] = std::min(first[node], k);
      last[node] = k;
    }
    first[source_windows + k] = k;
    last[source_windows + k] = k;
  }
  // One more begins, one fewer goes on behind.
  std::vector<int> changes(merges.size() + 1);
  for (size_t node = stay ? 0 : source_windows; node < nodes; ++node) {
    if (first[node] == Merge::none) continue;
    ++changes[first[node]];
    --changes[last[node] + 1];
  }
  int live = 0, most = 0;
  for (const int change : changes) most = std::max(most, live += change);
  return static_cast<size_t>(most) + (stay ? 0 : loaded_for_one);
}

}  // namespace restride
