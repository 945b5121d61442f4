// Permutations of a small block: its source bytes are loaded as whole windows of contiguous bytes,
// permuted in registers by constant tables, and stored as whole windows of the target.
//
//     source  R G B R G B R G B ...   3 windows
//     target  R R R ...               window 0: the R of all three by blends, then one permute
//             G G G ...               window 1
//
// Elements go through slots in the middle (permutation_route), so that windows are joined by
// blends. Where there is no such way, or a shorter one, a target window that needs k source windows
// takes k - 1 permutes of two sources. Networks that share partial results between target windows
// are not in here.
//
// Vectors wider than what is permuted hold a window in every lane: that of a block, and that of its
// sibling, which is permuted by the same operations.
//
//     source  R G B R ... | R G B R ...   lanes of one register
//
// Blocks whose runs of the target begin between lines, and do not stay in the caches, leave by
// images in scratch of some blocks that follow each other (shifted_image).
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "arithmetic.hpp"
#include "emitter.hpp"
#include "microkernel.hpp"
#include "permutation_route.hpp"
#include "permuted_windows.hpp"
#include "shifted_image.hpp"

namespace restride {
namespace {

using nest::Side;
using program::Body;
using program::lane_bytes;
using program::Reg;

// While so much leaves, what comes next may be in L1 as well: images of 4 KB f32 1.05 for .99 of
// the ceiling, u8 .93 for .86; but of three times 2 KB .87 for .94 and .77 for .82.
constexpr int64_t most_asked_bytes = 4 * 1024;

/// What is permuted at once: a vector, or a lane of it.
int64_t permuted_bytes(const Machine& machine) {
  return std::min(machine.vector_bytes, machine.target.permute_bytes);
}

class Permutation {
 public:
  Permutation(const std::vector<Side>& sides, const Strides& at, const Machine& machine,
              Tables& tables)
      : machine_(machine),
        tables_(tables),
        at_(at),
        element_(machine.element_bytes),
        vector_(permuted_bytes(machine)),
        slots_(static_cast<size_t>(vector_ / element_)),
        emitter_(machine.target, machine.vector_bytes) {
    const std::vector<ElementMove> moved = element_moves(sides);
    std::vector<int64_t> targets, sources;
    for (const ElementMove& move : moved) {
      targets.push_back(move.target);
      if (!move.filled) sources.push_back(move.source);
    }
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    targets_ = windows(targets, element_, vector_);
    sources_ = windows(sources, element_, vector_);
    if (machine.reads_between) sources_ = bridged(sources_, element_, vector_);
    loaded_.assign(sources_.size(), program::none);
    spread_.assign(sources_.size(), program::none);
    size_t target = 0;
    for (const ElementMove& move : moved) {
      if (move.target >= targets_[target].begin + targets_[target].bytes) ++target;
      if (move.filled) continue;
      const size_t source = source_window(move.source);
      moves_.push_back({source, slot(move.source - sources_[source].begin), target,
                        slot(move.target - targets_[target].begin)});
    }
  }

  /// The runs that the block makes of the target, each gone on with by `times` blocks.
  std::vector<ImageRun> images(int64_t times) const {
    std::vector<ImageRun> runs;
    for (const Window& window : targets_) {
      const int64_t begin = at_[0] + window.begin;
      const bool goes_on = !runs.empty() && runs.back().target + runs.back().bytes == begin;
      if (!goes_on) runs.push_back({0, begin, 0});
      runs.back().bytes += window.bytes;
    }
    int64_t image = 0;
    for (ImageRun& run : runs) {
      run.bytes *= times;
      run.image = std::exchange(image, image + ceil_div(run.bytes, vector_) * vector_);
    }
    return runs;
  }

  /// To images in scratch, of so many bytes together; the source of the next ones is asked for.
  Body emit_into(const std::vector<ImageRun>& images, int64_t bytes) {
    images_ = images;
    asked_level_ = machine_.ahead == 0 ? 0 : bytes <= most_asked_bytes ? 1 : 2;
    return emit();
  }

  /// This block and the one that is so far away.
  Body emit_with_sibling(const Strides& sibling) {
    sibling_ = sibling;
    lane_stores_ = lane_stores(targets_, sibling[0], vector_);
    return emit();
  }

