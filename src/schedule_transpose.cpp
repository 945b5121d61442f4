// Schedules of transposes: the loops that make runs of the target meet the loops that make runs of
// the source, both in blocks that keep the lines of either side in the cache until they are used
// up.
#include <algorithm>
#include <cstdlib>

#include "arithmetic.hpp"
#include "scheduler.hpp"

namespace restride {
namespace {

// A run of fewer bytes is not worth a lane of a transpose.
constexpr int64_t narrow_run_bytes = 16;
// Odd numbers of wider elements are joined by blends: runs of f64 x 3 .72 -> .96 of memcpy, f32 x 5
// .71 -> .94, f32 x 7 .78 -> .91, but f32 x 6 .80 -> .75.
constexpr int64_t narrow_odd_run_bytes = 32;

/// The elements of a block of a transpose: rows lie along the run of the target, columns along that
/// of the source.
struct Block {
  int64_t rows, columns;
};

// Measured on Sapphire Rapids, 4096 x 4096 and neighbours, share of a non-temporal copy: u8 128 x
// 512 .75 (128 x 64 .59, 256 x 256 .55), u16 128 x 256 .63, f32 .9 for 128 x 128, 128 x 256 and 64
// x 256, f64 64 x 128 .90. Where rows of the source lie far apart, f32[352,28,28,4,48] reversed: 64
// x 256 .67, 128 x 256 .64, 128 x 128 .55, 256 x 64 .42.
constexpr Block block_of(int64_t element_bytes) {
  if (element_bytes == 1) return {128, 512};
  if (element_bytes == 2) return {128, 256};
  if (element_bytes == 4) return {64, 256};
  return {64, 128};
}

// Narrower elements are staged: see page_rows.
constexpr int64_t page_element_bytes = 8;

// Rows that begin between lines share two lines with their neighbours, so they are longer. 4097 x
// 4095, share of a non-temporal copy: u8 .37 (128 rows .21), u16 .55 (128 rows .43).
constexpr Block shifted_block_of(int64_t element_bytes) {
  return element_bytes <= 2 ? Block{256, 256} : block_of(element_bytes);
}

}  // namespace

void Scheduler::transpose() {
  schedule_.movement = Movement::transpose;
  const IterationSpace unsplit = space();
  const int64_t bytes = space().op.bytes;
  int64_t row = take_run(0, bytes, target_.vector_bytes, Mark::target_run);
  int64_t column = take_run(1, bytes, schedule_.network_column_bytes, Mark::source_run);
  if (is_narrow(std::min(row, column)) && permutes()) {
    space() = unsplit;
    marks_.assign(space().loops.size(), Mark::outside);
    if (permute()) return;
    row = take_run(0, bytes, target_.vector_bytes, Mark::target_run);
    column = take_run(1, bytes, schedule_.network_column_bytes, Mark::source_run);
  }
  // A block of networks, so that lines are used up while they are in the cache.
  const int across = widest_source_loop();
  const bool aligned = across < 0 || loop(across).stride[0] % target_.line_bytes == 0;
  const bool pages = aligned && reads_pages(row, column);
  const Block block = pages     ? Block{page_rows, target_.page_bytes / bytes}
                      : aligned ? block_of(bytes)
                                : shifted_block_of(bytes);
  row = take_run(0, row, block.rows * bytes, Mark::target_run);
  column = take_run(1, column, block.columns * bytes, Mark::source_run);
  if (row == bytes && column == bytes) scattered();
  // Narrow unpacks run twice as often as wide ones: u8 16 x 16 .20 -> .3 of memcpy.
  const int64_t widest = target_.vector_bytes;
  schedule_.vector_bytes =
      static_cast<int>(std::clamp(round_up_to_power_of_two(row), int64_t{16}, widest));
  schedule_.staged = !pages;
  // Where a panel is read, the next one is asked for while it leaves, and row after row is what
  // memory answers fastest. (f32 4096 x 4096: .65 -> .75 of the ceiling.)
  if (schedule_.nontemporal) go_on(pages ? 0 : 1);
}

bool Scheduler::reads_pages(int64_t row, int64_t column) {
  const int64_t bytes = space().op.bytes;
  return schedule_.nontemporal && bytes >= page_element_bytes &&
         target_.vector_bytes == target_.line_bytes && goes_on(0, row, page_rows * bytes) &&
         goes_on(1, column, target_.page_bytes);
}

bool Scheduler::goes_on(size_t operand, int64_t run, int64_t wanted) {
  const int k = next_in_run(operand, run);
  return k >= 0 && run * loop(k).extent >= wanted;
}

bool Scheduler::is_narrow(int64_t run) {
  const int64_t bytes = space().op.bytes;
  const bool odd = run / bytes % 2 == 1 && run > bytes;
  return run < narrow_run_bytes || (bytes >= 4 && odd && run < narrow_odd_run_bytes);
}

int Scheduler::widest_source_loop() {
  for (int k = 0; k < loop_count(); ++k) {
    if (mark(k) == Mark::source_run && loop(k).stride[1] == space().op.bytes) return k;
  }
  return -1;
}

}  // namespace restride
