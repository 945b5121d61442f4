// Which slots elements pass through on their way from some windows into others.
//
//     source windows ── permute ──► middle ── blend ──► middle ── permute ──► target windows
//
// Blends cost half a permute and need no shuffle unit, but leave every element in its slot. So each
// element gets a slot in the middle where nothing else of its source window lies and nothing else
// goes to its target window. Where the slots of the sources, or of the targets, do, one of the
// permutes is not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace restride {

/// One element: the slot of the window it comes from, the slot of the window it goes to.
struct SlotMove {
  size_t source_window, source_slot, target_window, target_slot;
};

enum class RouteKind : uint8_t {
  none,    ///< there is no such route
  source,  ///< elements stay in the slots of their source until all of a target are together
  target,  ///< elements go to the slots of their target at once
  both,    ///< slots of their own
};

struct Route {
  RouteKind kind = RouteKind::none;
  std::vector<size_t> middle;  ///< the slot of each move
};

/// The route with the fewest permutes. Slots are 0 to `slots` - 1, at most 64.
Route find_route(const std::vector<SlotMove>& moves, size_t source_windows, size_t target_windows,
                 size_t slots);

}  // namespace restride
