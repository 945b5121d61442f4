// A slot for every element is a colour for every edge of a bipartite graph: windows are the nodes.
// König: as many colours as the busiest node has edges are enough, so whole windows always have a
// route.
#include "microkernel/permute/permutation_route.hpp"

#include <bit>

namespace restride {
namespace {

constexpr int64_t nothing = -1;

/// Whether the slots of `middle` hold one element each, in the windows of the moves that `window`
/// names; elements are told apart by `element`.
template <class Window, class Element>
bool keeps_apart(const std::vector<SlotMove>& moves, size_t windows, size_t slots,
                 const std::vector<size_t>& middle, Window window, Element element) {
  std::vector<int64_t> held(windows * slots, nothing);
  for (size_t k = 0; k < moves.size(); ++k) {
    int64_t& slot = held[window(moves[k]) * slots + middle[k]];
    const auto here = static_cast<int64_t>(element(moves[k]));
    if (slot != nothing && slot != here) return false;
    slot = here;
  }
  return true;
}

/// Colours edges one by one; where the ends of one have no free colour in common, a path of two
/// alternating colours is swapped.
class EdgeColouring {
 public:
  EdgeColouring(const std::vector<SlotMove>& moves, size_t source_windows, size_t target_windows,
                size_t slots)
      : moves_(moves),
        slots_(slots),
        targets_(source_windows),
        edges_((source_windows + target_windows) * slots, nothing),
        free_(source_windows + target_windows,
              slots < 64 ? (uint64_t{1} << slots) - 1 : ~uint64_t{0}),
        colours_(moves.size()) {}

  /// Empty: a window has more moves than slots.
  std::vector<size_t> run() {
    for (size_t edge = 0; edge < moves_.size(); ++edge) {
      const size_t source = moves_[edge].source_window, target = target_node(edge);
      if (free_[source] == 0 || free_[target] == 0) return {};
      const uint64_t common = free_[source] & free_[target];
      size_t colour = first(common);
      if (common == 0) {
        colour = first(free_[source]);
        swap_path(target, colour, first(free_[target]));
      }
      take(edge, colour);
    }
    return std::move(colours_);
  }

 private:
  static size_t first(uint64_t colours) { return static_cast<size_t>(std::countr_zero(colours)); }
  size_t target_node(size_t edge) const { return targets_ + moves_[edge].target_window; }
  int64_t& edge_at(size_t node, size_t colour) { return edges_[node * slots_ + colour]; }

  void take(size_t edge, size_t colour) {
    colours_[edge] = colour;
    for (const size_t node : {moves_[edge].source_window, target_node(edge)}) {
      edge_at(node, colour) = static_cast<int64_t>(edge);
      free_[node] &= ~(uint64_t{1} << colour);
    }
  }

  void give_back(size_t edge) {
    const size_t colour = colours_[edge];
    for (const size_t node : {moves_[edge].source_window, target_node(edge)}) {
      edge_at(node, colour) = nothing;
      free_[node] |= uint64_t{1} << colour;
    }
  }

  /// Swaps two colours along the path that leaves `node` by an edge of colour `from`. It cannot end
  /// at the other end of the edge at hand, which has no edge of that colour.
  void swap_path(size_t node, size_t from, size_t to) {
    std::vector<size_t> path;
    size_t colour = from;
    for (int64_t edge = edge_at(node, colour); edge != nothing; edge = edge_at(node, colour)) {
      path.push_back(static_cast<size_t>(edge));
      const size_t source = moves_[path.back()].source_window;
      node = node == source ? target_node(path.back()) : source;
      colour = colour == from ? to : from;
    }
    for (const size_t edge : path) give_back(edge);
    for (const size_t edge : path) take(edge, colours_[edge] == from ? to : from);
  }

  const std::vector<SlotMove>& moves_;
  const size_t slots_;
  const size_t targets_;  // the first node of a target window
  std::vector<int64_t> edges_;
  std::vector<uint64_t> free_;
  std::vector<size_t> colours_;
};

}  // namespace

Route find_route(const std::vector<SlotMove>& moves, size_t source_windows, size_t target_windows,
                 size_t slots) {
  Route route;
  route.middle.reserve(moves.size());
  for (const SlotMove& move : moves) route.middle.push_back(move.source_slot);
  route.kind = RouteKind::source;
  const auto element = [&](const SlotMove& move) {
    return move.source_window * slots + move.source_slot;
  };
  if (keeps_apart(
          moves, target_windows, slots, route.middle,
          [](const SlotMove& move) { return move.target_window; }, element)) {
    return route;
  }
  for (size_t k = 0; k < moves.size(); ++k) route.middle[k] = moves[k].target_slot;
  route.kind = RouteKind::target;
  if (keeps_apart(
          moves, source_windows, slots, route.middle,
          [](const SlotMove& move) { return move.source_window; }, element)) {
    return route;
  }
  route.middle = EdgeColouring(moves, source_windows, target_windows, slots).run();
  route.kind = route.middle.empty() ? RouteKind::none : RouteKind::both;
  return route;
}

}  // namespace restride
