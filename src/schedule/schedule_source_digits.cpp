// Schedules of transposes whose rows of the source are made of short digits, as the taps of filters
// are. Networks take as many of the second digit as make whole lanes with the first:
//
//     source   k k k k k k k k k|k k k k k k k k k|...     digits of 9 and of 128, 4-byte elements
//              ─────── ─────── ─────── ──────── ...        lanes: 9 of 4 digits
//
// A digit by itself would leave a rest in every network, and lines of the source half read.
#include <algorithm>
#include <numeric>

#include "base/arithmetic.hpp"
#include "program/program.hpp"
#include "schedule/l1_sets.hpp"
#include "schedule/movements.hpp"

namespace restride::scheduling {
namespace {

// Code grows with the columns of all networks, and what they save is little where digits nearly
// make lanes. Zen 4, of the time without: f32 of 9 (36 columns) .72, of 11 (44) .79, of 15 (60) .88
// to 1.05, AVX2 1.79; u16 of 9 (72) .72, of 7 (56) .89, of 11 (88, 11 KB) .85; u8 of 12 (48) .72.
constexpr int64_t most_columns = 72, most_wide_columns = 48;

// More columns than these have too much code with a rest beside them: u16[100,30,9,9]{0,2,1,3} 1.67
// of the time, since all programs together are to be short then.
constexpr int64_t most_columns_beside_rests = 48;

// Longer digits have small rests: f32 of 25 is not measured faster.
constexpr int64_t most_digit_bytes = 64;

// Rows of the target that are taken before the source goes on: 19 problems .904 of the time
// without, with 128 rows .896.
constexpr int64_t rows_of_block = 64;

/// The loop in which the source goes on behind a whole digit of it, if that is not loop `row`; -1
/// if there is none.
int second_digit(const Draft& draft, int first, int row) {
  const Loop& digit = draft.loop(first);
  const int64_t run = digit.extent * digit.stride[1];
  if (!digit.own.empty() ||
      draft.space().axes[static_cast<size_t>(digit.axis)].valid != digit.extent)
    return -1;
  for (int k = 0; k < draft.loop_count(); ++k) {
    const bool goes_on = draft.loop(k).stride[1] == run && draft.loop(k).own.empty();
    if (goes_on && k != row && k != first && draft.movable_inside(k)) return k;
  }
  return -1;
}

}  // namespace

bool transpose_source_digits(Draft& draft) {
  const Target& target = draft.target();
  Schedule& schedule = draft.schedule();
  const int row = draft.contiguous(0), first = draft.contiguous(1);
  const int64_t bytes = draft.space().op.bytes, lane = program::lane_bytes / bytes;
  if (draft.goal() != CodeGoal::fast || row < 0 || first < 0 || row == first || lane < 2 ||
      draft.loop(row).extent * bytes < target.line_bytes)
    return false;
  // Around the caches panels share out what is read.
  if (draft.extent_bytes(0) + draft.extent_bytes(1) > target.streaming_bytes) return false;
  const int64_t digit = draft.loop(first).extent, digits = lane / std::gcd(digit, lane);
  // Of what divides a lane f32 of 2 1.04 of the time, u16 of 4 1.27, u8 of 8 1.06.
  const int64_t columns = digits * digit, most = bytes < 4 ? most_columns : most_wide_columns;
  if (lane % digit == 0 || digit % lane == 0 || digit * bytes > most_digit_bytes || columns > most)
    return false;
  const int second = second_digit(draft, first, row);
  if (second < 0 || draft.loop(second).extent < digits) return false;
  const bool rest = draft.loop(second).extent % digits != 0;
  if (rest && columns > most_columns_beside_rests) return false;
  // Parts of lines are gone before the rest of them is written: AVX2, f32[64,64,5,10]{0,2,1,3} 1.68
  // of the time.
  const bool crowds = !l1_holds_lines(target, draft.loop(first).stride[0], digit);
  if (crowds && target.vector_bytes < target.line_bytes) return false;
  schedule.nontemporal = false;
  schedule.target_first = true;
  schedule.network_column_bytes = columns * bytes;
  draft.mark(draft.split_off(second, digits)) = Mark::source_run;
  draft.mark(draft.contiguous(1)) = Mark::source_run;
  const int64_t run = draft.take_run(0, bytes, rows_of_block * bytes, Mark::target_run);
  schedule.vector_bytes =
      static_cast<int>(std::min<int64_t>(round_up_to_power_of_two(run), target.vector_bytes));
  schedule.claimed_ahead = claimed_ahead(draft, schedule.network_column_bytes, Rows::begin_lines);
  // Where columns crowd sets of L1, their rows go on first: f32 and u16 [256,128,3,3] to {0,1,3,2}
  // .62 and .48 of the time, .73 and .52 else; [288,40,9] reversed, 128 rows, .81 and .82, .70 and
  // .72 else.
  if (!crowds) draft.go_on(1);
  return true;
}

}  // namespace restride::scheduling
