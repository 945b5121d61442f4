// MarkedLoops: the loops of a Schedule in the making, split, marked and moved.
//
//     for a  for b  for c  for d           marked: b and d
//     for a  for c  |  for b  for d        gathered: the tile stands inside
//
// Which of them, and how much, is decided by Scheduler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loop_nest/schedule.hpp"
#include "target/target.hpp"

namespace restride {

/// The space being scheduled. Loops chosen for the tile are marked; they keep their relative order,
/// which keeps coarser loops of an axis outside the finer ones.
class MarkedLoops {
 protected:
  MarkedLoops(const IterationSpace& space, const Target& target);

  /// Where a loop comes to stand: outside, right around the tile, or in it.
  enum class Mark : uint8_t { outside, around, target_run, source_run };

  /// How much of a loop lengthens a run: at most what is wanted, or up to twice of that where this
  /// divides the loop, since a rest takes as much code again; or no more than divides it.
  enum class Length : uint8_t { at_most, about, without_rest };

  IterationSpace& space() { return schedule_.space; }
  Loop& loop(int k) { return schedule_.space.loops[static_cast<size_t>(k)]; }
  Mark& mark(int k) { return marks_[static_cast<size_t>(k)]; }
  int loop_count() const { return static_cast<int>(schedule_.space.loops.size()); }

  /// The loop along which neighbours lie side by side in an operand; -1 if there is none.
  int contiguous(size_t operand);

  /// The unmarked loop that continues a run of `bytes` of an operand and may stand inside all
  /// unmarked loops.
  int next_in_run(size_t operand, int64_t bytes);

  /// Splits loop `k` so that a loop of `factor` iterations stands behind it; returns that loop.
  int split_off(int k, int64_t factor);

  /// Whether no unmarked finer loop of its axis would end up outside of loop `k`. Loops with digits
  /// of their own stay where they are.
  bool movable_inside(int k);

  /// Puts an unmarked loop inside all other unmarked ones.
  void move_inside(int k);

  /// The unmarked loop that may stand inside all unmarked ones and moves an operand least, but so
  /// many bytes; -1 if there is none.
  int nearest(size_t operand, int64_t least_stride);

  /// Of a source with runs of so many bytes: the one in which it goes on behind them, or in the
  /// same line, or else in the same page if that is forgotten meanwhile; -1 if there is none.
  int nearest_source(int64_t run_bytes);

  /// Puts the loop that goes on where a block of an operand ends innermost.
  void go_on(size_t operand);

  /// Marks loops that lengthen a run of an operand from `run` bytes to `wanted`; returns its
  /// length.
  int64_t take_run(size_t operand, int64_t run, int64_t wanted, Mark as,
                   Length length = Length::at_most);

  /// Whether the padding of a loop of the tile can be moved with it.
  bool fills_within(const Loop& loop, Mark mark) const;

  /// Moves the marked loops to their places, each kind in its order.
  void gather_tile();

  const Target& target_;
  Schedule schedule_;
  std::vector<Mark> marks_;
};

}  // namespace restride