  Body emit() {
    const Route route = find_route(moves_, sources_.size(), targets_.size(), slots_);
    const bool routed = is_shorter(route);
    for (size_t first = 0, window = 0; window < targets_.size(); ++window) {
      const size_t count = moves_to(window, first);
      Reg value = program::none;
      if (count > 0) value = routed ? joined(route, first, count) : chained(first, count);
      store(window, filled(window, value, first, count));
      first += count;
    }
    return body_of(emitter_.take());
  }

 private:
  /// How many moves from `first` on go to a window.
  size_t moves_to(size_t window, size_t first) const {
    size_t end = first;
    while (end < moves_.size() && moves_[end].target_window == window) ++end;
    return end - first;
  }

  /// The register of a window that moves [first, first + count) have been put together in, with its
  /// padding.
  Reg filled(size_t window, Reg moved, size_t first, size_t count) {
    const size_t slots = slot(targets_[window].bytes);
    if (count == slots) return moved;
    const Reg fill = emitter_.constant(machine_.fill_table);
    if (count == 0) return fill;
    std::vector<uint8_t> blend(slots_, program::undefined);
    for (size_t k = 0; k < slots_; ++k) blend[k] = static_cast<uint8_t>(slots_ + k);
    for (size_t k = first; k < first + count; ++k)
      blend[moves_[k].target_slot] = static_cast<uint8_t>(moves_[k].target_slot);
    return emitter_.permute(static_cast<int>(element_), moved, fill, tables_.add(std::move(blend)));
  }

  size_t slot(int64_t bytes) const { return static_cast<size_t>(bytes / element_); }

  size_t source_window(int64_t source) const {
    const auto after =
        std::upper_bound(sources_.begin(), sources_.end(), source,
                         [](int64_t offset, const Window& w) { return offset < w.begin; });
    return static_cast<size_t>(after - sources_.begin()) - 1;
  }

  /// Whether every source window keeps a register of its own, and some are left for results.
  bool keeps_windows() const {
    constexpr size_t reserve = 6;
    return sources_.size() + reserve <= static_cast<size_t>(machine_.target.registers);
  }

  Reg load(size_t window) {
    if (keeps_windows() && loaded_[window] != program::none) return loaded_[window];
    const Window& source = sources_[window];
    const int64_t from = at_[1] + source.begin;
    if (asked_level_ != 0 && loaded_[window] == program::none)
      emitter_.prefetch(prefetch_stream, from + machine_.ahead, asked_level_);
    const auto bytes = static_cast<int>(source.bytes);
    Reg& value = loaded_[window];
    if (!sibling_) {
      value = emitter_.load(source_stream, from, bytes);
    } else if (bytes == vector_ && (*sibling_)[1] == vector_) {
      value = emitter_.load(source_stream, from, 2 * bytes);
    } else {
      value = emitter_.load(source_stream, from, bytes);
      value = emitter_.load_lane(value, source_stream, from + (*sibling_)[1], bytes, lane_bytes);
    }
    return value;
  }

