// See box_order.hpp.
#include "schedule/box_order.hpp"

#include <algorithm>
#include <utility>

#include "base/arithmetic.hpp"
#include "schedule/block_sizes.hpp"
#include "schedule/page_walks.hpp"
#include "schedule/part_walks.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {
namespace {

// Around a block stand those in which the target goes on, up to as many rows as have their pages
// translated at once: f32[96,75,75,96] reversed .62 -> .90, 8192 x 8192 .63 -> .88; more rows than
// that, u8 4096 x 4096 .78 -> .71.
constexpr int64_t rows_around = 512;
// But not where that saves few translations, since the source is read in a row else: 56 cases of
// the suites in .95 of the time. An eighth saved, f32 1216 x 43408, .85, a fifth,
// f32[64,32,136,158] {1,0,3,2}, 1.24.
constexpr int64_t lines_for_a_walk = 7;

// What is outside of a box follows the source, since memory answers slower where the next megabyte
// is far from the last; but not where the target goes on: its runs become longer inside. Zen 4, 16
// of 57 cases of ttc in .93 of the time: f32[15,15,32,15,5,112]{2,3,5,0,4,1} .67 -> .84 of the
// ceiling, [15,15,32,15,15,32]{2,3,5,0,4,1} .64 -> .78; all loops after the source 25 in 1.01. Half
// as many bytes the same, from 2 KB on three of them are left out.
constexpr int64_t near_bytes = 1024;

// Runs of the source of so many bytes are left for others where the target goes on. Zen 4, 21 of 26
// cases with rows of 1 to 2 KB in .88 of the time: f32[384,355,384]{0,1,2} .70 -> .84 of the
// ceiling, [2320,59,384]{0,1,2} .67 -> .83; but where the next digit of the target is another one,
// f32[28,28,4,48,352]{3,1,4,0,2} .91 -> .78. Shorter runs if all rows have their pages translated:
// 22 matrices of 128 to 2560 rows .89 to .92, f32[1216,43408] .68 -> .81, f64[608,16,384]{0,2,1}
// .68 -> .86; 4096 and 8192 rows of elements of two to eight bytes .88 to 1.20, bytes .94 to 1.17.
constexpr int64_t least_left_bytes = 512, long_column_bytes = 1024;

// Rows that are nearer are asked for a box ahead, 17 problems 1.07 of the time otherwise: see
// Make::asked_ahead_bytes.
constexpr int64_t least_asked_pitch = 64;

// Rows of which a box would read a line or two are read further, since boxes of a few KB ask for
// the next one too late. Not where the processor reads ahead of all rows by itself, unless boxes
// share lines. Zen 4, 31 problems .72 of the time, f32[1136,7,27,16,15]{2,4,0,1,3} .31 -> .55 of
// the ceiling, [53,45,11,13,3,39]{1,2,4,0,5,3} .30 -> .52, f64[327,50,16,16]{1,0,2,3} .39 -> .51;
// up to 1 KB 12 of them .62 for .66, but f64[67,4,64,32,32]{0,1,4,2,3}, from 256 bytes on, 2.9
// times as long.
constexpr int64_t widened_bytes = 512;

/// Whether it saves enough translations of pages to put the blocks in which the target goes on
/// around one.
bool around_pays(const Draft& draft, const Draft& around) {
  const int64_t lines = draft.both_extent_bytes() / draft.target().line_bytes;
  return page_walks(draft) - page_walks(around) > lines / lines_for_a_walk;
}

/// Puts the blocks in which the target goes on, behind runs of `row` bytes, right around one.
void go_on_around(Draft& draft, int64_t row) {
  const int next = draft.next_in_run(0, row);
  int64_t rows = rows_around;
  // What is outermost makes the units.
  int outermost = 0;
  while (outermost < next && draft.mark(outermost) != Mark::outside) ++outermost;
  if (next == outermost) {
    const int64_t share = draft.loop(next).extent / least_units;
    rows = std::min(rows, row / draft.space().op.bytes * std::max<int64_t>(share, 1));
  }
  draft.take_run(0, row, rows * draft.space().op.bytes, Mark::around, Length::about);
}

/// How many boxes ahead the source is asked for.
int64_t boxes_ahead(const Draft& draft) {
  int64_t bytes = draft.space().op.bytes;
  for (int k = 0; k < draft.loop_count(); ++k) {
    const bool inside = draft.mark(k) == Mark::target_run || draft.mark(k) == Mark::source_run;
    bytes *= inside ? draft.loop(k).extent : 1;
  }
  if (row_pitch(draft) < least_asked_pitch) return 1;
  return std::max<int64_t>(1, draft.target().asked_ahead_bytes / bytes);
}

/// Whether a loop of the axis is among those that make runs of the target.
bool makes_rows(const Draft& draft, int axis) {
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (draft.mark(k) == Mark::target_run && draft.loop(k).axis == axis) return true;
  }
  return false;
}

