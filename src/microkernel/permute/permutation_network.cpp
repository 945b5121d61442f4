// See permutation_network.hpp.
#include "microkernel/permute/permutation_network.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace restride {

using program::lane_bytes;
using program::Reg;

int64_t permuted_bytes(const Machine& machine) {
  return std::min(machine.vector_bytes, machine.target.permute_bytes);
}

namespace {

// Rings blend through few masks, which stay in registers; every merge loads a table. Zen 4: merges
// in place of rings u8 8 x 192 1.09, u8 8 x 295 1.16, u8[16,2,16]{0,2,1} 1.09 of the time.
constexpr size_t ring_fifths = 4;

/// How many windows of the source each of the target joins.
std::vector<size_t> joined_windows(const WindowMoves& windows) {
  std::vector<size_t> joined(windows.targets.size());
  std::vector<size_t> last(windows.sources.size(), joined.size());  // target that each went to
  for (const SlotMove& move : windows.moves) {
    if (std::exchange(last[move.source_window], move.target_window) != move.target_window)
      ++joined[move.target_window];
  }
  return joined;
}

}  // namespace

bool fits_registers(int64_t places, const Target& target) {
  constexpr int64_t reserve = 4;  // of what is on its way, and padding
  return places + reserve <= target.registers;
}

bool fits_registers(const RingRoute& route, const Target& target) {
  return std::all_of(route.rings.begin(), route.rings.end(), [&](const Ring& ring) {
    return fits_registers(static_cast<int64_t>(ring.places), target);
  });
}

PermutationNetwork::PermutationNetwork(const WindowMoves& windows, const WindowSource& source,
                                       const Machine& machine, Tables& tables, Emitter& emitter)
    : windows_(windows),
      source_(source),
      machine_(machine),
      tables_(tables),
      emitter_(emitter),
      element_(machine.element_bytes),
      vector_(permuted_bytes(machine)),
      slots_(static_cast<size_t>(vector_ / element_)),
      loaded_(windows.sources.size(), program::none),
      spread_(windows.sources.size(), program::none),
      joined_(joined_windows(windows)),
      stay_(windows_fit()) {}

void PermutationNetwork::emit(const Leave& leave) {
  const Route route =
      find_route(windows_.moves, windows_.sources.size(), windows_.targets.size(), slots_);
  const bool routed = is_shorter(route);
  const size_t most = routed ? cost(route) : cost_of_chains();
  const std::optional<RingRoute> rings = shorter_rings(most);
  const std::vector<Merge> merges = shorter_merges(rings ? cost(*rings) * ring_fifths / 5 : most);
  if (!merges.empty()) return emit_merges(merges, leave);
  if (rings) {
    const std::vector<uint64_t> spread =
        spread_slots(windows_.moves, rings->middle, windows_.sources.size());
    for (const Ring& ring : rings->rings) emit_ring(*rings, ring, at_places(ring, spread), leave);
    return;
  }
  for (size_t first = 0, window = 0; window < windows_.targets.size(); ++window) {
    const size_t count = moves_to(window, first);
    Reg value = program::none;
    if (count > 0) value = routed ? joined(route, first, count) : chained(first, count);
    leave(window, filled(window, value, first, count));
    first += count;
  }
}

/// How many moves from `first` on go to a window.
size_t PermutationNetwork::moves_to(size_t window, size_t first) const {
  size_t end = first;
  while (end < windows_.moves.size() && windows_.moves[end].target_window == window) ++end;
  return end - first;
}

/// The register of a window that moves [first, first + count) have been put together in, with its
/// padding.
Reg PermutationNetwork::filled(size_t window, Reg moved, size_t first, size_t count) {
  const auto slots = static_cast<size_t>(windows_.targets[window].bytes / element_);
  if (count == slots) return moved;
  const Reg fill = emitter_.constant(machine_.fill_table);
  if (count == 0) return fill;
  std::vector<uint8_t> blend(slots_, program::undefined);
  for (size_t k = 0; k < slots_; ++k) blend[k] = static_cast<uint8_t>(slots_ + k);
  for (size_t k = first; k < first + count; ++k)
    blend[windows_.moves[k].target_slot] = static_cast<uint8_t>(windows_.moves[k].target_slot);
  return emitter_.permute(static_cast<int>(element_), moved, fill, tables_.add(std::move(blend)));
}

