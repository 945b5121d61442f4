// Schedules of rows: runs that source and target have in common, or that repeat an element.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/arithmetic.hpp"
#include "microkernel/microkernel.hpp"
#include "schedule/scheduler.hpp"

namespace restride {
namespace {

// A unit of a long copy or fill: long enough that starting it costs nothing, short enough to share
// out.
constexpr int64_t row_chunk_bytes = 16 * 1024;
// A tile of short rows is unrolled up to this many vectors.
constexpr int64_t row_tile_vectors = 16;

// Of rows that are no whole lines so many bytes are written before the source goes on. Rows of 32
// bytes, geometric mean of 14 cases: 512 .98 (1 KB .95, 2 KB .91, all rows .78); of 48 bytes 384
// .96 (768 .83, all .66).
constexpr int64_t short_run_bytes = 512;

}  // namespace

void Scheduler::rows(Movement movement, int innermost) {
  schedule_.movement = movement;
  const int64_t bytes = space().op.bytes;
  const int run = split_off(innermost, std::max<int64_t>(1, row_chunk_bytes / bytes));
  mark(run) = Mark::target_run;
  const int64_t row_bytes = loop(run).extent * bytes;
  const bool repeats = movement == Movement::row && repeats_source();
  if (repeats) repeat_rows(row_bytes);
  if (movement == Movement::row && schedule_.nontemporal) {
    rows_of_every_phase(row_bytes);
    if (!repeats) rows_by_pages(row_bytes);
  }
  if (movement == Movement::row && join_rows(row_bytes)) return;
  // Short rows: some of them share a tile. The loop next inside in the order of the target keeps
  // writes close.
  int64_t room = row_tile_vectors / ceil_div(row_bytes, target_.vector_bytes);
  for (int k = loop_count() - 1; k >= 0 && room > 1; --k) {
    if (mark(k) != Mark::outside || !movable_inside(k)) continue;
    const int64_t extent = loop(k).extent;
    // Computed rows keep to one loop.
    mark(split_off(k, room)) = movement == Movement::compute ? Mark::source_run : Mark::target_run;
    room /= extent;
  }
}

bool Scheduler::join_rows(int64_t row_bytes) {
  const int64_t rows = joined_rows(row_bytes, target_);
  const int k = next_in_run(0, row_bytes);
  if (rows == 1 || k < 0 || !movable_inside(k) || loop(k).extent < rows) return false;
  if (loop(k).stride[1] == 0) return repeat_joined_rows(k, rows, row_bytes);
  mark(split_off(k, rows)) = Mark::target_run;
  return true;
}

void Scheduler::rows_of_every_phase(int64_t row_bytes) {
  int k = loop_count() - 1;
  while (k >= 0 && (mark(k) != Mark::outside || !movable_inside(k) ||
                    loop(k).stride[0] % target_.line_bytes == 0)) {
    --k;
  }
  if (k < 0) return;
  const int64_t rows = shifted_rows(row_bytes, loop(k).stride[0], target_);
  if (rows > 1) mark(split_off(k, rows)) = Mark::target_run;
}

void Scheduler::rows_by_pages(int64_t row_bytes) {
  if (2 * row_bytes > target_.page_bytes) return;
  const int next = next_in_run(0, row_bytes);
  if (next < 0 || !movable_inside(next) || loop(next).stride[1] == 0) return;
  const int64_t rows = rows_at_a_time(row_bytes);
  if (rows == 1) return;
  split_off(next, rows);
  std::vector<int64_t> strides;
  for (int64_t reach = row_bytes;;) {
    const int k = nearest_source(reach);
    if (k < 0 || loop(k).stride[0] == row_bytes) break;
    const int64_t stride = std::abs(loop(k).stride[1]);
    if (2 * stride > target_.page_bytes) break;
    strides.push_back(stride);
    reach = stride * loop(split_off(k, target_.page_bytes / stride)).extent;
  }
  for (; !strides.empty(); strides.pop_back()) move_inside(nearest(1, strides.back()));
  move_inside(next_in_run(0, row_bytes));
}

int64_t Scheduler::rows_at_a_time(int64_t row_bytes) const {
  if (row_bytes % target_.line_bytes == 0) {
    const int64_t tile_rows =
        std::max<int64_t>(1, row_tile_vectors * target_.vector_bytes / row_bytes);
    return ceil_div(page_rows, tile_rows) * tile_rows;
  }
  const int64_t joined = joined_rows(row_bytes, target_);
  return std::max<int64_t>(1, short_run_bytes / row_bytes / joined) * joined;
}

}  // namespace restride
