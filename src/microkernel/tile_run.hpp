// TileRun: the sides of a box that make one contiguous run of an operand, as a numeral whose digits
// are the sides.
//
//     sides 2 (…->192) 48 (…->4)      element i: i % 48 along one side, i / 48 along the other
//
// A run is spliced where an operand has own digits along the fastest side: it is the end of one run
// of digits and the begin of the next one, which that operand has elsewhere:
//
//     48 (2160000 (every 96: 144) -> 4) from 60      elements 0 to 35 of the last 36 of 96, then 12
//
// Microkernels walk runs in chunks; what a chunk looks like must not depend on which one it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loop_nest/loop_nest.hpp"
#include "program/program.hpp"

namespace restride {

class TileRun {
 public:
  /// `sides`, slowest first. Neighbours that advance alike become one; those of one element behind
  /// the fastest are left out.
  explicit TileRun(const std::vector<nest::Side>& sides);

  int64_t extent() const;

  /// Whether its fastest side is spliced. Only steps(), at() and what says how the run looks are
  /// for such runs.
  bool is_spliced() const { return !carries_.empty(); }

  /// How many it is made of.
  size_t sides() const { return sides_.size(); }

  /// Those, fastest first.
  const std::vector<nest::Side>& digits() const { return sides_; }

  /// Where element `i` of the run lies in an operand, relative to the first, in bytes.
  int64_t at(size_t operand, int64_t i) const;

  /// Whether the elements lie side by side in an operand: cut tiles leave gaps.
  bool is_contiguous(size_t operand, int64_t element_bytes) const;

  /// Whether the run falls into chunks of `count` elements that all look alike: each digit is a
  /// multiple of the chunk, or the other way round.
  bool divides(int64_t count) const;

  /// The run of the first `count` elements. Precondition: divides(count).
  TileRun first(int64_t count) const;

  /// How a stream moves in a loop that takes a chunk of `count` elements an iteration.
  /// Precondition: divides(count), or the run has one side.
  program::Step step(int stream, size_t operand, int64_t count) const;

  /// The same of any run, which may take several steps: behind `before` iterations of others, and
  /// behind the last chunk the first one again, moved by `outer`. Precondition: a spliced run
  /// divides(count).
  std::vector<program::Step> steps(int stream, size_t operand, int64_t count,
                                   const program::Step& outer, int64_t before = 0) const;

 private:
  /// Where an operand's own digit goes on: at element `begin` of the fastest side, and then after
  /// every `every` elements, which divides the side, those behind stand so much further.
  struct Carry {
    int64_t begin, every;
    Strides further;
  };
  static std::vector<Carry> carries_of(const nest::Side& side);
  /// By how much element `i` of the fastest side is further.
  int64_t carried(size_t operand, int64_t i) const;

  std::vector<nest::Side> sides_;  // fastest first
  std::vector<Carry> carries_;     // of the first of them
};

/// A step that goes on by `outer`, of the same stream, after `counts` counts of `inner`.
program::Step then(program::Step inner, int64_t counts, const program::Step& outer);

/// A loop, even around a single iteration: its steps have starts. Wraps that it does not get to are
/// left out.
program::Body loop_always(int64_t extent, std::vector<program::Step> steps, program::Body body);

}  // namespace restride
