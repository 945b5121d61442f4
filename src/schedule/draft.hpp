// Draft: a Schedule in the making, whose loops are split, marked and moved.
//
//     for a  for b  for c  for d           marked: b and d
//     for a  for c  |  for b  for d        gathered: the tile stands inside
//
// Which of them, and how much, is decided by the movements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "loop_nest/schedule.hpp"
#include "schedule/scheduling.hpp"
#include "target/target.hpp"

namespace restride::scheduling {

/// Where a loop comes to stand: outside, right around the tile, or in it.
enum class Mark : uint8_t { outside, around, target_run, source_run };

/// How much of a loop lengthens a run: at most what is wanted, or up to a quarter more or twice of
/// that where this divides the loop, since a rest takes as much code again; or no more than divides
/// it. A quarter more is to make whole lines, too.
enum class Length : uint8_t { at_most, quarter_more, about, without_rest };

/// The space being scheduled, and what is decided of it. Loops chosen for the tile are marked; they
/// keep their relative order, which keeps coarser loops of an axis outside the finer ones.
class Draft {
 public:
  /// Of a target that outlives the draft; the rest as schedule() takes it.
  Draft(const IterationSpace& space, const Target& target, CodeGoal goal, bool begins_line);

  const Target& target() const { return *target_; }
  CodeGoal goal() const { return goal_; }
  bool is_part() const { return restride::is_part(goal_); }
  /// Whether the target's pointer stands on a line.
  bool begins_line() const { return begins_line_; }
  /// How many bytes of an operand the space touches, gaps included.
  int64_t extent_bytes(int operand) const { return extent_bytes_[static_cast<size_t>(operand)]; }
  /// Of target and source together.
  int64_t both_extent_bytes() const { return extent_bytes(0) + extent_bytes(1); }

  Schedule& schedule() { return schedule_; }
  const Schedule& schedule() const { return schedule_; }
  IterationSpace& space() { return schedule_.space; }
  const IterationSpace& space() const { return schedule_.space; }
  Loop& loop(int k) { return schedule_.space.loops[static_cast<size_t>(k)]; }
  const Loop& loop(int k) const { return schedule_.space.loops[static_cast<size_t>(k)]; }
  Mark& mark(int k) { return marks_[static_cast<size_t>(k)]; }
  Mark mark(int k) const { return marks_[static_cast<size_t>(k)]; }
  int loop_count() const { return static_cast<int>(schedule_.space.loops.size()); }

  /// Begins anew with a space in which nothing is marked. All else that is decided stays.
  void begin_anew(IterationSpace space);

  /// Decides anew, from `undecided` on; all stays as it is where `decide` says false.
  template <typename Decide>
  bool instead(Schedule undecided, const Decide& decide);

  /// The loop along which neighbours lie side by side in an operand; -1 if there is none.
  int contiguous(size_t operand) const;

  /// Whether there is one in the target, and another one in the source.
  bool runs_cross() const;

  /// The unmarked loop that continues a run of `bytes` of an operand and may stand inside all
  /// unmarked loops.
  int next_in_run(size_t operand, int64_t bytes) const;

  /// The unmarked loop that may stand inside all unmarked ones and moves an operand least, but so
  /// many bytes; -1 if there is none.
  int nearest(size_t operand, int64_t least_stride) const;

  /// Of a source with runs of so many bytes: the one in which it goes on behind them, or in the
  /// same line, or else in the same page if that is forgotten meanwhile; -1 if there is none.
  int nearest_source(int64_t run_bytes) const;

  /// Whether no unmarked finer loop of its axis would end up outside of loop `k`. Loops with digits
  /// of their own stay where they are.
  bool movable_inside(int k) const;

  /// Whether loop `k` with those inside makes up its axis without a rest, and nothing is padded.
  bool leaves_no_rest(int k) const;

  /// Splits loop `k` so that a loop of `factor` iterations stands behind it; returns that loop.
  int split_off(int k, int64_t factor);

  /// Takes a loop away, whose work something else does.
  void erase(int k);

  /// Puts an unmarked loop inside all other unmarked ones.
  void move_inside(int k);
  /// Puts loop `k` where loop `to` stands, which comes to stand right inside of it.
  void move_outside(int k, int to);

  /// Puts the unmarked loops in the order in which an operand lies, if none has digits of its own;
  /// inside of them, as they stood, those that move the target by less than `near_bytes`.
  void follow(size_t operand, int64_t near_bytes = 0);

  /// Puts the loops of the tile in the order in which an operand lies.
  void lay_tile(size_t operand);

  /// Puts the loop that goes on where a block of an operand ends innermost.
  void go_on(size_t operand);

  /// Marks loops that lengthen a run of an operand from `run` bytes to `wanted`; returns its
  /// length.
  int64_t take_run(size_t operand, int64_t run, int64_t wanted, Mark as,
                   Length length = Length::at_most);

  /// The loop of the same axis and mark that goes on where loop `k` ends; -1 if there is none.
  int continued_by(int k) const;

  /// Makes one loop of loop `inner` and the one it is continued by; returns it.
  int join(int outer, int inner);

  /// Moves the marked loops to their places, each kind in its order.
  void gather_tile();

 private:
  /// Of the first `count` unmarked loops the one that moves an operand most, but a finer one of an
  /// axis after a coarser one; -1 where all move the target by less than `near_bytes`.
  int farthest(size_t operand, int count, int64_t near_bytes) const;
  /// How long a run of `run` bytes is with those of loop `k`.
  int64_t run_with(int k, int64_t run) const;
  /// How much of a loop of `extent` iterations lengthens a run of `run` bytes to `wanted`.
  int64_t length_of(int64_t extent, int64_t run, int64_t wanted, Length length) const;
  /// Whether the padding of a loop of the tile can be moved with it.
  bool fills_within(const Loop& loop, Mark mark) const;

  const Target* target_;
  CodeGoal goal_;
  bool begins_line_;
  std::array<int64_t, max_operands> extent_bytes_{};
  Schedule schedule_;
  std::vector<Mark> marks_;
};

template <typename Decide>
bool Draft::instead(Schedule undecided, const Decide& decide) {
  std::vector<Mark> unmarked(undecided.space.loops.size(), Mark::outside);
  Schedule decided = std::exchange(schedule_, std::move(undecided));
  std::vector<Mark> marks = std::exchange(marks_, std::move(unmarked));
  if (decide()) return true;
  schedule_ = std::move(decided);
  marks_ = std::move(marks);
  return false;
}

}  // namespace restride::scheduling
