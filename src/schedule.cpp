// IterationSpace -> Schedule: which loops a tile is made of, how large it is, and the order of the
// loops around it.
//
// The loop that is contiguous in the target decides. Where the source is contiguous along it too,
// rows are copied; where it repeats there, rows are splatted; else the loops that make runs of the
// target meet the loops that make runs of the source in a transpose, and both are walked in blocks
// that keep the lines of either side in the cache until they are used up.
#include "schedule.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "arithmetic.hpp"
#include "rewrites.hpp"

namespace restride {
namespace {

// A unit of a long copy or fill: long enough that starting it costs nothing, short enough to share
// out.
constexpr int64_t row_chunk_bytes = 16 * 1024;
// A tile of short rows is unrolled up to this many vectors.
constexpr int64_t row_tile_vectors = 16;

/// The space being scheduled. Loops chosen for the tile are marked; they keep their relative order,
/// which keeps coarser loops of an axis outside the finer ones.
class Scheduler {
 public:
  Scheduler(const IterationSpace& space, const Target& target) : target_(target), schedule_{space} {
    marks_.assign(space.loops.size(), Mark::outside);
  }

  Schedule run() {
    const int innermost = contiguous(0);
    const bool computes = std::none_of(space().axes.begin(), space().axes.end(),
                                       [](const Axis& axis) { return axis.valid == 0; });
    if (innermost >= 0 && (!computes || loop(innermost).stride[1] == space().op.bytes)) {
      rows(Movement::row, innermost);
    } else if (innermost >= 0 && loop(innermost).stride[1] == 0) {
      rows(Movement::splat, innermost);
    } else {
      transpose();
    }
    gather_tile();
    return std::move(schedule_);
  }

 private:
  enum class Mark : uint8_t { outside, target_run, source_run };

  IterationSpace& space() { return schedule_.space; }
  Loop& loop(int k) { return schedule_.space.loops[static_cast<size_t>(k)]; }
  Mark& mark(int k) { return marks_[static_cast<size_t>(k)]; }
  int loop_count() const { return static_cast<int>(schedule_.space.loops.size()); }

  /// The loop along which neighbours lie side by side in an operand; -1 if there is none.
  int contiguous(size_t operand) { return next_in_run(operand, space().op.bytes); }

  /// The unmarked loop that continues a run of `bytes` of an operand and may stand inside all
  /// unmarked loops.
  int next_in_run(size_t operand, int64_t bytes) {
    for (int k = 0; k < loop_count(); ++k) {
      if (mark(k) != Mark::outside || loop(k).stride[operand] != bytes) continue;
      if (operand != 0 && loop(k).stride[0] == 0) continue;
      bool finest = true;
      for (int j = 0; j < loop_count(); ++j) {
        finest = finest && (j == k || mark(j) != Mark::outside || loop(j).axis != loop(k).axis ||
                            loop(j).step > loop(k).step);
      }
      if (finest) return k;
    }
    return -1;
  }

  /// Splits loop `k` so that a loop of `factor` iterations stands behind it; returns that loop.
  int split_off(int k, int64_t factor) {
    if (loop(k).extent <= factor) return k;
    split(space(), static_cast<size_t>(k), factor);
    marks_.insert(marks_.begin() + k + 1, Mark::outside);
    return k + 1;
  }

  void rows(Movement movement, int innermost) {
    schedule_.movement = movement;
    const int64_t bytes = space().op.bytes;
    const int run = split_off(innermost, std::max<int64_t>(1, row_chunk_bytes / bytes));
    mark(run) = Mark::target_run;
    // Short rows: some of them share a tile. The loop next inside in the order of the target keeps
    // writes close.
    int64_t room = row_tile_vectors / ceil_div(loop(run).extent * bytes, target_.vector_bytes);
    for (int k = loop_count() - 1; k >= 0 && room > 1; --k) {
      if (mark(k) != Mark::outside || !movable_inside(k)) continue;
      const int64_t extent = loop(k).extent;
      mark(split_off(k, room)) = Mark::target_run;
      room /= extent;
    }
  }

  /// Whether no unmarked finer loop of its axis would end up outside of loop `k`.
  bool movable_inside(int k) {
    for (int j = 0; j < loop_count(); ++j) {
      if (mark(j) == Mark::outside && loop(j).axis == loop(k).axis && loop(j).step < loop(k).step)
        return false;
    }
    return true;
  }

