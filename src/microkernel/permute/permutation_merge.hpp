// Merges: permutes of two registers by which windows of the source become windows of the target,
// half of the targets after the other.
//
//     sources             0 1 2 3 4 5 6 7      all targets from each
//     for targets 0..3    01  23  45  67       what two sources have for half of the targets
//     for targets 0, 1    0123    4567         what these have for half of those
//     for target  0       01234567
//
// So n windows that all have elements for each other take n log2 n permutes, where joining them one
// by one takes n (n - 1) blends. Unlike rings they need not take as much of each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "microkernel/permute/permutation_route.hpp"

namespace restride {

/// A register made of one or two others: windows of the source come first, then merges in order.
struct Merge {
  static constexpr size_t none = std::numeric_limits<size_t>::max();

  size_t first, second;        ///< `none`, where one is permuted alone
  std::vector<uint8_t> table;  ///< as of Op::permute
  size_t target = none;        ///< the window of the target that it is, if it is one
};

/// Merges in the order of the targets. Slots are 0 to `slots` - 1, at most 64.
std::vector<Merge> find_merges(const std::vector<SlotMove>& moves, size_t source_windows,
                               size_t target_windows, size_t slots);

/// How many registers merges need at once; with windows of the source, if those `stay` from their
/// first use on, and are not loaded for each.
size_t live_registers(const std::vector<Merge>& merges, size_t source_windows, bool stay);

}  // namespace restride
