// Routes on which target windows share the blends that join them.
//
// Where every window of the target takes as much of every window of the source, registers stand in
// a ring. An element goes on from the place of its source to that of its target, and its slot in
// the middle says how far:
//
//     slots that go on by     0 1 2 3                    0 1 2 3
//     source 0               a0 b1 c2 d3     target 0   a0 d1 c2 b3      by 1: slots 1 and 3
//     source 1               b0 c1 d2 a3     target 1   b0 a1 d2 c3      by 2: slots 2 and 3
//     source 2               c0 d1 a2 b3     target 2   c0 b1 a2 d3
//     source 3               d0 a1 b2 c3     target 3   d0 c1 b2 a3
//
// So n windows take a blend each for every bit of a distance, where joining them one by one takes
// n - 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "microkernel/permute/permutation_route.hpp"

namespace restride {

/// Windows that have elements in common, by their places.
struct Ring {
  size_t places = 0;
  std::vector<size_t> sources, targets;
  std::vector<size_t> distance;  ///< by slot in the middle
};

struct RingRoute {
  std::vector<Ring> rings;
  std::vector<size_t> middle;  ///< the slot of each move
  size_t blends = 0;           ///< of all rings
};

/// What a place of a ring takes from the place `distance` before it, in one step; bits are slots.
struct RingStep {
  size_t place, from;
  bool stays, comes;  ///< whether elements stay here, whether some come from there
};

/// The steps of a ring by one bit of the distances after the other, as they are best taken: what is
/// not needed any more goes soon. `held`: the slots in the middle of the elements at each place
/// before; becomes those behind.
std::vector<RingStep> ring_steps(const Ring& ring, size_t distance, std::vector<uint64_t>& held);

/// The slots whose elements go on in the step by `distance`.
uint64_t moving_slots(const Ring& ring, size_t distance);

/// Nothing, where there are more elements between windows than slots for so many distances. Slots
/// are 0 to `slots` - 1, at most 64.
std::optional<RingRoute> find_rings(const std::vector<SlotMove>& moves, size_t source_windows,
                                    size_t target_windows, size_t slots);

/// The slots in the middle that the elements of each window of the source are spread to.
std::vector<uint64_t> spread_slots(const std::vector<SlotMove>& moves,
                                   const std::vector<size_t>& middle, size_t source_windows);

/// The same by the places of a ring.
std::vector<uint64_t> at_places(const Ring& ring, const std::vector<uint64_t>& spread);

}  // namespace restride
