// Schedules where digits of operands do not nest: blocks of whole periods, at whose borders all
// operands begin a tile.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "base/arithmetic.hpp"
#include "schedule/scheduler.hpp"

namespace restride {
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

}  // namespace

bool Scheduler::unnested() {
  std::vector<int64_t> block = period_block();
  if (block.empty() || has_nested_rows()) return false;
  const int64_t bytes = space().op.bytes, gathered = gathered_element_bytes();
  const int64_t permuted = std::min(most_permuted_bytes / bytes, most_permuted_elements);
  if (is_move(space().op) && permutes() && product(block) <= permuted) {
    schedule_.movement = Movement::permute;
    schedule_.vector_bytes = permuted_window_bytes();
    if (schedule_.vector_bytes < target_.line_bytes) schedule_.nontemporal = false;
    lengthen(block, std::min(permuted_bytes / bytes, permuted));
  } else if (rows_of_pieces()) {
    return true;
  } else {
    const int64_t most = most_gathered_bytes / gathered;
    if (product(block) > most && !cut_windows(block, most)) return false;
    schedule_.movement = is_move(space().op) ? Movement::gather : Movement::compute;
    lengthen(block, gathered_bytes / gathered);
  }
  for (int k = loop_count() - 1; k >= 0; --k) {
    const int64_t extent = block[static_cast<size_t>(k)];
    if (extent == 1) continue;
    const int inside = split_off(k, extent);
    mark(inside) = Mark::target_run;
    if (schedule_.window_loop > k) schedule_.window_loop += inside - k;
  }
  return true;
}

std::vector<int> Scheduler::row_with_own_digits() {
  std::vector<int> row;
  int64_t run = space().op.bytes;
  while (row.empty() || loop(row.back()).own.empty()) {
    int next = -1;
    for (int k = 0; k < loop_count(); ++k) {
      if (loop(k).stride[0] == run && loop(k).stride[1] == run) next = k;
    }
    if (next < 0 || (!row.empty() && next > row.back())) return {};
    row.push_back(next);
    run *= loop(next).own.empty() ? loop(next).extent : 1;
  }
  return row;
}

bool Scheduler::rows_of_pieces() {
  if (!is_move(space().op) || !target_.byte_masks) return false;
  const std::vector<int> row = row_with_own_digits();
  if (row.empty()) return false;
  const int cut = row.back();
  int64_t pieces = 1, tile = 1;
  int operand = -1;
  for (const OwnDigit& digit : loop(cut).own) {
    if (std::exchange(operand, digit.operand) == digit.operand) continue;
    pieces += loop(cut).extent / digit.every;
    if (digit.operand == 0) tile = digit.every;
  }
  if (pieces > most_pieces) return false;
  schedule_.movement = Movement::row;
  schedule_.window_loop = cut;
  schedule_.window = std::max<int64_t>(1, window_bytes / (loop(cut).stride[0] * tile)) * tile;
  for (const int k : row) mark(k) = Mark::target_run;
  // The rows that follow each other use up the lines of a window while they are in L1.
  const int rows = cut - 1;
  if (rows >= 0 && !loop(rows).own.empty()) {
    mark(rows) = Mark::target_run;
  } else if (rows >= 0 && movable_inside(rows)) {
    const int inside = split_off(rows, most_rows);
    mark(inside) = Mark::target_run;
    schedule_.window_loop += inside - rows;
  }
  return true;
}

bool Scheduler::cut_windows(const std::vector<int64_t>& block, int64_t elements) {
  int largest = -1;
  for (int k = 0; k < loop_count(); ++k) {
    if (loop(k).own.empty()) continue;
    if (largest < 0 || loop(k).extent > loop(largest).extent) largest = k;
  }
  const Loop& cut = loop(largest);
  int64_t tile = 1;  // of the target, which is written in whole ones then
  for (const OwnDigit& digit : cut.own) {
    if (digit.operand == 0) tile *= digit.every;
  }
  const int64_t window = elements / (product(block) / cut.extent) / tile * tile;
  if (window == 0 || ceil_div(cut.extent, window) > most_windows) return false;
  schedule_.window = window;
  schedule_.window_loop = largest;
  return true;
}

bool Scheduler::has_nested_rows() {
  const int row = contiguous(0);
  if (row < 0 || loop(row).extent * space().op.bytes < long_row_bytes) return false;
  for (int operand = 1; operand <= source_count(space().op); ++operand) {
    const int64_t stride = loop(row).stride[static_cast<size_t>(operand)];
    if (stride != 0 && stride != element_bytes(space().op, operand)) return false;
  }
  return true;
}

std::vector<int64_t> Scheduler::period_block() {
  std::vector<int64_t> block(space().loops.size(), 1);
  bool nests = true;
  for (int k = 0; k < loop_count(); ++k) {
    if (loop(k).own.empty()) continue;
    nests = false;
    for (int inside = k; inside < loop_count(); ++inside) {
      if (loop(inside).axis == loop(k).axis)
        block[static_cast<size_t>(inside)] = loop(inside).extent;
    }
  }
  if (nests) block.clear();
  return block;
}

void Scheduler::lengthen(std::vector<int64_t>& block, int64_t elements) {
  const auto is_inside = [&](int k) { return block[static_cast<size_t>(k)] > 1; };
  const auto may_join = [&](int k) {
    for (int finer = k + 1; finer < loop_count(); ++finer) {
      if (loop(finer).axis == loop(k).axis && !is_inside(finer)) return false;
    }
    return !is_inside(k) && loop(k).own.empty();
  };
  while (true) {
    int next = -1;
    for (int k = 0; k < loop_count(); ++k) {
      const bool closer = next < 0 || std::abs(loop(k).stride[0]) < std::abs(loop(next).stride[0]);
      if (may_join(k) && closer) next = k;
    }
    const int64_t room = elements / product(block);
    if (next < 0 || room < 2) return;
    block[static_cast<size_t>(next)] = std::min(room, loop(next).extent);
    if (room < loop(next).extent) return;
  }
}

int64_t Scheduler::gathered_element_bytes() {
  int64_t bytes = 0;
  for (int operand = 1; operand <= source_count(space().op); ++operand) {
    bytes += element_bytes(space().op, operand);
  }
  // What is computed may be relaid once more.
  return is_move(space().op) ? bytes : 2 * bytes;
}

}  // namespace restride
