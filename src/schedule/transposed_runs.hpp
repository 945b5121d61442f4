// What networks of a transpose take of either operand, and which runs are permuted instead.
#pragma once

#include <cstdint>
#include <optional>

#include "schedule/draft.hpp"

namespace restride::scheduling {

// Runs of the target of a lane: each register of a network holds so many bytes of a source row, and
// its lanes are stored one by one. u8 16 x 10000 .58 -> .93, u16 8 x 10000 .77 -> .96.
constexpr int lanes_bytes = 32;

/// What the networks of a transpose take of the operands, bytes.
struct Runs {
  int64_t row = 0;     ///< of the target
  int64_t column = 0;  ///< of the source
  bool lanes = false;  ///< see takes_lanes
};

/// Whether the rows of one side are short and touch, so that lanes hold some of them. `row`,
/// `column`: what is taken of the target and the source, bytes.
bool short_rows_touch(const Draft& draft, int64_t row, int64_t column);

/// Marks the runs of both operands. Nothing, where what they are short of is permuted instead.
/// `widest`: of registers, bytes.
std::optional<Runs> take_runs(Draft& draft, int64_t widest);

}  // namespace restride::scheduling
