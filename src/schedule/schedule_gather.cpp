// Schedules of transposes by way of scratch: where elements of the source lie apart, to be dense,
// where its rows crowd sets of L1, to be read once, or where columns of the target do, to be
// written once.
//
//     source                 scratch        target
//     a . b . c . d .        a b c d        a e
//     e . f . g . h .        e f g h        b f ...
#include <algorithm>
#include <cstdlib>

#include "schedule/block_sizes.hpp"
#include "schedule/l1_sets.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {
namespace {

// Elements that lie apart make blocks that L1 holds beside other things.
constexpr int64_t apart_bytes = 8 * 1024;
// Elements of a source that lie apart come in from so much of it at a time: 15 transposes with 256
// bytes in .34 of the time of element by element, 512 .41, 1024 .38, 2048 .43.
constexpr int64_t apart_column_bytes = 256;

/// In which order a block lies in scratch: that of the source, or that of the target.
enum class BlockOrder : uint8_t { source, target };

/// Marks so much of the loops that are finest in the target and in the source as a block.
void mark_block(Draft& draft, int64_t rows, int64_t columns, BlockOrder order) {
  const auto take_rows = [&] { draft.move_inside(draft.split_off(draft.contiguous(0), rows)); };
  if (order == BlockOrder::source) take_rows();
  draft.move_inside(draft.split_off(draft.nearest(1, 1), columns));
  if (order == BlockOrder::target) take_rows();
  draft.mark(draft.loop_count() - 1) = draft.mark(draft.loop_count() - 2) = Mark::target_run;
  draft.schedule().movement = Movement::gather;
}

/// Marks runs of the source in as many rows as a block has room for. Runs of the target may go on
/// in what the source has taken: u8[16,128,128] reversed .22 -> .36 of the ceiling.
void mark_rows(Draft& draft) {
  const int64_t bytes = draft.space().op.bytes;
  const int64_t column = draft.take_run(1, bytes, crowding_column_bytes, Mark::target_run);
  const int64_t wanted = crowding_block_bytes / column * bytes;
  const auto taken = [&](int k) {
    return draft.mark(k) == Mark::outside ? 1 : draft.loop(k).extent;
  };
  for (int64_t row = 0, longer = bytes; longer > row;) {
    row = draft.take_run(0, longer, wanted, Mark::target_run);
    longer = run_bytes(draft, 0, taken);
  }
  draft.lay_tile(1);
  draft.schedule().movement = Movement::gather;
}

}  // namespace

bool gather_apart(Draft& draft) {
  const int row = draft.contiguous(0), column = draft.nearest(1, 1);
  if (draft.goal() == CodeGoal::part || draft.contiguous(1) >= 0 || row < 0 || column < 0 ||
      row == column || !draft.movable_inside(row)) {
    return false;
  }
  const int64_t bytes = draft.space().op.bytes, stride = std::abs(draft.loop(column).stride[1]);
  if (2 * stride > draft.target().line_bytes) return false;
  // In memory few elements at a time are as fast, where they are wide: f32[2000,2000] every other
  // one 2.8 ms for 3.7, by lanes for 14; u8[3000,4000] every fourth 138 ms for 21, by lanes 18 for
  // 37.
  const bool far = draft.extent_bytes(0) + draft.extent_bytes(1) > 2 * draft.target().imaging_bytes;
  if (permutes_lanes(draft.target()) ? draft.schedule().nontemporal : far && bytes >= 4)
    return false;
  return draft.instead(draft.schedule(), [&] {
    const int64_t columns = std::min(draft.loop(column).extent, apart_column_bytes / stride);
    mark_block(draft, std::max<int64_t>(1, apart_bytes / (columns * bytes)), columns,
               BlockOrder::source);
    return true;
  });
}

bool gather_crowded(Draft& draft) {
  // Blocks and rests of both steps are more code than transposes in place.
  if (draft.goal() != CodeGoal::fast || draft.schedule().nontemporal) return false;
  const bool rows_crowd = source_rows_crowd(draft);
  if (!rows_crowd && !target_columns_crowd(draft)) return false;
  return draft.instead(draft.schedule(), [&] {
    if (rows_crowd) {
      mark_rows(draft);
      return true;
    }
    const int64_t bytes = draft.space().op.bytes, most = crowding_run_bytes / bytes;
    const int64_t run = std::min(draft.loop(draft.contiguous(0)).extent, most);
    mark_block(draft, run, crowding_block_bytes / (run * bytes), BlockOrder::target);
    return true;
  });
}

}  // namespace restride::scheduling
