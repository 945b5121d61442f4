// LoopNest: loops without conditions around full rectangles.
//
//     Schedule ── lower ──► LoopNest
//
// All bounds are spent here and nowhere else: every loop of the space is cut into at most four runs
// (full, partial, padding, partial padding), and what comes out is executed without looking at an
// axis again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "loop_nest/schedule.hpp"
#include "space/iteration_space.hpp"

namespace restride {
namespace nest {

/// What happens in a tile: elements computed from the sources, or filled with padding.
enum class Work : uint8_t { compute, fill };

/// A repetition: so many times, by so many bytes in each operand.
struct Side {
  int64_t extent;
  Strides stride;
  /// Of operands whose digits do not nest with those of others. Such a side repeats counts `first`
  /// to `first` + `extent`, from where count 0 stands.
  OwnDigits own{};
  int64_t first = 0;
  /// Of a computed tile: the last iterations that are padding, of which no source has anything.
  int64_t filled = 0;

  /// Where iteration `i` stands.
  Strides at(int64_t i) const { return positions(stride, own, first + i); }

  bool operator==(const Side&) const = default;
};

/// A full box of elements; where a side says so, the last of them are padding. A computed tile has
/// a side for every tile loop of the schedule, in its order, perhaps of extent 1. A filled one has
/// the fewest sides that describe it, outermost first, none of which has own digits.
struct Tile {
  Work work;
  std::vector<Side> sides;
  /// One of few at the ends of what is spliced: its code has to be short, not fast.
  bool is_end = false;

  bool operator==(const Tile&) const = default;
};

struct Node;
using Block = std::vector<Node>;

struct For {
  Side side;
  Block body;

  bool operator==(const For&) const = default;
};

/// A statement at a constant distance, in bytes, from where the loops around it stand.
struct Node {
  Strides offset;
  std::variant<For, Tile> statement;

  bool operator==(const Node&) const = default;
};

}  // namespace nest

/// The items of the root are the units of parallel work: a For has one per iteration.
struct LoopNest {
  ElementOp op;
  nest::Block root;

  bool operator==(const LoopNest&) const = default;
};

/// Turns a schedule into loops without conditions. Linear in the size of the result.
LoopNest lower(const Schedule& schedule);

std::string to_string(const LoopNest& nest);

}  // namespace restride