/// Whether every source window keeps a register of its own, and some are left for results.
bool PermutationNetwork::windows_fit() const {
  constexpr size_t reserve = 6;
  return windows_.sources.size() + reserve <= static_cast<size_t>(machine_.target.registers);
}

void PermutationNetwork::ask(int64_t from, int64_t bytes) {
  const AskedWindows& asked = *source_.asked;
  emitter_.prefetch(asked.stream, from + asked.ahead, asked.level);
  if (asked.both_lines && 2 * bytes >= machine_.target.line_bytes)
    emitter_.prefetch(asked.stream, from + asked.ahead + bytes - 1, asked.level);
}

Reg PermutationNetwork::load(size_t window) {
  if (stay_ && loaded_[window] != program::none) return loaded_[window];
  const Window& part = windows_.sources[window];
  const int64_t from = source_.at + part.begin;
  if (source_.asked && loaded_[window] == program::none) ask(from, part.bytes);
  const auto bytes = static_cast<int>(part.bytes);
  Reg& value = loaded_[window];
  if (!source_.sibling) {
    value = emitter_.load(source_stream, from, bytes);
  } else if (bytes == vector_ && *source_.sibling == vector_) {
    value = emitter_.load(source_stream, from, 2 * bytes);
  } else {
    value = emitter_.load(source_stream, from, bytes);
    value = emitter_.load_lane(value, source_stream, from + *source_.sibling, bytes, lane_bytes);
  }
  return value;
}

