// Schedules of rows: runs that source and target have in common, or that repeat an element.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/arithmetic.hpp"
#include "microkernel/microkernel.hpp"
#include "schedule/l1_sets.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {
namespace {

// A unit of a long copy or fill: long enough that starting it costs nothing, short enough to share
// out. Shorter rows that repeat stay whole, too: Zen 4, 11 of 10 to 16 KB .85 of the time of
// halves, 16 bytes behind a line .92, f32[64,3000] 16 times each .44 -> .83 of a fill.
constexpr int64_t row_chunk_bytes = 16 * 1024;
// Of runs that one operation stores: to start it takes as long as to store 2 KB.
constexpr int64_t run_chunk_bytes = 256 * 1024;
// Where the last cache holds the target they are to be so many times as long: Zen 5, 12 to 16 KB in
// 3 to 17 MB 1.04 times as long as by vectors, in 25 to 34 MB .66 to .89.
constexpr int64_t longer_cached_runs = 3;
// A tile of short rows is unrolled up to this many vectors.
constexpr int64_t row_tile_vectors = 16;

// Of rows that are no whole lines so many bytes are written before the source goes on. Rows of 32
// bytes, geometric mean of 14 cases: 512 .98 (1 KB .95, 2 KB .91, all rows .78); of 48 bytes 384
// .96 (768 .83, all .66).
constexpr int64_t short_run_bytes = 512;

// Where rows go in the order of the source, so many shorter ones that follow each other in the
// target go together, if the source does not come back to them soon: f32[1000,3200,16]{2,0,1} .52
// -> 1.06 of the ceiling, [1000,1600,32] .90 -> 1.06, [1000,1000,48] 1.14 -> 1.02; from 4 KB apart
// [200,300,64,16]{3,1,0,2} .98 -> .74, from 9.6 KB 1.12 -> .77, from 30 KB .55 -> .82. As many as
// make whole lines, if these are more: 24 problems with rows of 66 to 190 bytes in .54 of the time
// that four of them take, 16 bytes behind a line in .83; f32[96,4,800,37]{3,0,1,2} .58 -> 1.2 of
// the ceiling, f16[16,64,24,32,44]{4,0,2,1,3} .26 -> .78.
constexpr int64_t least_single_row_bytes = 192;
constexpr int64_t rows_together = 4;
constexpr int64_t soon_pages = 4;

// Rows that are no whole lines begin between them. Longer ones than a line go in the order of the
// source, joined or shifted one at a time, and not by way of images: 24 problems of 20 to 220 MB
// with rows of 330 bytes to 20 KB in .74 of the time on lines and between them, 12 of 130 to 320
// bytes in .78 and .86, 10 of 68 to 124 bytes in .83 and .90; of 52 and 60 bytes 1.2 to 1.35 times.
// f32[161,1027,205]{2,0,1} .49 -> .92 of the ceiling, u8[184,74,12,588]{3,1,2,0} .47 -> .99,
// f32[284,2307,34]{2,0,1} .44 -> .72. Those that are whole lines, of an array that begins between
// them, if they are worth shifting: of 320 and 448 bytes .83 to .95 of the time of images, of 256
// bytes .88 to 1.36. Short ones are better off by way of images on Zen 4: see Make::images_rows.

// Rows that are joined make lines where the target begins on one; elsewhere they went through the
// caches. Zen 4, 16 bytes behind a line: 11 problems with rows of 520 bytes to 3 KB .58 of the time
// of that, images of up to 2 KB .81: f64[512,256,98]{2,0,1} .42 -> .86 of the ceiling.
bool shifts_one_by_one(const Draft& draft, int64_t row_bytes) {
  return !draft.begins_line() && draft.schedule().nontemporal &&
         row_bytes >= least_shifted_row_bytes(draft.target()) &&
         shifts_rows_by_source(draft, row_bytes);
}

/// Whether rows of loop `k` make lines that begin between lines of the target, since those of other
/// loops do not: joined they go through the caches, by themselves around them.
bool joins_between_lines(const Draft& draft, int k, int64_t row_bytes) {
  const Target& target = draft.target();
  return target.joins_whole_lines && draft.schedule().nontemporal &&
         draft.both_extent_bytes() > target.imaging_bytes &&
         row_bytes >= least_shifted_row_bytes(target) && !others_begin_lines(draft, k, k);
}

/// Puts as many rows that follow each other in the target into a tile as make whole lines. False
/// where they do not, and in parts of boxes, which begin anywhere, unless rows are short: those of
/// scratch, joined, made too much code of u16 255 x 2047 (.15 -> .43 of the ceiling in the caches).
bool join_rows(Draft& draft, int64_t row_bytes) {
  if (draft.is_part() && row_bytes > draft.target().line_bytes) return false;
  const int64_t rows = joined_rows(row_bytes, draft.target());
  const int k = draft.next_in_run(0, row_bytes);
  if (rows == 1 || k < 0 || !draft.movable_inside(k) || draft.loop(k).extent < rows) return false;
  if (draft.loop(k).stride[1] == 0) return repeat_joined_rows(draft, k, rows, row_bytes);
  if (shifts_one_by_one(draft, row_bytes) || joins_between_lines(draft, k, row_bytes)) return false;
  draft.mark(draft.split_off(k, rows)) = Mark::target_run;
  return true;
}

/// Puts as many rows that begin between lines into a tile as it takes until they begin on one.
void rows_of_every_phase(Draft& draft, int64_t row_bytes) {
  if (!draft.begins_line()) return;
  int k = draft.loop_count() - 1;
  while (k >= 0 && (draft.mark(k) != Mark::outside || !draft.movable_inside(k) ||
                    draft.loop(k).stride[0] % draft.target().line_bytes == 0)) {
    --k;
  }
  if (k < 0) return;
  const int64_t rows = shifted_rows(row_bytes, draft.loop(k).stride[0], draft.target());
  if (rows > 1) draft.mark(draft.split_off(k, rows)) = Mark::target_run;
}

int64_t rows_at_a_time(const Draft& draft, int64_t row_bytes) {
  if (row_bytes % draft.target().line_bytes == 0) {
    const int64_t tile_rows =
        std::max<int64_t>(1, row_tile_vectors * draft.target().vector_bytes / row_bytes);
    return ceil_div(page_rows, tile_rows) * tile_rows;
  }
  const int64_t joined = joined_rows(row_bytes, draft.target());
  return std::max<int64_t>(1, short_run_bytes / row_bytes / joined) * joined;
}

/// Where short rows go on in one loop of the target and in another one of the source: some rows
/// of the target at a time, for as many as make pages of the source.
void rows_by_pages(Draft& draft, int64_t row_bytes) {
  if (2 * row_bytes > draft.target().page_bytes) return;
  const int next = draft.next_in_run(0, row_bytes);
  if (next < 0 || !draft.movable_inside(next) || draft.loop(next).stride[1] == 0) return;
  const int64_t rows = rows_at_a_time(draft, row_bytes);
  if (rows == 1) return;
  draft.split_off(next, rows);
  std::vector<int64_t> strides;
  for (int64_t reach = row_bytes;;) {
    const int k = draft.nearest_source(reach);
    if (k < 0 || draft.loop(k).stride[0] == row_bytes) break;
    const int64_t stride = std::abs(draft.loop(k).stride[1]);
    if (2 * stride > draft.target().page_bytes) break;
    strides.push_back(stride);
    reach = stride * draft.loop(draft.split_off(k, draft.target().page_bytes / stride)).extent;
  }
  for (; !strides.empty(); strides.pop_back()) draft.move_inside(draft.nearest(1, strides.back()));
  draft.move_inside(draft.next_in_run(0, row_bytes));
}

// Rows of a few lines, of which some that lie in other rows of the source make a block of the
// target, and the next one follows: in the order of the source lines would leave a block apart.
// Where vectors are parts of lines. Zen 3, 41 problems from rows of up to 2 KB to tiles .755 of
// the time, with fewer than 16 blocks 1.1.
constexpr int64_t most_blocked_row_bytes = 512, most_blocked_rows = 64, least_blocks = 16;

/// Whether rows make such blocks.
bool make_blocks(const Draft& draft, int64_t row_bytes) {
  const int next = draft.next_in_run(0, row_bytes), beside = draft.next_in_run(1, row_bytes);
  if (!halves_lines(draft) || next < 0 || beside < 0 || row_bytes > most_blocked_row_bytes)
    return false;
  const int64_t rows = draft.loop(next).extent, blocks = draft.loop(beside).extent;
  return rows <= most_blocked_rows && rows < blocks && blocks >= least_blocks &&
         draft.loop(beside).stride[0] == rows * row_bytes;
}

/// Where the processor reads ahead of steps: rows in the order of the source.
bool rows_by_source(Draft& draft, int64_t row_bytes) {
  const Target& target = draft.target();
  const bool whole = row_bytes % target.line_bytes == 0;
  if (!draft.schedule().nontemporal ||
      !(whole ? target.reads_ahead_by_step : shifts_rows_by_source(draft, row_bytes))) {
    return false;
  }
  if (whole && make_blocks(draft, row_bytes)) return false;
  const int next = draft.next_in_run(0, row_bytes);
  const bool together = row_bytes < least_single_row_bytes && next >= 0 &&
                        draft.movable_inside(next) &&
                        std::abs(draft.loop(next).stride[1]) > soon_pages * target.page_bytes;
  if (together) {
    const bool lines = others_begin_lines(draft, draft.contiguous(0), next);
    draft.split_off(next, std::max(rows_together, lines ? joined_rows(row_bytes, target) : 1));
  }
  draft.follow(1);
  if (together) draft.move_inside(draft.next_in_run(0, row_bytes));
  return true;
}

// So much of L1 holds lines of which other rows are read later, beside what is written meanwhile:
// half of it .99 of the time.
constexpr int64_t l1_shares = 4;

/// Whether there are too many rows between one of a line of the source and the next of it: 5
/// problems in .65 of the time, f32[16,31,40,6]{3,1,0,2} .47 -> .89 of the ceiling,
/// f32[12,300,5,7]{3,0,1,2} .51 -> 1.04, u16[3,127,5,14]{3,1,0,2} .49 -> .89.
bool comes_back_late(const Draft& draft, int64_t row_bytes) {
  const int next = draft.nearest(1, row_bytes);
  const int64_t line = draft.target().line_bytes, l1_bytes = draft.target().l1_bytes;
  if (next < 0 || std::abs(draft.loop(next).stride[1]) >= line || l1_bytes == 0) return false;
  int64_t rows = 1;
  for (int k = next + 1; k < draft.loop_count(); ++k)
    rows *= draft.mark(k) == Mark::outside ? draft.loop(k).extent : 1;
  return rows > l1_bytes / l1_shares / line;
}

/// Whether parts of lines of the source, which rows that follow each other in the target are, crowd
/// L1 or sets of it: what else is in these lines is gone before it is read. Of sets 17 such of 28
/// to 96 bytes in .85 of the time: f32[256,128,7]{2,0,1} .48 -> .81 of the ceiling, [128,128,10]
/// .53 -> .80.
bool crowds_l1(const Draft& draft, int64_t row_bytes) {
  if (row_bytes % draft.target().line_bytes == 0 || stays_in_l1(draft)) return false;
  const int k = draft.next_in_run(0, row_bytes);
  const bool in_sets =
      k >= 0 && !l1_holds_lines(draft.target(), draft.loop(k).stride[1], draft.loop(k).extent);
  return in_sets || comes_back_late(draft, row_bytes);
}

/// How many rows of so many vectors share a tile: more where what repeats fits the registers.
int64_t rows_of_tile(const Draft& draft, int64_t row_vectors) {
  const int64_t rows = row_tile_vectors / row_vectors;
  if (draft.schedule().movement != Movement::row ||
      row_vectors > most_held_vectors(draft.target())) {
    return rows;
  }
  int k = draft.loop_count() - 1;
  while (k >= 0 && (draft.mark(k) != Mark::outside || !draft.movable_inside(k))) --k;
  return k >= 0 && draft.loop(k).stride[1] == 0 ? std::max(rows, repeated_rows) : rows;
}

/// Whether the processor stores the runs of a splat faster by one operation each than by vectors.
bool stores_runs(const Draft& draft, int row) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes, fill = draft.extent_bytes(0);
  if (bytes > program::run_pattern_bytes || fill <= target.l2_bytes || fill > target.run_fill_bytes)
    return false;
  const int64_t times = fill > target.streaming_bytes ? 1 : longer_cached_runs;
  return draft.loop(row).extent * bytes / times >= target.stored_run_bytes;
}

}  // namespace

