// Permutations of a small block: its source bytes are loaded as whole windows of contiguous bytes,
// permuted in registers by constant tables (permutation_network), and stored as whole windows of
// the target.
//
// Blocks whose runs of the target begin between lines, and do not stay in the caches, leave by
// images in scratch of some blocks that follow each other (shifted_image).
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/arithmetic.hpp"
#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/permute/permutation_network.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/shifted_image.hpp"

namespace restride {
namespace {

using nest::Side;
using program::Body;
using program::lane_bytes;
using program::Reg;

// While so much leaves, what comes next may be in L1 as well: images of 4 KB f32 1.05 for .99 of
// the ceiling, u8 .93 for .86; but of three times 2 KB .87 for .94 and .77 for .82.
constexpr int64_t most_asked_bytes = 4 * 1024;

// Blocks that leave as they are ask for the next one, if it is a page away and more. Zen 4,
// f64[3,1186,814] reversed .22 -> .44 of the ceiling, f32[4,1186,1614] .23 -> .40; two to eight
// ahead .57 to .62 of the time. Of nearer ones for the eighth, if they read several runs: 6
// problems .94 of the time, the 4th or the 16th 1.04 and .95, the first line of each window alone
// .98.
constexpr int64_t least_asked_runs = 4, near_blocks_ahead = 8;

class Permutation {
 public:
  Permutation(const std::vector<Side>& sides, const Strides& at, const Machine& machine,
              Tables& tables)
      : machine_(machine),
        tables_(tables),
        at_(at),
        vector_(permuted_bytes(machine)),
        windows_(window_moves(sides, machine.element_bytes, vector_, machine.reads_between)),
        emitter_(machine.target, machine.vector_bytes) {}

  /// The runs that the block makes of the target, each gone on with by `times` blocks.
  std::vector<ImageRun> images(int64_t times) const {
    std::vector<ImageRun> runs;
    for (const Window& window : windows_.targets) {
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
    const int level = bytes <= most_asked_bytes ? 1 : 2;
    if (machine_.ahead != 0) asked_ = {prefetch_stream, machine_.ahead, level, false};
    return emit();
  }

  /// To the target itself.
  Body emit_alone() {
    if (machine_.streams && machine_.ahead != 0) asked_ = asked_later();
    return emit();
  }

  /// This block and the one that is so far away.
  Body emit_with_sibling(const Strides& sibling) {
    sibling_ = sibling;
    lane_stores_ = lane_stores(windows_.targets, sibling[0], vector_);
    return emit();
  }

  Body emit() {
    WindowSource source{.at = at_[1], .asked = asked_};
    if (sibling_) source.sibling = (*sibling_)[1];
    PermutationNetwork(windows_, source, machine_, tables_, emitter_)
        .emit([this](size_t window, Reg value) { store(window, value); });
    return body_of(emitter_.take());
  }

 private:
  /// What the processor does not read ahead of by itself: a block far away, and several runs of the
  /// source at a time.
  std::optional<AskedWindows> asked_later() const {
    const bool far = std::abs(machine_.ahead) >= machine_.target.page_bytes;
    if (!far && wide_source_runs() < least_asked_runs) return std::nullopt;
    const int64_t blocks = far ? 1 : near_blocks_ahead;
    return AskedWindows{source_stream, blocks * machine_.ahead, machine_.target.asked_level, true};
  }

  /// How many runs of the source the windows of half a line and more are of: narrower ones find
  /// their line there, most often.
  int64_t wide_source_runs() const {
    int64_t runs = 0, end = std::numeric_limits<int64_t>::min();
    for (const Window& window : windows_.sources) {
      const bool wide = 2 * window.bytes >= machine_.target.line_bytes;
      runs += wide && window.begin > end ? 1 : 0;
      end = window.begin + window.bytes;
    }
    return runs;
  }

  void store(size_t number, Reg value) {
    const Window& window = windows_.targets[number];
    const int64_t offset = at_[0] + window.begin;
    if (!images_.empty()) return store_to_image(window, value);
    if (sibling_) return store_lanes(number, value);
    const bool aligned = machine_.alignment % vector_ == 0 && window.begin % vector_ == 0;
    if (aligned && window.bytes == vector_ && vector_ == machine_.vector_bytes) {
      emitter_.store_nontemporal(value, target_stream, offset);
    } else {
      claim(offset, window.bytes);
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
    const auto bytes = static_cast<int>(windows_.targets[store.low.window].bytes);
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
  int64_t vector_;  // what is permuted at once, bytes
  WindowMoves windows_;
  std::optional<Strides> sibling_;      // how far its places are from those of this block
  std::vector<LaneStore> lane_stores_;  // of this block and its sibling
  std::vector<Reg> values_;             // of the windows that are done with
  std::vector<ImageRun> images_;        // where windows of the target go to; none: to the target
  std::optional<AskedWindows> asked_;   // of a later block
  Emitter emitter_;
};

/// Slowest in the target first.
std::vector<Side> in_order_of_target(std::vector<Side> sides) {
  std::stable_sort(sides.begin(), sides.end(),
                   [](const Side& a, const Side& b) { return a.stride[0] > b.stride[0]; });
  return sides;
}

}  // namespace

Body emit_permutation(const nest::Tile& tile, uint32_t block, const Strides& at,
                      const Machine& machine, Tables& tables, int64_t& scratch_bytes) {
  std::vector<Side> sides, repeated;
  Machine each = machine;
  for (size_t k = 0; k < tile.sides.size(); ++k) {
    const Side& side = tile.sides[k];
    ((block >> k & 1) != 0 ? sides : repeated).push_back(side);
    if ((block >> k & 1) == 0 && side.extent > 1)
      each.alignment = std::gcd(each.alignment, side.stride[0]);
  }
  const TileRun repeats(in_order_of_target(repeated));
  if (repeats.extent() == 2 && permuted_bytes(machine) < machine.vector_bytes)
    return Permutation(sides, at, machine, tables).emit_with_sibling(repeats.digits()[0].stride);
  Permutation permutation(sides, at, each, tables);
  const std::vector<ImageRun> images = permutation.images(repeats.extent());
  // Of a tile that is cut they may not go on.
  const bool go_on = std::all_of(images.begin(), images.end(), [&](const ImageRun& run) {
    return repeats.is_contiguous(0, run.bytes / repeats.extent());
  });
  if (repeats.extent() == 1 || !go_on || !can_shift_images(machine)) {
    Body body = permutation.emit_alone();
    for (auto side = repeated.rbegin(); side != repeated.rend(); ++side)
      body = repeat(*side, std::move(body));
    return body;
  }
  const int64_t image_bytes = images.back().image + images.back().bytes;
  scratch_bytes = std::max(scratch_bytes, image_bytes);
  Body body = claim_ends(images, machine);
  append(body, loop_always(repeats.extent(),
                           {repeats.step(source_stream, 1, 1), repeats.step(scratch_stream, 0, 1),
                            repeats.step(prefetch_stream, 1, 1)},
                           permutation.emit_into(images, image_bytes)));
  for (const ImageRun& image : images) append(body, emit_image_out(image, machine, nullptr));
  // All blocks live on one scratch: wherever they stand, they are one unit of work.
  return loop_always(1, {}, std::move(body));
}

}  // namespace restride
