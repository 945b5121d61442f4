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
#include "schedule/claimed_lines.hpp"
#include "schedule/l1_sets.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {

using program::lane_bytes;

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

// Around the caches as many of the second digit as make whole panels: less of a row at a time is a
// part of its lines, and pages are visited more often. Zen 4, 15 problems of 20 to 200 MB in .76 of
// the time: f32[320,1000,28] reversed .61 -> .94 of the ceiling, f32[256,100,20,60]{0,2,1,3} .61 ->
// .86, f16[320,1000,28] reversed .58 -> .84; with up to 1 KB .77, 640 bytes .87, 2.4 and 4 KB .79;
// f64 1.2, with a rest of the second digit f32[112,75,150,28] reversed 1.2.
constexpr int64_t widest_joined_element = 4;
constexpr int64_t most_joined_digit_bytes = 1024;

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

/// The most of the second digit of the source that make whole lines with `digit` bytes of the first
/// one, and leave no rest; 0 if none do.
int64_t digits_of_lines(const Draft& draft, int k, int64_t digit) {
  if (!draft.leaves_no_rest(k)) return 0;
  const int64_t line = draft.target().line_bytes;
  const int64_t least = line / std::gcd(digit, line);
  const int64_t most = draft.target().joined_digits_bytes / digit;
  for (int64_t count = most / least * least; count > 0; count -= least) {
    if (draft.loop(k).extent % count == 0) return count;
  }
  return 0;
}

/// Whether panels are filled in step with columns that leave, which digits of so many bytes do not
/// part, whatever whole lines rows of the target are made of.
bool parts_no_columns(const Loop& rows, int64_t digit) {
  return digit % (rows.extent % 2 == 0 ? lane_bytes / 2 : lane_bytes) == 0;
}

}  // namespace

int64_t joined_source_digits(Draft& draft, const Schedule& undecided) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes, line = target.line_bytes;
  // Behind a header parts of lines are read all the same: see plan_digits_behind_header.
  if (draft.goal() != CodeGoal::fast || !draft.schedule().nontemporal ||
      draft.schedule().shifts_runs || bytes > widest_joined_element || target.vector_bytes != line)
    return 0;
  int64_t columns = 0;
  draft.instead(undecided, [&] {
    if (draft.take_run(0, bytes, line, Mark::target_run) != line) return false;
    const int first = draft.contiguous(1);
    const int64_t digit = first < 0 ? 0 : draft.loop(first).extent * bytes;
    if (digit < lane_bytes || digit % line == 0 || digit >= most_joined_digit_bytes) return false;
    const int lines = draft.next_in_run(0, line);
    if (lines < 0 || !parts_no_columns(draft.loop(lines), digit)) return false;
    draft.mark(first) = Mark::source_run;
    const int second = draft.next_in_run(1, digit);
    const int64_t count = second < 0 ? 0 : digits_of_lines(draft, second, digit);
    if (count < 2) return false;
    draft.mark(draft.split_off(second, count)) = Mark::source_run;
    draft.schedule().joins_digits = true;
    columns = count * digit;
    return true;
  });
  return columns;
}

bool transpose_source_digits(Draft& draft) {
  const Target& target = draft.target();
  Schedule& schedule = draft.schedule();
  const int row = draft.contiguous(0), first = draft.contiguous(1);
  const int64_t bytes = draft.space().op.bytes, lane = program::lane_bytes / bytes;
  if (draft.goal() != CodeGoal::fast || !draft.runs_cross() || lane < 2 ||
      draft.loop(row).extent * bytes < target.line_bytes)
    return false;
  // Around the caches panels share out what is read.
  if (draft.both_extent_bytes() > target.streaming_bytes) return false;
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
  if (crowds && halves_lines(draft)) return false;
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