bool shifts_rows_by_source(const Draft& draft, int64_t row_bytes) {
  const Target& target = draft.target();
  const bool whole = row_bytes % target.line_bytes == 0;
  return target.reads_ahead_by_step && shifts_images(draft) &&
         (whole ? row_bytes >= least_shifted_row_bytes(target) : row_bytes > target.line_bytes);
}

void rows(Draft& draft, Movement movement, int innermost) {
  const int64_t bytes = draft.space().op.bytes;
  Schedule& schedule = draft.schedule();
  schedule.movement = movement;
  schedule.stores_runs = movement == Movement::splat && stores_runs(draft, innermost);
  if (schedule.stores_runs) schedule.nontemporal = false;
  const bool repeats = movement == Movement::row && repeats_source(draft);
  const bool cut = repeats && draft.loop(innermost).extent * bytes >= row_chunk_bytes;
  const bool reads = schedule.nontemporal && movement != Movement::splat;
  const int64_t chunk_bytes = schedule.stores_runs ? run_chunk_bytes
                              : cut                ? repeated_bytes
                              : reads              ? draft.target().row_streams * row_chunk_bytes
                                                   : row_chunk_bytes;
  const bool whole = draft.goal() == CodeGoal::small;
  const int run =
      whole ? innermost : draft.split_off(innermost, std::max<int64_t>(1, chunk_bytes / bytes));
  draft.mark(run) = Mark::target_run;
  const int64_t row_bytes = draft.loop(run).extent * bytes;
  if (movement == Movement::row) {
    const bool streams = schedule.nontemporal;
    if (repeats) repeat_rows(draft, row_bytes);
    if (streams) rows_of_every_phase(draft, row_bytes);
    if (!repeats && !rows_by_source(draft, row_bytes) && (streams || crowds_l1(draft, row_bytes))) {
      rows_by_pages(draft, row_bytes);
    }
    if (join_rows(draft, row_bytes)) return;
  }
  // Short rows: some of them share a tile. The loop next inside in the order of the target keeps
  // writes close.
  int64_t room = rows_of_tile(draft, ceil_div(row_bytes, draft.target().vector_bytes));
  for (int k = draft.loop_count() - 1; k >= 0 && room > 1; --k) {
    if (draft.mark(k) != Mark::outside || !draft.movable_inside(k)) continue;
    const int64_t extent = draft.loop(k).extent;
    // Computed rows keep to one loop.
    draft.mark(draft.split_off(k, room)) =
        movement == Movement::compute ? Mark::source_run : Mark::target_run;
    room /= extent;
  }
}

}  // namespace restride::scheduling
