// Runs of the target that images are made of: how long they are made, of loops that make them.
#pragma once

#include <cstdint>

#include "schedule/draft.hpp"

namespace restride::scheduling {

// Both ends of a run share a line with others.
constexpr int64_t least_imaged_run_bytes = 512;

/// How long runs are made.
struct RunLimits {
  int64_t bytes;            ///< at most so long
  int64_t whole_bytes = 0;  ///< to make whole lines, at most so long
  /// Longer than `near_bytes` only of up to `rows_read_ahead` rows far apart in the source: f32
  /// [3,27,11,13,43,34]{5,0,2,1,4,3}, 27 of them for 6, 1.7 times as long.
  int64_t near_bytes = bytes;
  int64_t least_whole_bytes = 0;  ///< to make whole lines, at least so long
  bool rests_on_lines = false;    ///< rows that both operands have may leave rests there, too
};

/// Whether runs are pieces of longer ones.
enum class Runs : uint8_t { whole, pieces };

/// The length of tiles of at most `most` that make as few tiles as there can be, the last of them
/// shorter.
int64_t evenly_up(int64_t count, int64_t most);

/// The longest of `least` to `most` that leaves no rest, which would be code of its own; or
/// `length`.
int64_t without_rest(int64_t count, int64_t length, int64_t least, int64_t most);

/// How much less than `length` may be taken for leaving no rest.
int64_t least_of(int64_t length, CodeGoal goal);

/// Marks loops that make a run as long as it may be, or less of it rather than a rest if it is a
/// piece of a longer one; returns its length. Whole runs may have rests, else they would go through
/// the caches; those of rows that both operands have only where the array begins between lines. Zen
/// 4, 16 bytes behind a line: 24 problems .77 of the time, u8[315,262144] to T(8,128) .57 -> .9 of
/// the ceiling, f64[309,128,149]{2,1,0} to {0,1,2:T(8,4)} .23 -> .49; c128[450,240,64], T(2,4) to
/// T(8,128), 1.3. On lines tiles need them (see least_tile_rows); 6 of rows took 1.3 to 1.7, but
/// see Make::images_rows_with_rests.
int64_t take_imaged_run(Draft& draft, const RunLimits& limits, Runs runs);

}  // namespace restride::scheduling
