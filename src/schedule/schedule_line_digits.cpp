// Schedules of transposes whose rows of the target make whole lines only together with those that
// the target goes on with, for arrays that do not stay in the caches:
//
//     target   |aaaaaa..|....bbbb|bbbb....|        rows of a and b: a multiple of a line
//
// They are staged as others are. Where a and b make no line, but columns of the source follow,
// images of some of these leave in whole lines:
//
//     target   |aaaabbb|baaaabbb|baaaabbb|b        a line of columns, each with rows of a and b
#include <algorithm>
#include <vector>

#include "loop_nest/loop_nest.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/tile_run.hpp"
#include "program/program.hpp"
#include "schedule/block_sizes.hpp"
#include "schedule/box_order.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {

using program::lane_bytes;

namespace {

// Zen 5, f32 of 200 MB, 11 problems in .87 of the time that images take, of up to 1 KB .89, of 256
// bytes .99: [8,8,336,28,80]{3,0,4,2,1} .34 -> .61 of the ceiling, [20,64,39,33,32] reversed .31 ->
// .62. Panels of so many rows fit scratch.
constexpr int64_t most_run_bytes = 512;
constexpr int64_t most_rows = 256;

// Columns beside them that make no whole panel leave through the caches, in parts of lines: f32
// [40,64,7,72,40] reversed .42 -> .39, 24 columns .47 -> .37, 56 .41 -> .43, 72 .30 -> .45, 200
// .44 -> .70, u16 120 columns .24 -> .64.
constexpr int64_t least_broken_lines = 3;

/// The side of a tile that `count` iterations of a loop make.
nest::Side side_of(const Loop& loop, int64_t count) { return {count, loop.stride}; }

/// The most iterations of a loop that make whole lines with the sides inside, of `run` elements in
/// all; 0, if there are none.
int64_t iterations_of_lines(const Draft& draft, std::vector<nest::Side> sides, int64_t run,
                            const Loop& loop) {
  const int64_t bytes = draft.space().op.bytes, line = draft.target().line_bytes;
  const int64_t most = std::min({loop.extent, most_run_bytes / bytes / run, most_rows / run});
  sides.insert(sides.begin(), side_of(loop, 0));
  for (int64_t count = most; count > 1; --count) {
    sides.front().extent = count;
    const int64_t rows = run * count;
    const bool lines =
        loop.extent % count == 0 && rows * bytes % line == 0 && rows * bytes >= 2 * line;
    const int64_t panel_columns = draft.target().vector_bytes / bytes;
    if (lines && rows_fill_panels(TileRun(sides), bytes, panel_columns)) return count;
  }
  return 0;
}

/// Whether the columns beside the rows make whole lines, or many.
bool columns_fill_lines(const Draft& draft) {
  const int k = draft.contiguous(1);
  const int64_t line = draft.target().line_bytes;
  const int64_t run = k < 0 ? 0 : draft.loop(k).extent * draft.space().op.bytes;
  return run > 0 && (run % line == 0 || run >= least_broken_lines * line);
}

/// Marks digits that make such rows; returns their bytes, or 0.
int64_t take_digits(Draft& draft) {
  const int64_t bytes = draft.space().op.bytes;
  std::vector<nest::Side> sides;  // slowest first
  int64_t run = 1;
  for (int k; (k = draft.next_in_run(0, run * bytes)) >= 0;) {
    const Loop& loop = draft.loop(k);
    if (!draft.leaves_no_rest(k) || loop.stride[1] == bytes) return 0;
    if (!sides.empty()) {
      const int64_t count = iterations_of_lines(draft, sides, run, loop);
      if (count > 0) {
        draft.mark(draft.split_off(k, count)) = Mark::target_run;
        return run * count * bytes;
      }
    }
    run *= loop.extent;
    sides.insert(sides.begin(), side_of(loop, loop.extent));
    if (run * bytes > most_run_bytes) return 0;
    draft.mark(k) = Mark::target_run;
  }
  return 0;
}

// Images of columns that touch leave as one run. Zen 4, 40 permutations of 30 to 200 MB with rows
// of 130 to 512 bytes, for which there had been no images: .46 of the time, .31 -> .65 of the
// ceiling, 16 bytes behind a line .50, two threads .58; f16[15,144,16,1000]{0,2,3,1} .26 -> .60,
// u8[17,200,16,1000]{2,0,3,1} .20 -> .75. 24 with rows of 512 bytes to 2 KB, one image of each
// before, .79; four of those that are whole lines .68 to .96.

/// Marks digits that make rows of the target, whole lines or not, and some of the columns along
/// which they touch. False where there are none, or too few columns.
bool take_touching_digits(Draft& draft, Rows rows) {
  const int64_t bytes = draft.space().op.bytes, line = draft.target().line_bytes;
  if (draft.contiguous(1) < 0 || !shifts_images(draft) || stays_beside(draft)) return false;
  std::vector<nest::Side> sides;  // slowest first
  int64_t run = bytes;
  int k = draft.contiguous(0);
  for (; k >= 0 && draft.loop(k).stride[1] != bytes; k = draft.next_in_run(0, run)) {
    if (!draft.leaves_no_rest(k)) return false;
    sides.insert(sides.begin(), side_of(draft.loop(k), draft.loop(k).extent));
    draft.mark(k) = Mark::target_run;
    run *= draft.loop(k).extent;
  }
  const bool lines = run % line == 0 && draft.begins_line();
  if (k < 0 || sides.size() < 2 || lines != (rows == Rows::begin_lines) ||
      draft.loop(k).extent * bytes < line || line / bytes * run > program::scratch_in_l1_bytes ||
      !can_join_digits(TileRun(sides), bytes, draft.target().vector_bytes))
    return false;
  const int columns = draft.split_off(k, streamed_columns(bytes));
  draft.mark(columns) = Mark::source_run;
  widen_box(draft, draft.loop(columns).extent * bytes);
  draft.go_on(1);
  return true;
}

}  // namespace

int64_t digits_in_lines(Draft& draft, const Schedule& undecided) {
  const int64_t bytes = draft.space().op.bytes, line = draft.target().line_bytes;
  if (bytes >= lane_bytes || draft.target().vector_bytes != line ||
      draft.goal() == CodeGoal::small || !draft.schedule().nontemporal)
    return 0;
  int64_t row = 0;
  const bool taken = draft.instead(undecided, [&] {
    if (!columns_fill_lines(draft)) return false;
    row = take_digits(draft);
    return row > 0 && begins_lines(draft) &&
           draft.take_run(1, bytes, line, Mark::source_run) == line;
  });
  return taken ? row : 0;
}

bool touching_digits(Draft& draft, const Schedule& undecided, Rows rows) {
  return draft.instead(undecided, [&] { return take_touching_digits(draft, rows); });
}

}  // namespace restride::scheduling