  /// The source windows that some moves come from, each once, in order.
  std::vector<size_t> needed(size_t first, size_t count) const {
    std::vector<size_t> result;
    for (size_t k = first; k < first + count; ++k) result.push_back(moves_[k].source_window);
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  // ---- what a way costs, in halves of a permute

  struct Costs {
    size_t permute = 2, permute_two = 2, blend = 1;
  };
  Costs costs() const {
    // Within lanes two registers are permuted each, and put together; bytes are blended so, too.
    if (permutes_lanes(machine_.target)) return {2, 6, element_ == 1 ? size_t{6} : size_t{2}};
    const bool steps = element_ < 4 && machine_.target.narrow_permute_steps > 1;
    return {2, steps ? size_t{5} : size_t{2}, 1};
  }

  bool is_shorter(const Route& route) const {
    if (route.kind == RouteKind::none) return false;
    if (route.kind != RouteKind::source && !keeps_windows()) return false;
    const auto [permute, permute_two, blend] = costs();
    size_t chain = 0, blends = 0;
    for (size_t first = 0, window = 0; window < targets_.size(); ++window) {
      const size_t count = moves_to(window, first);
      if (count == 0) continue;
      const size_t windows = needed(first, count).size();
      chain += windows == 1 ? permute : (windows - 1) * permute_two;
      blends += windows - 1;
      first += count;
    }
    const size_t before = route.kind == RouteKind::source ? 0 : sources_.size();
    const size_t after = route.kind == RouteKind::target ? 0 : targets_.size();
    return (before + after) * permute + blends * blend < chain;
  }

  // ---- by slots in the middle

  /// The register of a source window with its elements in their slots in the middle.
  Reg spread(const Route& route, size_t window) {
    if (route.kind == RouteKind::source) return load(window);
    if (spread_[window] != program::none) return spread_[window];
    std::vector<uint8_t> table(slots_, program::undefined);
    for (size_t k = 0; k < moves_.size(); ++k) {
      if (moves_[k].source_window != window) continue;
      table[route.middle[k]] = static_cast<uint8_t>(moves_[k].source_slot);
    }
    spread_[window] = permute(load(window), std::move(table));
    return spread_[window];
  }

  /// The register that holds moves [first, first + count) side by side.
  Reg joined(const Route& route, size_t first, size_t count) {
    Reg result = program::none;
    for (const size_t window : needed(first, count)) {
      const Reg part = spread(route, window);
      if (result == program::none) {
        result = part;
        continue;
      }
      std::vector<uint8_t> blend(slots_);
      for (size_t k = 0; k < slots_; ++k) blend[k] = static_cast<uint8_t>(k);
      for (size_t k = first; k < first + count; ++k) {
        const size_t middle = route.middle[k];
        if (moves_[k].source_window == window)
          blend[middle] = static_cast<uint8_t>(slots_ + middle);
      }
      result =
          emitter_.permute(static_cast<int>(element_), result, part, tables_.add(std::move(blend)));
    }
    if (route.kind == RouteKind::target) return result;
    std::vector<uint8_t> table(slots_, program::undefined);
    for (size_t k = first; k < first + count; ++k)
      table[moves_[k].target_slot] = static_cast<uint8_t>(route.middle[k]);
    return permute(result, std::move(table));
  }

  /// Permutes one register. Bytes are permuted in one step everywhere, pairs of them are not.
  Reg permute(Reg value, std::vector<uint8_t> table) {
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

  // ---- one target window after the other

  /// The register that holds moves [first, first + count) side by side.
  Reg chained(size_t first, size_t count) {
    const std::vector<size_t> windows = needed(first, count);
    Reg result = load(windows[0]);
    for (size_t n = windows.size() == 1 ? 0 : 1; n < windows.size(); ++n) {
      std::vector<uint8_t> table(slots_, program::undefined);
      for (size_t k = first; k < first + count; ++k) {
        const SlotMove& move = moves_[k];
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

  void store(size_t number, Reg value) {
    const Window& window = targets_[number];
    const int64_t offset = at_[0] + window.begin;
    if (!images_.empty()) return store_to_image(window, value);
    if (sibling_) return store_lanes(number, value);
    claim(offset, window.bytes);
    const bool aligned = machine_.alignment % vector_ == 0 && window.begin % vector_ == 0;
    if (aligned && window.bytes == vector_ && vector_ == machine_.vector_bytes) {
      emitter_.store_nontemporal(value, target_stream, offset);
    } else {
      emitter_.store(value, target_stream, offset, static_cast<int>(window.bytes));
    }
  }

  /// Asks for what lies behind some bytes that are written: a line for each vector, or for each
  /// line where vectors are shorter.
  void claim(int64_t offset, int64_t bytes) {
    if (machine_.claimed_ahead == 0) return;
    if (vector_ < machine_.target.line_bytes) {
      emitter_.claim_ahead(offset, bytes, machine_.claimed_ahead);
    } else if (2 * bytes > vector_) {
      emitter_.claim(offset + machine_.claimed_ahead);
    }
  }

  /// Stores what can leave once window `number`, the last one so far, is there.
  void store_lanes(size_t number, Reg value) {
    values_.push_back(value);
    for (const LaneStore& store : lane_stores_) {
      if (store.after == number) store_lane(store);
    }
  }

  void store_lane(const LaneStore& store) {
    const Reg low = values_[store.low.window];
    const int64_t offset = at_[0] + store.offset;
    const int whole = machine_.vector_bytes;
    const auto bytes = static_cast<int>(targets_[store.low.window].bytes);
    claim(offset, store.high ? whole : bytes);
    if (!store.high)
      return emitter_.store_lane(low, target_stream, offset, bytes, store.low.lane * lane_bytes);
    const Reg high = values_[store.high->window];
    const bool in_place = low == high && store.low.lane < store.high->lane;
    const Reg both =
        in_place ? low : emitter_.lanes(low, high, store.low.lane | store.high->lane << 1);
    if (machine_.alignment % whole == 0 && store.offset % whole == 0)
      return emitter_.store_nontemporal(both, target_stream, offset);
    emitter_.store(both, target_stream, offset, whole);
  }

  void store_to_image(const Window& window, Reg value) {
    const int64_t offset = at_[0] + window.begin;
    const auto after =
        std::upper_bound(images_.begin(), images_.end(), offset,
                         [](int64_t at, const ImageRun& run) { return at < run.target; });
    const ImageRun& run = *(after - 1);
    emitter_.store(value, scratch_stream, run.image + offset - run.target,
                   static_cast<int>(window.bytes));
  }

  const Machine& machine_;
  Tables& tables_;
  Strides at_;
  int64_t element_;
  int64_t vector_;                      // what is permuted at once, bytes
  size_t slots_;                        // of that
  std::optional<Strides> sibling_;      // how far its places are from those of this block
  std::vector<LaneStore> lane_stores_;  // of this block and its sibling
  std::vector<Reg> values_;             // of the windows that are done with
  std::vector<SlotMove> moves_;         // in the order of the target
  std::vector<Window> targets_, sources_;
  std::vector<Reg> loaded_, spread_;
  std::vector<ImageRun> images_;  // where windows of the target go to; none: to the target
  int asked_level_ = 0;           // of the caches, for the next source; 0: it is not asked for
  Emitter emitter_;
};

}  // namespace

Body emit_permutation(const nest::Tile& tile, uint32_t block, const Strides& at,
                      const Machine& machine, Tables& tables, int64_t& scratch_bytes) {
  std::vector<Side> sides;
  Side repeats{1, {}};
  for (size_t k = 0; k < tile.sides.size(); ++k) {
    if ((block >> k & 1) != 0) {
      sides.push_back(tile.sides[k]);
    } else {
      repeats = tile.sides[k];
    }
  }
  if (repeats.extent == 2 && permuted_bytes(machine) < machine.vector_bytes)
    return Permutation(sides, at, machine, tables).emit_with_sibling(repeats.stride);
  Machine each = machine;
  if (repeats.extent > 1) each.alignment = std::gcd(machine.alignment, repeats.stride[0]);
  Permutation permutation(sides, at, each, tables);
  const std::vector<ImageRun> images = permutation.images(repeats.extent);
  // Of a tile that is cut they may not go on.
  const bool go_on = std::all_of(images.begin(), images.end(), [&](const ImageRun& run) {
    return run.bytes == repeats.extent * repeats.stride[0];
  });
  if (repeats.extent == 1 || !go_on || !can_shift_images(machine))
    return repeat(repeats, permutation.emit());
  const int64_t image_bytes = images.back().image + images.back().bytes;
  scratch_bytes = std::max(scratch_bytes, image_bytes);
  Body body = claim_ends(images, machine);
  append(body, loop_always(repeats.extent,
                           {{source_stream, repeats.stride[1]},
                            {scratch_stream, repeats.stride[0]},
                            {prefetch_stream, repeats.stride[1]}},
                           permutation.emit_into(images, image_bytes)));
  for (const ImageRun& image : images) append(body, emit_image_out(image, machine, nullptr));
  // All blocks live on one scratch: wherever they stand, they are one unit of work.
  return loop_always(1, {}, std::move(body));
}

}  // namespace restride
