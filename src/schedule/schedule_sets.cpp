// Transposes in the caches: which lines meet in the sets of L1, and which are asked for.
//
// A transpose writes columns of the source, a line of each before it comes back to the first:
//
//     column 0   line 0 ...      where columns are nearly a power of two apart, all these lines
//     column 1   line 0 ...      belong to few sets, more than those have ways: each is gone
//     column 2   line 0 ...      before it is full
#include <algorithm>
#include <vector>

#include "base/arithmetic.hpp"
#include "schedule/scheduler.hpp"

namespace restride {
namespace {

// Where arrays are larger than L1, lines of the target are asked for while the network before
// writes: what is not there yet holds up the stores behind it, and so does half a line. Where rows
// begin between lines, .51 -> .68 of the ceiling (geometric mean of 26 cases in L2), else u16 256 x
// 256 .66 -> .69, f32 .66 -> .72, f64 .71 -> .79, but u8 .65 -> .62.
constexpr int64_t least_claimed_bytes = 2;

// Of wider elements a network writes few columns. Narrower ones crowd sets only where rows begin
// between lines: u16 512 x 512 .58 -> .30 else.
constexpr int64_t widest_crowding_bytes = 4;

// A network of f32 that takes whole lines writes 16 columns; of half lines 8: 1025 x 130 .29 ->
// .54. Where all ways of a set are taken others are gone already: 1030 x 61 .33 -> .58.
constexpr int64_t half_line_bytes = 32;

}  // namespace

bool Scheduler::make_room_in_l1() {
  const int across = contiguous(1), down = contiguous(0);
  const int64_t bytes = space().op.bytes, line = target_.line_bytes;
  if (across < 0 || down < 0 || bytes > widest_crowding_bytes || schedule_.nontemporal ||
      target_.vector_bytes != line || stays_in_l1()) {
    return false;
  }
  const int64_t stride = loop(across).stride[0], extent = loop(across).extent;
  const bool aligned = stride % line == 0, wide = bytes == widest_crowding_bytes;
  const int64_t touched = aligned ? line : 2 * line, ways = l1_ways();
  if (lines_in_set(stride, std::min(extent, cached_columns), touched) < ways / 2) return false;
  if (wide) {
    const int64_t columns = std::min(extent, line / bytes);
    const int64_t room = aligned ? ways : ways / 2;
    if (lines_in_set(stride, columns, touched) >= room)
      schedule_.network_column_bytes = half_line_bytes;
    return true;
  }
  // Half of the rows of the source and more stay there from one network to the next: 24 of u8 and
  // u16, 100 to 320 columns of which only half do, .83 of the time without.
  const int64_t rows = std::min(loop(down).extent, crowded_rows(bytes));
  return !aligned && lines_in_set(loop(down).stride[1], rows, line) <= 2 * ways;
}

int64_t Scheduler::claimed_ahead(int64_t column, Rows rows) {
  const int64_t line = target_.line_bytes, bytes = schedule_.space.op.bytes;
  if (stays_in_l1() || goal_ == CodeGoal::part || schedule_.vector_bytes != line) return 0;
  const bool aligned = rows == Rows::begin_lines;
  if (aligned && bytes < least_claimed_bytes) return 0;
  const int64_t columns =
      (schedule_.target_first ? schedule_.network_column_bytes : column) / bytes;
  const int across = widest_source_loop();
  if (across >= 0 && lines_in_set(loop(across).stride[0], columns, line) > l1_ways()) return 0;
  const int64_t ahead = aligned || bytes > 2 ? line : 2 * line;
  // What comes next in a short row is not there: rows of 140 and 150 bytes .65 -> .46, .55 -> .45,
  // but of 200 .45 -> .61, .40 -> .53.
  return 2 * written_run_bytes(across) < 3 * ahead ? 0 : ahead;
}

int64_t Scheduler::written_run_bytes(int across) {
  // Of what streams images are better: bf16[27,30,32,110]{3,1,0,2:T(16,128)} to {0,1,2,3} .42, .30.
  const bool several = !streams();
  const int down = finest(0);
  int64_t run = space().op.bytes;
  for (int k = 0; k < loop_count();) {
    const Loop& walk = loop(k);
    const int64_t valid = space().axes[static_cast<size_t>(walk.axis)].valid;
    const int64_t longer = run * std::min(walk.extent * walk.step, valid) / walk.step;
    const bool row = down >= 0 && walk.axis == loop(down).axis;
    const bool other = row || (several && (across < 0 || walk.axis != loop(across).axis));
    const bool goes_on = walk.stride[0] == run && longer > run && other && walk.own.empty();
    run = goes_on ? longer : run;
    k = goes_on ? 0 : k + 1;
  }
  return run;
}

// A way of L1 is as large as a page: its sets are chosen before addresses are translated.

int64_t Scheduler::l1_ways() const { return target_.l1_bytes / target_.page_bytes; }

int64_t Scheduler::lines_in_set(int64_t stride, int64_t count, int64_t touched_bytes) const {
  std::vector<int64_t> in_set(static_cast<size_t>(target_.page_bytes / target_.line_bytes));
  int64_t most = 0;
  const int64_t step = remainder_above(stride, target_.page_bytes);
  for (int64_t k = 0, first = 0; k < count; ++k, first = (first + step) % target_.page_bytes) {
    for (int64_t at = first; at < first + touched_bytes; at += target_.line_bytes) {
      const size_t set = static_cast<size_t>(at / target_.line_bytes) % in_set.size();
      most = std::max(most, ++in_set[set]);
    }
  }
  return most;
}

}  // namespace restride