/// The source windows that some moves come from, each once, in order.
std::vector<size_t> PermutationNetwork::needed(size_t first, size_t count) const {
  std::vector<size_t> result;
  for (size_t k = first; k < first + count; ++k) result.push_back(windows_.moves[k].source_window);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

// ---- what a way costs, in halves of a permute

struct PermutationNetwork::Costs {
  size_t permute = 2, permute_two = 2, blend = 1;
};

PermutationNetwork::Costs PermutationNetwork::costs() const {
  // Within lanes two registers are permuted each, and put together; bytes are blended so, too.
  if (permutes_lanes(machine_.target)) return {2, 6, element_ == 1 ? size_t{6} : size_t{2}};
  const bool steps = element_ < 4 && machine_.target.narrow_permute_steps > 1;
  return {2, steps ? size_t{5} : size_t{2}, 1};
}

bool PermutationNetwork::is_shorter(const Route& route) const {
  if (route.kind == RouteKind::none) return false;
  if (route.kind != RouteKind::source && !stay_) return false;
  return cost(route) < cost_of_chains();
}

std::optional<RingRoute> PermutationNetwork::shorter_rings(size_t most) const {
  const size_t permutes = windows_.sources.size() + windows_.targets.size();
  // Within lanes a blend of bytes takes as much as a permute.
  if (permutes_lanes(machine_.target) || permutes * costs().permute >= most) return std::nullopt;
  std::optional<RingRoute> rings =
      find_rings(windows_.moves, windows_.sources.size(), windows_.targets.size(), slots_);
  if (!rings || !fits_registers(*rings, machine_.target)) return std::nullopt;
  return cost(*rings) < most ? std::move(rings) : std::nullopt;
}

std::vector<Merge> PermutationNetwork::shorter_merges(size_t most) const {
  const size_t sources = windows_.sources.size(), targets = windows_.targets.size();
  if (permutes_lanes(machine_.target) || expected_merges() * costs().permute_two >= most) return {};
  std::vector<Merge> merges = find_merges(windows_.moves, sources, targets, slots_);
  const auto registers = static_cast<int64_t>(live_registers(merges, sources, stay_));
  const bool shorter = merges.size() * costs().permute_two < most;
  if (!shorter || !fits_registers(registers, machine_.target)) return {};
  return merges;
}

/// About as many as there are, before every element is followed: one for each halving of what a
/// window joins and a third as many again, but no fewer than one takes alone.
size_t PermutationNetwork::expected_merges() const {
  size_t halvings = 0, alone = 0;
  for (const size_t windows : joined_) {
    if (windows > 0)
      halvings += std::max<size_t>(1, static_cast<size_t>(std::bit_width(windows - 1)));
    alone = std::max(alone, windows);
  }
  return std::max(halvings + halvings / 3, alone);
}

size_t PermutationNetwork::cost_of_chains() const {
  const Costs costs = this->costs();
  size_t cost = 0;
  for (const size_t windows : joined_) {
    if (windows > 0) cost += windows == 1 ? costs.permute : (windows - 1) * costs.permute_two;
  }
  return cost;
}

size_t PermutationNetwork::cost(const RingRoute& rings) const {
  const size_t permutes = windows_.sources.size() + windows_.targets.size();
  return permutes * costs().permute + rings.blends * costs().blend;
}

size_t PermutationNetwork::cost(const Route& route) const {
  size_t blends = 0;
  for (const size_t windows : joined_) blends += windows > 0 ? windows - 1 : 0;
  const size_t before = route.kind == RouteKind::source ? 0 : windows_.sources.size();
  const size_t after = route.kind == RouteKind::target ? 0 : windows_.targets.size();
  return (before + after) * costs().permute + blends * costs().blend;
}

// ---- by slots in the middle

/// The register of a source window with its elements in their slots in the middle.
Reg PermutationNetwork::spread(const std::vector<size_t>& middle, size_t window) {
  if (spread_[window] != program::none) return spread_[window];
  if (spread_tables_.empty()) {
    spread_tables_.assign(spread_.size(), std::vector<uint8_t>(slots_, program::undefined));
    for (size_t k = 0; k < windows_.moves.size(); ++k) {
      const SlotMove& move = windows_.moves[k];
      spread_tables_[move.source_window][middle[k]] = static_cast<uint8_t>(move.source_slot);
    }
  }
  spread_[window] = permute(load(window), std::move(spread_tables_[window]));
  return spread_[window];
}

/// The register that holds moves [first, first + count) side by side.
Reg PermutationNetwork::joined(const Route& route, size_t first, size_t count) {
  Reg result = program::none;
  for (const size_t window : needed(first, count)) {
    const Reg part = route.kind == RouteKind::source ? load(window) : spread(route.middle, window);
    if (result == program::none) {
      result = part;
      continue;
    }
    std::vector<uint8_t> blend(slots_);
    for (size_t k = 0; k < slots_; ++k) blend[k] = static_cast<uint8_t>(k);
    for (size_t k = first; k < first + count; ++k) {
      const size_t middle = route.middle[k];
      if (windows_.moves[k].source_window == window)
        blend[middle] = static_cast<uint8_t>(slots_ + middle);
    }
    result =
        emitter_.permute(static_cast<int>(element_), result, part, tables_.add(std::move(blend)));
  }
  return route.kind == RouteKind::target ? result : gathered(route.middle, result, first, count);
}

/// The register of moves [first, first + count), which are all in `value`, in the slots of their
/// target.
Reg PermutationNetwork::gathered(const std::vector<size_t>& middle, Reg value, size_t first,
                                 size_t count) {
  std::vector<uint8_t> table(slots_, program::undefined);
  for (size_t k = first; k < first + count; ++k)
    table[windows_.moves[k].target_slot] = static_cast<uint8_t>(middle[k]);
  return permute(value, std::move(table));
}

/// Permutes one register. Bytes are permuted in one step everywhere, pairs of them are not.
Reg PermutationNetwork::permute(Reg value, std::vector<uint8_t> table) {
  bool identity = true;
  for (size_t k = 0; k < table.size(); ++k) {
    identity = identity && (table[k] == k || table[k] == program::undefined);
  }
  if (identity) return value;
  if (element_ != 2 || machine_.target.permute_width != 1) {
    return emitter_.permute(static_cast<int>(element_), value, program::none,
                            tables_.add(std::move(table)));
  }
  std::vector<uint8_t> bytes;
  for (const uint8_t entry : table) {
    const bool chosen = entry != program::undefined;
    bytes.push_back(chosen ? static_cast<uint8_t>(2 * entry) : entry);
    bytes.push_back(chosen ? static_cast<uint8_t>(2 * entry + 1) : entry);
  }
  return emitter_.permute(1, value, program::none, tables_.add(std::move(bytes)));
}

// ---- by rings

void PermutationNetwork::emit_ring(const RingRoute& route, const Ring& ring,
                                   std::vector<uint64_t> held, const Leave& leave) {
  std::vector<Reg> values(ring.places, program::none);
  for (size_t place = 0; place < ring.sources.size(); ++place)
    values[place] = spread(route.middle, ring.sources[place]);
  for (size_t distance = 1; distance < ring.places; distance *= 2) {
    const uint64_t moving = moving_slots(ring, distance);
    std::vector<uint8_t> blend(slots_);
    for (size_t k = 0; k < slots_; ++k)
      blend[k] = static_cast<uint8_t>((moving >> k & 1) != 0 ? slots_ + k : k);
    const int table = tables_.add(std::move(blend));
    std::vector<Reg> behind(ring.places, program::none);
    for (const RingStep& step : ring_steps(ring, distance, held)) {
      const Reg here = values[step.place], there = values[step.from];
      behind[step.place] = !step.comes ? here
                           : !step.stays
                               ? there
                               : emitter_.permute(static_cast<int>(element_), here, there, table);
    }
    values = std::move(behind);
  }
  for (size_t place = 0; place < ring.targets.size(); ++place) {
    const size_t window = ring.targets[place], first = first_move_to(window);
    const size_t count = moves_to(window, first);
    const Reg value =
        count == 0 ? program::none : gathered(route.middle, values[place], first, count);
    leave(window, filled(window, value, first, count));
  }
}

size_t PermutationNetwork::first_move_to(size_t window) const {
  const auto is_before = [](const SlotMove& move, size_t target) {
    return move.target_window < target;
  };
  const auto found =
      std::lower_bound(windows_.moves.begin(), windows_.moves.end(), window, is_before);
  return static_cast<size_t>(found - windows_.moves.begin());
}

// ---- by merges

void PermutationNetwork::emit_merges(const std::vector<Merge>& merges, const Leave& leave) {
  const size_t sources = windows_.sources.size();
  std::vector<Reg> made;
  const auto value_of = [&](size_t node) {
    if (node == Merge::none) return program::none;
    return node < sources ? load(node) : made[node - sources];
  };
  size_t window = 0;
  const auto leave_until = [&](size_t end, Reg value) {
    for (; window < end; ++window) {
      const size_t first = first_move_to(window), count = moves_to(window, first);
      leave(window, filled(window, value, first, count));
    }
  };
  for (const Merge& merge : merges) {
    const Reg first = value_of(merge.first), second = value_of(merge.second);
    made.push_back(second == program::none ? permute(first, merge.table)
                                           : emitter_.permute(static_cast<int>(element_), first,
                                                              second, tables_.add(merge.table)));
    if (merge.target == Merge::none) continue;
    // Windows of padding alone have none.
    leave_until(merge.target, program::none);
    leave_until(merge.target + 1, made.back());
  }
  leave_until(windows_.targets.size(), program::none);
}

// ---- one target window after the other

/// The register that holds moves [first, first + count) side by side.
Reg PermutationNetwork::chained(size_t first, size_t count) {
  const std::vector<size_t> windows = needed(first, count);
  Reg result = load(windows[0]);
  for (size_t n = windows.size() == 1 ? 0 : 1; n < windows.size(); ++n) {
    std::vector<uint8_t> table(slots_, program::undefined);
    for (size_t k = first; k < first + count; ++k) {
      const SlotMove& move = windows_.moves[k];
      uint8_t& entry = table[move.target_slot];
      if (n > 0 && move.source_window == windows[n]) {
        entry = static_cast<uint8_t>(slots_ + move.source_slot);
      } else if (move.source_window == windows[0] && n <= 1) {
        entry = static_cast<uint8_t>(move.source_slot);
      } else if (move.source_window < windows[n]) {
        entry = static_cast<uint8_t>(move.target_slot);
      }
    }
    if (n == 0) return permute(result, std::move(table));
    result = emitter_.permute(static_cast<int>(element_), result, load(windows[n]),
                              tables_.add(std::move(table)));
  }
  return result;
}

}  // namespace restride