/// Whether the target better goes on from box to box, by loop `next` behind runs of `row` bytes: of
/// sources whose rows lie apart, where runs of `column` bytes are long, or all rows stay at hand
/// (but see Make::follows_source_bytes).
bool writes_on(const Draft& draft, int next, int64_t row, int64_t column) {
  const int64_t bytes = draft.space().op.bytes;
  if (next < 0 || bytes == 1 || column < least_left_bytes || row_pitch(draft) < 2 * column)
    return false;
  int outside = 0;
  for (int k = 0; k < draft.loop_count(); ++k) outside += draft.mark(k) == Mark::outside ? 1 : 0;
  const int64_t rows = row / bytes * draft.loop(next).extent;
  const Target& target = draft.target();
  if (outside == 2 && rows <= target.translated_pages &&
      draft.both_extent_bytes() > target.follows_source_bytes)
    return true;
  return column >= long_column_bytes && row < near_bytes &&
         makes_rows(draft, draft.loop(next).axis);
}

/// How many of `extent` columns make a box of about `most`: so many that there is no rest, unless
/// that is less than half of them and there may be some.
int64_t columns_of_box(int64_t extent, int64_t most, Rests rests) {
  const int64_t longest = std::min(extent, most), times = largest_divisor(extent, most);
  if (rests == Rests::none || 2 * times >= longest) return times;
  const int64_t more = largest_divisor(extent, 2 * most);
  return 2 * more >= longest ? more : ceil_div(extent, ceil_div(extent, most));
}

}  // namespace

void order_boxes(Draft& draft, int64_t row, int64_t column, bool pages) {
  // Where a panel is read, the next one is asked for while it leaves, and row after row is what
  // memory answers fastest. (f32 4096 x 4096: .65 -> .75 of the ceiling.)
  draft.schedule().boxes_ahead = boxes_ahead(draft);
  if (!pages) draft.follow(1, near_bytes);
  const int next = draft.next_in_run(0, row);
  if (!pages && writes_on(draft, next, row, column)) return draft.move_inside(next);
  draft.go_on(pages ? 0 : 1);
  if (pages || draft.goal() == CodeGoal::small) return;
  Draft around = draft;
  go_on_around(around, row);
  if (around_pays(draft, around)) draft = std::move(around);
  part_walks(draft, column);
}

int64_t widen_box(Draft& draft, int64_t run, Rests rests) {
  int64_t rows = 1;
  for (int k = 0; k < draft.loop_count(); ++k)
    rows *= draft.mark(k) == Mark::target_run ? draft.loop(k).extent : 1;
  if (rows <= rows_read_ahead && run >= draft.target().line_bytes) return run;
  for (int k; 2 * run < widened_bytes && (k = draft.next_in_run(1, run)) >= 0;) {
    const int64_t extent = draft.loop(k).extent;
    const int64_t times = columns_of_box(extent, widened_bytes / run, rests);
    if (times == 1 || !draft.leaves_no_rest(k)) return run;
    draft.mark(draft.split_off(k, times)) = Mark::source_run;
    run *= times;
    if (times < extent) return run;
  }
  return run;
}

}  // namespace restride::scheduling