  /// Marks loops that make a run of an operand until it has `wanted` bytes.
  void take_run(size_t operand, int64_t wanted, Mark as) {
    int64_t run = space().op.bytes;
    while (run < wanted) {
      const int k = next_in_run(operand, run);
      if (k < 0) return;
      const int64_t extent = loop(k).extent, room = std::max<int64_t>(1, wanted / run);
      if (room == 1) return;
      const int inner = split_off(k, room);
      mark(inner) = as;
      if (inner != k) return;
      run *= extent;
    }
  }

  void transpose() {
    schedule_.movement = Movement::transpose;
    take_run(0, target_.vector_bytes, Mark::target_run);
    const bool narrow = space().op.bytes < 4;
    take_run(1, narrow ? 16 : 64, Mark::source_run);
    if (std::all_of(marks_.begin(), marks_.end(),
                    [](Mark each) { return each == Mark::outside; }) &&
        loop_count() > 0) {
      // Nothing is contiguous: some elements a tile, one by one.
      for (int k = loop_count() - 1; k >= 0; --k) {
        if (!movable_inside(k)) continue;
        mark(split_off(k, 8)) = Mark::target_run;
        break;
      }
    }
    block();
  }

  /// Blocks of the two loops that the tile was cut from, so that lines are used up while they are
  /// in the cache.
  void block() {
    const int columns = outside_of(Mark::source_run), rows = outside_of(Mark::target_run);
    if (columns < 0 || rows < 0 || columns == rows) return;
    // Provisional sizes: 64 to 128 elements a side keep both sides of a block within L1.
    const int64_t row_tiles = 2, column_tiles = space().op.bytes < 4 ? 4 : 4;
    split_outside(std::max(columns, rows), columns > rows ? column_tiles : row_tiles);
    split_outside(std::min(columns, rows), columns < rows ? column_tiles : row_tiles);
  }

  /// The unmarked loop directly outside the coarsest one with a mark: what split_off left; -1 if
  /// nothing was left.
  int outside_of(Mark as) {
    for (int k = 0; k + 1 < loop_count(); ++k) {
      const bool left = mark(k) == Mark::outside && mark(k + 1) == as &&
                        loop(k).axis == loop(k + 1).axis &&
                        loop(k).step == loop(k + 1).step * loop(k + 1).extent;
      if (left) return k;
    }
    return -1;
  }

  void split_outside(int k, int64_t factor) {
    if (loop(k).extent <= factor) return;
    split(space(), static_cast<size_t>(k), factor);
    marks_.insert(marks_.begin() + k + 1, Mark::outside);
    // The block loop goes as far inside as its axis allows.
    int to = k + 1;
    while (to + 1 < loop_count() && loop(to + 1).axis != loop(k).axis) ++to;
    move_loop(space(), static_cast<size_t>(k) + 1, static_cast<size_t>(to));
    const Mark moved = marks_[static_cast<size_t>(k) + 1];
    marks_.erase(marks_.begin() + k + 1);
    marks_.insert(marks_.begin() + to, moved);
  }

  /// Moves the marked loops inside, in their order.
  void gather_tile() {
    std::vector<Loop> outside, tile;
    uint32_t target_run = 0;
    for (int k = 0; k < loop_count(); ++k) {
      if (mark(k) == Mark::outside) {
        outside.push_back(loop(k));
      } else {
        if (mark(k) == Mark::target_run) target_run |= uint32_t{1} << tile.size();
        tile.push_back(loop(k));
      }
    }
    schedule_.tile_loops = static_cast<int>(tile.size());
    schedule_.target_run = target_run;
    outside.insert(outside.end(), tile.begin(), tile.end());
    space().loops = std::move(outside);
  }

  const Target& target_;
  Schedule schedule_;
  std::vector<Mark> marks_;
};

}  // namespace

Schedule schedule(const IterationSpace& simplified, const Target& target) {
  return Scheduler(simplified, target).run();
}

std::string to_string(Movement movement) {
  switch (movement) {
    case Movement::row:
      return "row";
    case Movement::splat:
      return "splat";
    case Movement::transpose:
      return "transpose";
  }
  return "";
}

std::string to_string(const Schedule& schedule) {
  std::string text = to_string(schedule.movement) + ", the innermost " +
                     std::to_string(schedule.tile_loops) + " loops are tiles" +
                     (schedule.nontemporal ? ", non-temporal stores" : "") + '\n';
  return text + to_string(schedule.space);
}

}  // namespace restride
