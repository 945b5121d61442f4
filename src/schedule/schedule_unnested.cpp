// Schedules where digits of operands do not nest: blocks of whole periods, at whose borders all
// operands begin a tile.
#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {
namespace {

// Longer rows are moved where they are.
constexpr int64_t long_row_bytes = 64;
// A block that is permuted, once it has whole periods: code grows with its elements.
constexpr int64_t permuted_bytes = 1024;
constexpr int64_t most_permuted_elements = 1024;
// Scratch of a block that goes through it, so that it stays in L1 beside source and target.
constexpr int64_t gathered_bytes = 16 * 1024;
// And what there is, less some lines between its parts.
constexpr int64_t most_gathered_bytes = 31 * 1024;
// Rows of pieces have code for each, and windows of so many bytes. Geometric mean of 24 cases of
// the ceiling for windows of 256 .735, 512 .713, 1024 .708; gathered, or by elements, .428.
constexpr int64_t most_pieces = 320, window_bytes = 512, most_rows = 64;
// Each window has code of its own.
constexpr int64_t most_windows = 4;

int64_t product(const std::vector<int64_t>& extents) {
  int64_t product = 1;
  for (const int64_t extent : extents) product *= extent;
  return product;
}

/// The loops that make a row of source and target alike, from the finest to the one with digits
/// of its own; empty if there are none.
std::vector<int> row_with_own_digits(const Draft& draft) {
  std::vector<int> row;
  int64_t run = draft.space().op.bytes;
  while (row.empty() || draft.loop(row.back()).own.empty()) {
    int next = -1;
    for (int k = 0; k < draft.loop_count(); ++k) {
      if (draft.loop(k).stride[0] == run && draft.loop(k).stride[1] == run) next = k;
    }
    if (next < 0 || (!row.empty() && next > row.back())) return {};
    row.push_back(next);
    run *= draft.loop(next).own.empty() ? draft.loop(next).extent : 1;
  }
  return row;
}

/// Marks rows that a loop with digits of its own makes of pieces. False if there are none, or
/// where pieces are too many.
bool rows_of_pieces(Draft& draft) {
  if (!is_move(draft.space().op) || !draft.target().byte_masks) return false;
  const std::vector<int> row = row_with_own_digits(draft);
  if (row.empty()) return false;
  const int cut = row.back();
  int64_t pieces = 1, tile = 1;
  int operand = -1;
  for (const OwnDigit& digit : draft.loop(cut).own) {
    if (std::exchange(operand, digit.operand) == digit.operand) continue;
    pieces += draft.loop(cut).extent / digit.every;
    if (digit.operand == 0) tile = digit.every;
  }
  if (pieces > most_pieces) return false;
  draft.schedule().movement = Movement::row;
  draft.schedule().window_loop = cut;
  draft.schedule().window =
      std::max<int64_t>(1, window_bytes / (draft.loop(cut).stride[0] * tile)) * tile;
  for (const int k : row) draft.mark(k) = Mark::target_run;
  // The rows that follow each other use up the lines of a window while they are in L1.
  const int rows = cut - 1;
  if (rows >= 0 && !draft.loop(rows).own.empty()) {
    draft.mark(rows) = Mark::target_run;
  } else if (rows >= 0 && draft.movable_inside(rows)) {
    const int inside = draft.split_off(rows, most_rows);
    draft.mark(inside) = Mark::target_run;
    draft.schedule().window_loop += inside - rows;
  }
  return true;
}

/// Cuts the largest loop with digits of its own into windows, so that blocks have at most
/// `elements`. False if that takes too many.
bool cut_windows(Draft& draft, const std::vector<int64_t>& block, int64_t elements) {
  int largest = -1;
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (draft.loop(k).own.empty()) continue;
    if (largest < 0 || draft.loop(k).extent > draft.loop(largest).extent) largest = k;
  }
  const Loop& cut = draft.loop(largest);
  int64_t tile = 1;  // of the target, which is written in whole ones then
  for (const OwnDigit& digit : cut.own) {
    if (digit.operand == 0) tile *= digit.every;
  }
  const int64_t window = elements / (product(block) / cut.extent) / tile * tile;
  if (window == 0 || ceil_div(cut.extent, window) > most_windows) return false;
  draft.schedule().window = window;
  draft.schedule().window_loop = largest;
  return true;
}

