// Routes of elements between windows: nothing may meet on the way, and what is known to need few
// permutes gets few.
#include "microkernel/permute/permutation_route.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "microkernel/permute/permutation_merge.hpp"
#include "microkernel/permute/permutation_ring.hpp"
#include "program/program.hpp"

namespace restride {
namespace {

/// Element k of a block comes from place `sources[k]` and goes to place k, in windows of `slots`.
std::vector<SlotMove> moves_from(const std::vector<size_t>& sources, size_t slots) {
  std::vector<SlotMove> moves;
  for (size_t k = 0; k < sources.size(); ++k) {
    moves.push_back({sources[k] / slots, sources[k] % slots, k / slots, k % slots});
  }
  return moves;
}

/// `count` rows of `width` elements, transposed.
std::vector<size_t> transposed(size_t count, size_t width) {
  std::vector<size_t> sources;
  for (size_t column = 0; column < width; ++column) {
    for (size_t row = 0; row < count; ++row) sources.push_back(row * width + column);
  }
  return sources;
}

void expect_nothing_meets(const std::vector<SlotMove>& moves, const Route& route, size_t slots) {
  ASSERT_EQ(route.middle.size(), moves.size());
  std::map<std::pair<size_t, size_t>, size_t> from, to;  // window and middle -> element
  for (size_t k = 0; k < moves.size(); ++k) {
    const SlotMove& move = moves[k];
    const size_t element = move.source_window * slots + move.source_slot;
    ASSERT_LT(route.middle[k], slots);
    EXPECT_EQ(from.emplace(std::pair(move.source_window, route.middle[k]), element).first->second,
              element);
    EXPECT_EQ(to.emplace(std::pair(move.target_window, route.middle[k]), element).first->second,
              element);
    if (route.kind == RouteKind::source) {
      EXPECT_EQ(route.middle[k], move.source_slot);
    }
    if (route.kind == RouteKind::target) {
      EXPECT_EQ(route.middle[k], move.target_slot);
    }
  }
}

TEST(PermutationRoute, LeavesOddRowsInTheirSlotsUntilTheyAreTogether) {
  for (const size_t width : {3, 5, 7}) {
    const std::vector<SlotMove> apart = moves_from(transposed(64, width), 64);
    EXPECT_EQ(find_route(apart, width, width, 64).kind, RouteKind::source) << width;
    const std::vector<SlotMove> together = moves_from(transposed(width, 64), 64);
    EXPECT_EQ(find_route(together, width, width, 64).kind, RouteKind::target) << width;
  }
}

TEST(PermutationRoute, ExistsForEveryPermutationOfWholeWindows) {
  std::mt19937_64 random(1);
  for (const size_t slots : {2, 4, 16, 64}) {
    for (const size_t windows : {1, 2, 3, 4, 7, 12}) {
      std::vector<size_t> sources(slots * windows);
      std::iota(sources.begin(), sources.end(), size_t{0});
      std::shuffle(sources.begin(), sources.end(), random);
      const std::vector<SlotMove> moves = moves_from(sources, slots);
      const Route route = find_route(moves, windows, windows, slots);
      EXPECT_NE(route.kind, RouteKind::none);
      expect_nothing_meets(moves, route, slots);
    }
  }
}

TEST(PermutationRoute, ExistsForPartsOfWindows) {
  for (const size_t width : {2, 3, 4, 6, 12}) {
    for (const size_t count : {1, 5, 21, 64}) {
      const std::vector<SlotMove> moves = moves_from(transposed(count, width), 64);
      const size_t windows = (count * width + 63) / 64;
      const Route route = find_route(moves, windows, windows, 64);
      EXPECT_NE(route.kind, RouteKind::none);
      expect_nothing_meets(moves, route, 64);
    }
  }
}

TEST(PermutationRoute, IsNotThereForAWindowThatGoesToMorePlacesThanItHasSlots) {
  // Two elements, each to two windows and to both slots there.
  const std::vector<SlotMove> moves = {{0, 0, 0, 0}, {0, 1, 0, 1}, {0, 1, 1, 0},
                                       {0, 0, 1, 1}, {1, 0, 2, 0}, {0, 0, 2, 1}};
  const Route route = find_route(moves, 2, 3, 2);
  EXPECT_EQ(route.kind, RouteKind::none);
}

/// What the places of a ring hold, by slot: moves.
using Held = std::vector<std::map<size_t, size_t>>;

/// Takes the steps of a ring, as its bits say, from where its sources are spread to.
Held walked(const Ring& ring, const std::vector<SlotMove>& moves,
            const std::vector<size_t>& middle) {
  Held held(ring.places);
  for (size_t place = 0; place < ring.sources.size(); ++place) {
    for (size_t k = 0; k < moves.size(); ++k) {
      if (moves[k].source_window != ring.sources[place]) continue;
      EXPECT_TRUE(held[place].emplace(middle[k], k).second);
    }
  }
  for (size_t distance = 1; distance < ring.places; distance *= 2) {
    const uint64_t moving = moving_slots(ring, distance);
    Held behind(ring.places);
    for (size_t place = 0; place < ring.places; ++place) {
      const size_t from = (place + ring.places - distance) % ring.places;
      for (const auto& [slot, move] : held[place])
        if ((moving >> slot & 1) == 0) behind[place].emplace(slot, move);
      for (const auto& [slot, move] : held[from])
        if ((moving >> slot & 1) != 0) behind[place].emplace(slot, move);
    }
    held = std::move(behind);
  }
  return held;
}

void expect_all_arrive(const std::vector<SlotMove>& moves, const RingRoute& route) {
  size_t arrived = 0;
  for (const Ring& ring : route.rings) {
    const Held held = walked(ring, moves, route.middle);
    for (size_t place = 0; place < ring.targets.size(); ++place) {
      for (const auto& [slot, move] : held[place]) {
        EXPECT_EQ(moves[move].target_window, ring.targets[place]);
        EXPECT_EQ(route.middle[move], slot);
        ++arrived;
      }
    }
  }
  EXPECT_EQ(arrived, moves.size());
}

TEST(PermutationRing, BringsWhatAllWindowsHaveOfEachOtherThereByABlendAWindowAndBit) {
  struct Row {
    size_t rows, width, windows, blends;
  };
  for (const Row& row : {Row{64, 4, 4, 8}, {64, 8, 8, 24}, {64, 16, 16, 64}, {16, 8, 2, 2}}) {
    const std::vector<SlotMove> moves = moves_from(transposed(row.rows, row.width), 64);
    const std::optional<RingRoute> route = find_rings(moves, row.windows, row.windows, 64);
    ASSERT_TRUE(route) << row.width;
    expect_all_arrive(moves, *route);
    EXPECT_EQ(route->blends, row.blends) << row.width;
  }
}

TEST(PermutationRing, IsOneForEachGroupOfWindowsWithElementsInCommon) {
  // Two transposes, the windows of one between those of the other.
  std::vector<SlotMove> moves;
  for (const SlotMove& move : moves_from(transposed(16, 4), 16)) {
    moves.push_back(
        {2 * move.source_window, move.source_slot, 2 * move.target_window, move.target_slot});
    moves.push_back({2 * move.source_window + 1, move.source_slot, 2 * move.target_window + 1,
                     move.target_slot});
  }
  const std::optional<RingRoute> route = find_rings(moves, 8, 8, 16);
  ASSERT_TRUE(route);
  EXPECT_EQ(route->rings.size(), 2U);
  expect_all_arrive(moves, *route);
}

TEST(PermutationRing, TakesOtherNumbersOfWindowsOnEitherSide) {
  // Windows of the source that hold 16 of 64, or of the target that take so many.
  for (const size_t width : {3, 5, 6, 12}) {
    std::vector<SlotMove> moves = moves_from(transposed(16, width), 64);
    for (SlotMove& move : moves) {
      const size_t element = move.source_window * 64 + move.source_slot;
      move.source_window = element / width;
      move.source_slot = element % width;
    }
    const std::optional<RingRoute> route = find_rings(moves, 16, (16 * width + 63) / 64, 64);
    ASSERT_TRUE(route) << width;
    expect_all_arrive(moves, *route);
  }
}

TEST(PermutationRing, IsNotThereWhereDistancesTakeMoreThanAllSlots) {
  // Windows of two elements, but three distances: 0 and 1, 2 and 1, 2 and 0.
  const std::vector<SlotMove> moves = {{0, 0, 0, 0}, {1, 0, 0, 1}, {0, 1, 1, 0},
                                       {2, 0, 1, 1}, {1, 1, 2, 0}, {2, 1, 2, 1}};
  EXPECT_FALSE(find_rings(moves, 3, 3, 2));
}

constexpr size_t nothing = ~size_t{0};

/// What merges hold, element by slot, after windows of the source.
std::vector<std::vector<size_t>> made(const std::vector<Merge>& merges, size_t sources,
                                      size_t slots) {
  std::vector<std::vector<size_t>> held(sources, std::vector<size_t>(slots));
  for (size_t k = 0; k < sources * slots; ++k) held[k / slots][k % slots] = k;
  for (const Merge& merge : merges) {
    std::vector<size_t> result(slots, nothing);
    for (size_t slot = 0; slot < slots; ++slot) {
      const size_t from = merge.table[slot];
      if (from == program::undefined) continue;
      result[slot] = held[from < slots ? merge.first : merge.second][from % slots];
    }
    held.push_back(std::move(result));
  }
  return held;
}

void expect_all_merged(const std::vector<SlotMove>& moves, const std::vector<Merge>& merges,
                       size_t sources, size_t slots) {
  const std::vector<std::vector<size_t>> held = made(merges, sources, slots);
  std::map<size_t, size_t> node_of_target;
  for (size_t k = 0; k < merges.size(); ++k) {
    if (merges[k].target == Merge::none) continue;
    EXPECT_TRUE(node_of_target.emplace(merges[k].target, sources + k).second);
  }
  for (const SlotMove& move : moves) {
    ASSERT_TRUE(node_of_target.contains(move.target_window));
    EXPECT_EQ(held[node_of_target[move.target_window]][move.target_slot],
              move.source_window * slots + move.source_slot);
  }
}

TEST(PermutationMerges, BringEveryElementOfAnyPermutationToItsSlot) {
  std::mt19937_64 random(2);
  for (const size_t slots : {2, 4, 16, 64}) {
    for (const size_t windows : {1, 2, 3, 5, 8, 13}) {
      std::vector<size_t> sources(slots * windows);
      std::iota(sources.begin(), sources.end(), size_t{0});
      std::shuffle(sources.begin(), sources.end(), random);
      // Some of them repeated, some left out.
      for (size_t k = 0; k < sources.size(); k += 7) sources[k] = sources[k / 2];
      const std::vector<SlotMove> moves = moves_from(sources, slots);
      expect_all_merged(moves, find_merges(moves, windows, windows, slots), windows, slots);
    }
  }
}

TEST(PermutationMerges, TakeAPermuteAWindowAndHalving) {
  struct Row {
    size_t rows, width, windows, merges;
  };
  for (const Row& row : {Row{64, 4, 4, 8}, {64, 8, 8, 24}, {64, 16, 16, 64}, {48, 10, 8, 28}}) {
    const std::vector<SlotMove> moves = moves_from(transposed(row.rows, row.width), 64);
    const std::vector<Merge> merges = find_merges(moves, row.windows, row.windows, 64);
    expect_all_merged(moves, merges, row.windows, 64);
    EXPECT_EQ(merges.size(), row.merges) << row.rows << " x " << row.width;
  }
}

TEST(PermutationMerges, NeedARegisterForWhatIsTakenLater) {
  for (const size_t width : {4, 8, 10, 16}) {
    const size_t windows = width;
    const std::vector<SlotMove> moves = moves_from(transposed(64, width), 64);
    const std::vector<Merge> merges = find_merges(moves, windows, windows, 64);
    const auto is_taken = [&](size_t node, size_t first, size_t end) {
      return std::any_of(merges.begin() + long(first), merges.begin() + long(end),
                         [&](const Merge& m) { return m.first == node || m.second == node; });
    };
    size_t most = 0;
    for (size_t k = 0; k < merges.size(); ++k) {
      size_t live = 1;  // the one that is made
      for (size_t node = 0; node < windows + k; ++node) {
        const bool there = node >= windows || is_taken(node, 0, k + 1);
        live += there && is_taken(node, k, merges.size()) ? 1 : 0;
      }
      most = std::max(most, live);
    }
    EXPECT_EQ(live_registers(merges, windows, true), most) << width;
    EXPECT_LT(live_registers(merges, windows, false), most) << width;
  }
}

}  // namespace
}  // namespace restride
