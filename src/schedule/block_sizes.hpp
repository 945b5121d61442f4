// Sizes of blocks that schedules of several kinds share.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/arithmetic.hpp"
#include "target/target.hpp"

namespace restride {

// Wide elements in memory: few rows are read at a time, as many as the processor itself reads ahead
// of, each by whole pages, and left in lines at once; the next rows make runs of the target. Share
// of a non-temporal copy, 4096 x 4096 and 8192 x 8192: c128 1.0 (64 x 128 .55, 32 x 256 .9), f64
// 1.0 (staged .8 - .9); f32 .8, less than staged. Rows of 192 bytes .66 -> 1.1.
constexpr int64_t page_rows = 16;

// Rows of the source of so many the processor reads ahead by itself, be they far apart, if they are
// long. A model that only reads, Zen 4: 16 rows 2.4 to 2.9 ns a line, as one after the other; 20
// and more 4 to 6.5.
constexpr int64_t rows_read_ahead = 16;

// Columns of a block of a transpose in the caches.
constexpr int64_t cached_columns = 64;

// Its rows, where they crowd sets of L1: u16 1025 x 150 .31 -> .52, 128 rows .28; f32 1025 x 130
// .29 -> .54, 128 rows .29, with 48 KB. Lines of so many narrow ones take three quarters of L1 at
// most. With 32 KB half as many: Zen 4, 101 transposes .93 of the time, u16 1029 x 49 .60, u8 2048
// x 100 .75, f32 512 x 300 .89, but 1032 x 130 1.14; a fourth as many .95 of the time.
inline int64_t crowded_rows(const Target& target, int64_t element_bytes) {
  constexpr uint64_t least_rows = 64;
  const int64_t lines = target.l1_bytes / 4 * 3 / target.line_bytes;
  const auto rows = static_cast<int64_t>(std::bit_floor(std::max(uint64_t(lines), least_rows)));
  return element_bytes < 4 ? rows : rows / 2;
}

// Rows of a source that crowd sets of L1 come in from so much of each at a time. Zen 4, 23
// transposes in L2 and L3, blocks of 16 KB: 256 bytes .86 of the time, 512 .89, 1024 .94; blocks of
// 8 KB by 64 bytes .94; 108 others by 256 bytes, of 16 KB .82, of 32 KB .85.
constexpr int64_t crowding_column_bytes = 256, crowding_block_bytes = 16 * 1024;

// Columns of a target that crowd sets of L1 leave by so much of each at a time. Zen 4, 101
// transposes: 512 bytes .93 of the time without, 384 .96, 768 .98.
constexpr int64_t crowding_run_bytes = 512;

// A block in scratch of a source that is repeated, or a chunk of its rows. L1 holds it, and it
// makes rows of the target that are worth starting. Zen 4, 14 of rows of 24 KB and more in .91 of
// the time of chunks of 16 KB: f32[8192] 96 times .72 -> .84 of a fill; 4 and 2 KB the same.
constexpr int64_t repeated_bytes = 8 * 1024;

// Iterations of the loops around blocks that are left to threads to share.
constexpr int64_t least_units = 16;

// A run of fewer bytes is not worth a lane of a transpose.
constexpr int64_t narrow_run_bytes = 16;

// A rest, rather than less than a fourth of what is wanted: bytes that are moved one by one are
// worse than any code. u8[28,20,575,317]{1,2,3,0} .07 -> .30 of the ceiling, [17,20,575,289] .08 ->
// .31.
constexpr int64_t least_part_of_wanted = 4;

/// The most up to `factor` that divides the extent, unless that is little.
inline int64_t dividing_part(int64_t extent, int64_t factor) {
  const int64_t most = largest_divisor(extent, factor);
  return least_part_of_wanted * most < std::min(extent, factor) ? factor : most;
}

// Boxes of transposes that stream take eight lines of the source at a time.
constexpr int64_t streamed_columns(int64_t element_bytes) { return 512 / element_bytes; }

// Code for a permuted block grows with its windows.
constexpr int64_t most_permuted_bytes = 2048;

/// Each window of the target takes an operation for each of the source that it joins, and code. Of
/// the ceiling without and with a limit: u8[13,24,32,9]{1,3,0,2} (32 x 24 windows) .05 -> .39,
/// with 68 KB of code for 8; u32[60,127,7]{1,2,0} (28 x 7) .43 -> .74; u16 1000 x 5 (20 x 5) .38
/// -> .18.
struct PermutedLimits {
  int64_t joined = most_permuted_bytes;  ///< by a window
  int64_t all = 150;                     ///< by all of them
  /// By a window of lines of several runs that stream, where lanes are permuted: these take many.
  /// u8 N x 3 .38 -> .9, u16 N x 4 .95 -> .80, u8 N x 6 .88 -> .57, f32 N x 5 1.0 -> .9.
  int64_t joined_of_lines = 3;
  /// More may be joined where windows share blends: so many permutes and blends for a line of the
  /// target. See steps_of_rings.
  int64_t steps_of_rings = 7;
};

/// The same where runs of either operand are so short, which takes networks 20 to 50 operations. Of
/// the ceiling in L2: u8 2393 x 232 from columns to T(2,2) .11 -> .46, u8[912,257] from columns of
/// T(2,128)(2,1) to T(8,128) .11 -> .57; with 14 for all u8[5,40,33,11] from T(4,4,1,1), runs of
/// 11, .57 -> .52, f32[5,25,521] to rows, runs of 20, .44 -> .35.
constexpr int64_t steps_of_rings(int64_t run_bytes) { return run_bytes < 8 ? 14 : 7; }

}  // namespace restride