/// Whether long rows of all operands lie inside of the loops with digits of their own.
bool has_nested_rows(const Draft& draft) {
  const int row = draft.contiguous(0);
  if (row < 0 || draft.loop(row).extent * draft.space().op.bytes < long_row_bytes) return false;
  for (int operand = 1; operand <= source_count(draft.space().op); ++operand) {
    const int64_t stride = draft.loop(row).stride[static_cast<size_t>(operand)];
    if (stride != 0 && stride != element_bytes(draft.space().op, operand)) return false;
  }
  return true;
}

/// The loops of whole periods and inside of them, by extent; empty if all digits nest.
std::vector<int64_t> period_block(const Draft& draft) {
  std::vector<int64_t> block(draft.space().loops.size(), 1);
  bool nests = true;
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (draft.loop(k).own.empty()) continue;
    nests = false;
    for (int inside = k; inside < draft.loop_count(); ++inside) {
      if (draft.loop(inside).axis == draft.loop(k).axis)
        block[static_cast<size_t>(inside)] = draft.loop(inside).extent;
    }
  }
  if (nests) block.clear();
  return block;
}

/// Lengthens a block by the loops that write closest to each other, up to `elements`.
void lengthen(const Draft& draft, std::vector<int64_t>& block, int64_t elements) {
  const auto is_inside = [&](int k) { return block[static_cast<size_t>(k)] > 1; };
  const auto may_join = [&](int k) {
    for (int finer = k + 1; finer < draft.loop_count(); ++finer) {
      if (draft.loop(finer).axis == draft.loop(k).axis && !is_inside(finer)) return false;
    }
    return !is_inside(k) && draft.loop(k).own.empty();
  };
  while (true) {
    int next = -1;
    for (int k = 0; k < draft.loop_count(); ++k) {
      const bool closer =
          next < 0 || std::abs(draft.loop(k).stride[0]) < std::abs(draft.loop(next).stride[0]);
      if (may_join(k) && closer) next = k;
    }
    const int64_t room = elements / product(block);
    if (next < 0 || room < 2) return;
    block[static_cast<size_t>(next)] = std::min(room, draft.loop(next).extent);
    if (room < draft.loop(next).extent) return;
  }
}

/// Bytes of scratch that a block takes for one element of the target.
int64_t gathered_element_bytes(const Draft& draft) {
  int64_t bytes = 0;
  for (int operand = 1; operand <= source_count(draft.space().op); ++operand) {
    bytes += element_bytes(draft.space().op, operand);
  }
  // What is computed may be relaid once more.
  return is_move(draft.space().op) ? bytes : 2 * bytes;
}

}  // namespace

bool unnested(Draft& draft) {
  const Target& target = draft.target();
  Schedule& schedule = draft.schedule();
  std::vector<int64_t> block = period_block(draft);
  if (block.empty() || has_nested_rows(draft)) return false;
  const int64_t bytes = draft.space().op.bytes, gathered = gathered_element_bytes(draft);
  const int64_t permuted = std::min(most_permuted_bytes / bytes, most_permuted_elements);
  if (is_move(draft.space().op) && permutes(draft) && product(block) <= permuted) {
    schedule.movement = Movement::permute;
    schedule.vector_bytes = permuted_window_bytes(target);
    if (schedule.vector_bytes < target.line_bytes) schedule.nontemporal = false;
    lengthen(draft, block, std::min(permuted_bytes / bytes, permuted));
  } else if (rows_of_pieces(draft)) {
    return true;
  } else {
    const int64_t most = most_gathered_bytes / gathered;
    if (product(block) > most && !cut_windows(draft, block, most)) return false;
    schedule.movement = is_move(draft.space().op) ? Movement::gather : Movement::compute;
    lengthen(draft, block, gathered_bytes / gathered);
  }
  for (int k = draft.loop_count() - 1; k >= 0; --k) {
    const int64_t extent = block[static_cast<size_t>(k)];
    if (extent == 1) continue;
    const int inside = draft.split_off(k, extent);
    draft.mark(inside) = Mark::target_run;
    if (schedule.window_loop > k) schedule.window_loop += inside - k;
  }
  return true;
}

}  // namespace restride::scheduling
