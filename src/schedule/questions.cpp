// See questions.hpp.
#include "schedule/questions.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/arithmetic.hpp"
#include "microkernel/packed/mixed_box.hpp"
#include "microkernel/transpose/copied_run.hpp"
#include "schedule/l1_sets.hpp"

namespace restride::scheduling {

bool crowds_sets(const Draft& draft) {
  const ElementOp& op = draft.space().op;
  const int across = draft.contiguous(1), down = draft.contiguous(0);
  if (!(is_move(op) || only_packs(op)) || !draft.runs_cross()) return false;
  const auto crowds = [&](int k, size_t operand, int64_t count) {
    const Loop& loop = draft.loop(k);
    const int64_t stride = loop.stride[operand] / (op.packing[operand].bits != 0 ? 8 : 1);
    return stride != 0 && !l1_holds_lines(draft.target(), stride, std::min(loop.extent, count));
  };
  const int64_t count = draft.target().line_bytes * elements_in_byte(op, 1) / op.bytes;
  return crowds(across, 0, count) || (crowds(across, 0, 2 * count) && crowds(down, 1, 2 * count));
}

bool is_repeat(const Draft& draft, int k) {
  return draft.mark(k) == Mark::outside && draft.loop(k).stride[1] == 0 &&
         draft.loop(k).stride[0] != 0 && draft.loop(k).extent > 1 && draft.movable_inside(k);
}

bool has_repeats(const Draft& draft) {
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (is_repeat(draft, k)) return true;
  }
  return false;
}

bool repeats_source(const Draft& draft) {
  const Target& target = draft.target();
  // Half of L1 stays there, but comes to it again behind long runs of lines that are written. Zen
  // 4, 16 KB 16 to 400 times .90 to .96 of the time by chunks, 800 times 1.01, 1600 times 1.47.
  const bool small = draft.extent_bytes(0) <= target.l3_bytes / 4;
  const int64_t least = small ? target.l1_bytes / 2 : target.l1_bytes / 2 + 1;
  return !draft.is_part() && draft.extent_bytes(1) >= least && has_repeats(draft);
}

bool stays_in_l1(const Draft& draft) {
  return draft.both_extent_bytes() <= draft.target().l1_bytes;
}

// Emerald Rapids, 90 problems of 2.5 to 17 MB in images from 4 MB on: .97 of the time, with
// neighbours so far apart .9, nearer than a line 1.2.
constexpr int64_t far_neighbour_bytes = 256;

bool stays_beside(const Draft& draft, int64_t times) {
  const Target& target = draft.target();
  const bool far = row_pitch(draft) >= far_neighbour_bytes;
  const int64_t most =
      far ? std::min(target.imaging_bytes, target.far_imaging_bytes) : target.imaging_bytes;
  return times * draft.both_extent_bytes() <= most;
}

bool begins_lines(const Draft& draft) {
  if (!draft.begins_line()) return false;
  // Vectors of half a line make whole ones with those that follow.
  const int64_t vector = draft.target().vector_bytes;
  for (int k = 0; k < draft.loop_count(); ++k) {
    const bool follows = vector < draft.target().line_bytes && draft.loop(k).stride[0] == vector;
    if (draft.mark(k) != Mark::target_run && !follows &&
        draft.loop(k).stride[0] % draft.target().line_bytes != 0)
      return false;
  }
  return true;
}

bool others_begin_lines(const Draft& draft, int row, int column) {
  if (!draft.begins_line()) return false;
  for (int k = 0; k < draft.loop_count(); ++k) {
    const bool other = draft.mark(k) == Mark::outside && k != row && k != column;
    if (other && draft.loop(k).stride[0] % draft.target().line_bytes != 0) return false;
  }
  return true;
}

bool shifts_images(const Draft& draft) {
  const bool runs = draft.goal() == CodeGoal::fast || draft.goal() == CodeGoal::small;
  return draft.schedule().nontemporal && runs &&
         leaves_in_lines(draft.target(), draft.space().op.bytes);
}

bool halves_lines(const Target& target) { return target.vector_bytes < target.line_bytes; }
bool halves_lines(const Draft& draft) { return halves_lines(draft.target()); }

bool goes_on(const Draft& draft, size_t operand, int64_t run, int64_t wanted) {
  const int k = draft.next_in_run(operand, run);
  return k >= 0 && run * draft.loop(k).extent >= wanted;
}

bool begins_runs(const Draft& draft, int k) {
  for (int operand = 1; operand <= source_count(draft.space().op); ++operand) {
    const int64_t stride = draft.loop(k).stride[static_cast<size_t>(operand)];
    if (stride == element_stride(draft.space().op, operand)) return true;
  }
  return false;
}

int finest_loop(const Draft& draft, size_t operand) {
  int finest = -1;
  for (int k = 0; k < draft.loop_count(); ++k) {
    const int64_t stride = std::abs(draft.loop(k).stride[operand]);
    if (stride == 0) continue;
    if (finest < 0 || stride < std::abs(draft.loop(finest).stride[operand])) finest = k;
  }
  return finest;
}

int64_t row_pitch(const Draft& draft) {
  const int down = finest_loop(draft, 0);
  return down < 0 ? 0 : std::abs(draft.loop(down).stride[1]);
}

int widest_source_loop(const Draft& draft) {
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (draft.mark(k) == Mark::source_run && draft.loop(k).stride[1] == draft.space().op.bytes)
      return k;
  }
  return -1;
}

bool permutes(const Draft& draft) {
  const int64_t bytes = draft.space().op.bytes;
  return draft.target().permute_width > 0 && bytes >= draft.target().permute_width && bytes < 16;
}

int permuted_window_bytes(const Target& target) {
  return std::min(target.vector_bytes, target.permute_bytes);
}

bool permutes_whole_lines(const Target& target) {
  return target.permute_width > 0 && permuted_window_bytes(target) == target.line_bytes;
}

}  // namespace restride::scheduling
