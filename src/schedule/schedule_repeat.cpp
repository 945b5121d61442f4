// Schedules of moves that repeat a large source: what is read of it is written everywhere while it
// is in L1, before the next of it is read. Rows are copied to each of their places; blocks that lie
// across the target are relaid into scratch once, and what repeats there makes runs of it.
#include <algorithm>

#include "program/program.hpp"
#include "schedule/block_sizes.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"
#include "schedule/streaming.hpp"

namespace restride::scheduling {
namespace {

// A block in scratch of a source that fills a target beyond L2, so that runs are longer: f32
// [512,1024] transposed 16 times .66 -> .75 of memset, u8[512,543] 32 times .60 -> .89,
// f64[310,360] 20 times .67 -> .92. In L2 f32[224,110] 8 times .85 -> .69; u16[3,450,555] twice .66
// -> .51.
constexpr int64_t filling_bytes = program::scratch_in_l1_bytes;
// Where blocks stream, whole rows of up to so many bytes that are no whole lines, of at least so
// many bytes of a row of the source: those that touch are copied as one run.
constexpr int64_t most_whole_row_bytes = 2 * 1024, least_block_column_bytes = 16;
// Blocks whose rows are made of what repeats have so much of a row in scratch: 64, 128 and 256
// bytes take 1.02, 1 and 1 of the time.
constexpr int64_t gathered_row_bytes = 128;
// Rows that are joined in scratch pay for it when they are copied so often; a unit writes so much.
constexpr int64_t least_repeats = 4, repeating_bytes = 64 * 1024;

void mark_repeats(Draft& draft, Mark as) {
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (is_repeat(draft, k)) draft.mark(k) = as;
  }
}

/// A block in scratch: how much of a row of the target it has and, at least, of one of the source,
/// bytes.
struct RepeatedBlock {
  int64_t bytes, row_bytes, least_column_bytes;
};

RepeatedBlock repeated_block(const Draft& draft) {
  const Target& target = draft.target();
  const int64_t element = draft.space().op.bytes, line = target.line_bytes;
  const int rows = draft.contiguous(0);
  const bool between_lines =
      target.repeats_large_blocks && rows >= 0 && !others_begin_lines(draft, rows);
  const bool fills_memory =
      (fills(draft) || between_lines) && draft.extent_bytes(0) > target.l2_bytes;
  const int64_t bytes = fills_memory ? filling_bytes : repeated_bytes;
  const RepeatedBlock block{bytes, bytes / line * element, line};
  if (!between_lines || !fills_memory || !draft.schedule().nontemporal) return block;
  const int64_t row = draft.loop(rows).extent * element;
  if (row > most_whole_row_bytes) return block;
  return {bytes, row, least_block_column_bytes};
}

/// Makes one run of rows of `row_bytes` that touch in the target.
void join_touching_rows(Draft& draft, int64_t row_bytes) {
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (draft.mark(k) != Mark::source_run || draft.loop(k).stride[0] != row_bytes) continue;
    draft.mark(k) = Mark::target_run;
    return;
  }
}

/// Marks the loops of a run of the target, repeated ones among them; returns how much of it the
/// source has, bytes.
int64_t take_repeated_run(Draft& draft) {
  const int64_t bytes = draft.space().op.bytes;
  int64_t run = bytes, row = bytes;
  for (int k = 0; k < draft.loop_count(); ++k) {
    const bool repeats = draft.mark(k) == Mark::target_run && draft.loop(k).stride[1] == 0;
    const bool goes_on = draft.mark(k) == Mark::outside && draft.movable_inside(k);
    if (draft.loop(k).stride[0] != run || !(repeats || goes_on)) continue;
    if (goes_on) {
      const int64_t room = gathered_row_bytes / row;
      if (room < 2 || draft.loop(k).stride[1] == bytes) break;
      k = draft.split_off(k, room);
      draft.mark(k) = Mark::target_run;
      row *= draft.loop(k).extent;
    }
    run *= draft.loop(k).extent;
    k = -1;
  }
  return row;
}

}  // namespace

void repeat_rows(Draft& draft, int64_t row_bytes) {
  int repeats = 0;
  bool in_a_row = false;
  for (int k = 0; k < draft.loop_count(); ++k) {
    repeats += is_repeat(draft, k) ? 1 : 0;
    in_a_row = in_a_row || (is_repeat(draft, k) && draft.loop(k).stride[0] == row_bytes);
  }
  for (; repeats > 0; --repeats) {
    int k = 0;
    while (!is_repeat(draft, k)) ++k;
    draft.move_inside(k);
  }
  // Repetitions alone write the target in a row: Zen 5, 10 problems in .90 of the time,
  // f32[64,256] to [64,256,256] .61 -> .90 of a fill.
  if (in_a_row) return;
  const int next = draft.next_in_run(1, row_bytes);
  if (next < 0 || !draft.movable_inside(next) || 2 * row_bytes > repeated_bytes) return;
  draft.move_inside(draft.split_off(next, repeated_bytes / row_bytes));
}

bool repeat_joined_rows(Draft& draft, int k, int64_t rows, int64_t row_bytes) {
  if (draft.is_part() || draft.loop(k).extent < least_repeats * rows) return false;
  // In L1 stores of half a line cost less than to wait for scratch: u16[128,16] 8 times .19 -> .82
  // of memset; in L2 .61 -> .35. Others cross lines: f32[2,30] 168 times .75 -> .39.
  if (stays_in_l1(draft) && draft.target().line_bytes % row_bytes == 0) return false;
  const int joined = draft.split_off(k, rows);
  draft.mark(joined) = Mark::target_run;
  draft.mark(draft.split_off(k, std::max(least_repeats, repeating_bytes / (rows * row_bytes)))) =
      Mark::source_run;
  draft.schedule().movement = Movement::repeat;
  return true;
}

bool repeat_blocks(Draft& draft) {
  if (!repeats_source(draft)) return false;
  return draft.instead(draft.schedule(), [&] {
    const int64_t bytes = draft.space().op.bytes, line = draft.target().line_bytes;
    const RepeatedBlock block = repeated_block(draft);
    mark_repeats(draft, Mark::source_run);
    const int64_t row = draft.take_run(0, bytes, block.row_bytes, Mark::target_run);
    draft.take_run(1, bytes, std::max(block.least_column_bytes, block.bytes / row * bytes),
                   Mark::source_run);
    if (block.least_column_bytes < line) join_touching_rows(draft, row);
    draft.schedule().movement = Movement::repeat;
    return row >= line;
  });
}

bool gather_repeats(Draft& draft) {
  if (draft.is_part() || !has_repeats(draft)) return false;
  return draft.instead(draft.schedule(), [&] {
    const int64_t bytes = draft.space().op.bytes, line = draft.target().line_bytes;
    mark_repeats(draft, Mark::target_run);
    const int64_t row = take_repeated_run(draft);
    const int64_t most = std::max(line, repeated_bytes / row * bytes);
    const int64_t column = draft.take_run(1, bytes, most, Mark::source_run);
    draft.schedule().movement = Movement::gather;
    return row > bytes && column > bytes;
  });
}

}  // namespace restride::scheduling
