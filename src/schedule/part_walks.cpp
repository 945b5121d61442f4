// See part_walks.hpp.
#include "schedule/part_walks.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "schedule/block_sizes.hpp"
#include "schedule/page_walks.hpp"

namespace restride::scheduling {
namespace {

// One translation saved for so many lines moved. Zen 4, pages of 4 KB, matrices of 64 MB to 1 GB:
// f32 4096 x 4096 in .91 of the time, 20000 x 3200 .84, 16384 x 4096 .82, others 1.0; u16 1.0; f64
// that is staged .78 to .94, 4800 x 5120 .61 -> .80 of the ceiling, 12000 x 3200 .60 -> .85. With
// two threads f64 .88, f32 1.0: pieces leave these rows of their own, with parts outermost f32 took
// 1.06 to 1.6. Parts of ttc that save less, or nothing, 1.09.
constexpr int64_t lines_for_a_walk = 12, least_parted_bytes = 4;

// Code for boxes with all that is left of loops. Six of f32 7264 x 7264 take .9 to 1.1 of the time,
// 19 KB behind lines and on them, and half a millisecond to plan.
constexpr int64_t most_copies = 4;

/// The loops outside of boxes, outermost first.
std::vector<int> outside_of_boxes(const Draft& draft) {
  std::vector<int> loops;
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (draft.mark(k) == Mark::outside) loops.push_back(k);
  }
  return loops;
}

/// Iterations of a loop, the coarsest of its axis, of which nothing is cut off.
int64_t whole_iterations(const Draft& draft, int k) {
  const Axis& axis = draft.space().axes[static_cast<size_t>(draft.loop(k).axis)];
  return std::min(draft.loop(k).extent, axis.valid / draft.loop(k).step);
}

/// Of the whole iterations of a loop up to `most`: as many as leave none of them, unless these are
/// few.
int64_t even_part(const Draft& draft, int k, int64_t most) {
  const int64_t part = dividing_part(whole_iterations(draft, k), most);
  return 2 * part >= most ? part : most;
}

/// How many times the code of a box comes, if a loop is parted by so many iterations: for whole
/// parts, for what is left of them, and for what is left of the last iteration.
int64_t copies(const Draft& draft, int k, int64_t part) {
  const int64_t whole = whole_iterations(draft, k);
  return 1 + (whole % part == 0 ? 0 : 1) + (whole == draft.loop(k).extent ? 0 : 1);
}

}  // namespace

void part_walks(Draft& draft, int64_t column) {
  const std::vector<int> loops = outside_of_boxes(draft);
  if (loops.size() != 2 || draft.space().op.bytes < least_parted_bytes) return;
  const int rows = loops.front(), columns = loops.back();
  const Loop &outer = draft.loop(rows), &inner = draft.loop(columns);
  if (outer.axis == inner.axis || !outer.own.empty() || !inner.own.empty()) return;
  // As many columns as leave room for the pages of the source.
  const int64_t boxes = draft.target().translated_pages / 2 * draft.space().op.bytes / column;
  if (boxes < 2 || boxes >= inner.extent) return;
  const int64_t share = outer.extent / least_units;
  if (share < 2) return;
  const int64_t part = even_part(draft, columns, boxes);
  const int64_t piece = even_part(draft, rows, share);
  if (copies(draft, columns, part) * copies(draft, rows, piece) > most_copies) return;

  Draft parted = draft;
  parted.split_off(columns, part);
  parted.split_off(rows, piece);
  parted.move_outside(columns + 1, rows + 1);
  const int64_t lines = draft.both_extent_bytes() / draft.target().line_bytes;
  if (page_walks(draft) - page_walks(parted) > lines / lines_for_a_walk) draft = std::move(parted);
}

}  // namespace restride::scheduling
