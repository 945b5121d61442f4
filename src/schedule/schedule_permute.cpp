// Schedules of permutations: a block whose source and target both are a few contiguous windows
// (permuted_block), and in which order blocks follow each other.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "program/program.hpp"
#include "schedule/movements.hpp"
#include "schedule/permuted_block.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {
namespace {

// Windows of the target are asked for this long before they are written, where the target goes on
// for some time. L2: u8 10000 x 3 .68 -> 1.1 of the ceiling, x 4 .65 -> .96, x 5 .69 -> .96, f32
// [200,300,3] by rows .88 -> .98; 64, 128 and 256 bytes are the same.
constexpr int64_t window_ahead_bytes = 128;

// Networks take about 9, 7 or 6 operations a line of bytes, pairs of them or wider elements, more
// where neither rows nor columns are whole lanes. Batches of 40, and windows joined: u8 19 x 19 (6)
// .13 -> .16, 20 x 20 (7) .15 -> .13; u16 8 x 20 (5) .30 -> .38, 14 x 14 (7) .23 -> .16; u32 8 x 8
// (4) .37 -> .39, 8 x 16 (8) .41 -> .30, 10 x 10 (7) .12 -> .18; u64 8 x 8 (8) .51 -> .40, 9 x 6
// (7) .35 -> .19, 7 x 7 (7) .19 -> .32.
int64_t most_joined_of_dense(int64_t element_bytes, bool whole_lanes) {
  if (element_bytes == 1) return 6;
  if (element_bytes == 2) return 5;
  return whole_lanes ? 4 : 7;
}

/// Whether networks get rows that are skewed, as many of either as they take.
bool fills_skewed_networks(Draft draft) {
  const int64_t bytes = draft.space().op.bytes, row = draft.target().vector_bytes;
  return draft.take_run(0, bytes, row, Mark::target_run) == row &&
         draft.take_run(1, bytes, row / 2, Mark::source_run) == row / 2;
}

// Some processors are better off where windows share blends, if networks would fill lanes. Zen 5:
// u8 32 x 16 .36 -> .50 of the ceiling; but without whole lanes u8 24 x 24 .33 -> .30. Where
// networks are skewed (Emerald Rapids), if these would not be full: 34 of u16 and f32 .96 of the
// time, u16 8 x 32 .37 -> .55, f32 8 x 16 .48 -> .55; full ones 1.2 to 1.3.
int64_t steps_of_dense_rings(const Draft& draft, bool whole_lanes) {
  const bool pays = draft.space().op.bytes <= draft.target().dense_ring_bytes ||
                    (draft.schedule().skews_rows && !fills_skewed_networks(draft));
  return pays && whole_lanes ? steps_of_rings(program::lane_bytes) : 0;
}

// Where blocks stream whose source and target go on in different loops, a page of the source comes
// in at a time, into two lines of the target wherever that leads: u8 4096 x 4096 from columns to
// T(8,8) .44 -> .86 of the ceiling, f16 4000 x 4000 to T(4,4) .48 -> .83; into one line .56, into
// four .72, 512 bytes of the source .59.
constexpr int64_t permuted_line_bytes = 128;

// As many operations a line hide behind memory.
constexpr int64_t most_joined_into_lines = 8;

// Blocks whose runs of the target begin between lines are joined to images of so many bytes: a
// single run, or each of several. f32[64,3,299,299] to pixels with 2, 4 and 8 KB 1.01, 1.05 and
// 1.05 of the ceiling, u8 .88, .93 and .91; back .94, .92 and .83 a run, u8 .82, .79 and .72.
// Images of matrices end on a line: u8 13 x 13 (10.8 KB) .58 -> .9.
constexpr int64_t image_bytes = 4 * 1024;
constexpr int64_t images_run_bytes = 2 * 1024;
constexpr int64_t least_image_run_bytes = 1024;
constexpr int64_t most_images_bytes = 24 * 1024;
// Blocks of whole lines that several loops lead from one to the next are, too. Zen 4, both arrays
// 16 bytes behind a line, 18 problems .76 of the time: bf16[4096,4096] to T(8,128)(2,1) .57 -> .73
// of the ceiling, s8[8000,5120] to T(8,128)(4,1) .56 -> .81, f16[9640,5256], whose last tiles are
// cut, .67 -> .89; s8 4096 x 4096 to T(32,128)(4,1) .95.

// Rows that repeat an element each are permuted where windows join so few, else by way of scratch:
// [1000,1000] transposed, repeated twice to four times u8 .10 -> .59, .09 -> .48, .17 -> .58, u16
// .08 -> .57. 40 such in the caches take .58 of the time of permutes, with 6 to join .71.
constexpr int64_t most_joined_of_repeats = 3;

// Where lanes are permuted. u8 7 x N .21 -> .38 of the ceiling, 8 x N .44 -> .34, N x 10 .34 ->
// .15, 12 x N .34 -> .15, 9 and 11 x N .29 -> .31 and .24 -> .19; u16 7 x N .39 -> .57.
constexpr int64_t most_joined_of_lanes = 7;

// Windows that are no lines go around the caches where the target goes on for so long from block to
// block: 2 to 7 x N of u8, u16 and f32, 24 MB, for blocks of whole lines: u8 5 x N .62 -> .96, u16
// 5 x N .64 -> 1.05, f32 3 x N .87 -> 1.06. Where it has several runs, lines that are left open for
// the next block: u16 N x 4 .87 -> .57.
constexpr int64_t least_followed_run_bytes = 1024;

// Rows that lie apart are copied through masks unless windows join fewer others than they have
// rows, or, beyond L2, rows are whole numbers of so many bytes, of which few make whole lines. Zen
// 4, 96 problems with rows of 9 to 31 bytes .76 of the time: u16[31,7,14]{2,0,1} .24 -> .69 of the
// ceiling, f32[24,15,3] .16 -> .38, u16[128,256,11] .54 -> .80, u16[32,31,2000,13]{3,1,0,2} .35 ->
// .62; but u8[200,31,200,24]{3,0,1,2} .71 -> .39, rows 16 bytes apart f32[1000,3] .57 -> .38.
constexpr int64_t whole_row_unit = 8, least_copied_bytes = 9;

/// Whether all runs of the target, of `run` bytes, that blocks make begin on lines.
bool begin_lines(const Draft& draft, const PermutedBlock& block, int64_t run) {
  const std::vector<Loop>& loops = draft.space().loops;
  const int64_t line = draft.target().line_bytes;
  for (size_t k = 0; k < block.size(); ++k) {
    const int64_t stride = loops[k].stride[0];
    const bool several = block[k] > 1 && std::abs(stride) >= run;
    const bool goes_on = block[k] < loops[k].extent;
    if ((several && stride % line != 0) || (goes_on && stride * block[k] % line != 0)) return false;
  }
  return draft.begins_line() && run % line == 0;
}

/// How many of `blocks` leave at once where about `wanted` should: a multiple of `unit`, of which
/// none are left if that can be, since these take as much code again.
int64_t blocks_at_once(int64_t blocks, int64_t wanted, int64_t unit) {
  const int64_t count = std::min(std::max(wanted, unit), blocks) / unit * unit;
  for (int64_t more = 0; count > 0 && 2 * more <= count; more += unit) {
    if (blocks % (count + more) == 0) return count + more;
    if (blocks % (count - more) == 0) return count - more;
  }
  return count;
}

/// Whether blocks that follow each other make lines of the target: they are one run of it, which
/// goes on as the source does.
bool follow_in_lines(const Draft& draft, const PermutedBlock& block) {
  const int64_t run = block_run(draft, block, 0), vector = draft.target().vector_bytes;
  if (!draft.begins_line() || run % permuted_window_bytes(draft.target()) != 0 ||
      run != block_bytes(draft, block))
    return false;
  int64_t longest = 0;
  for (int k = 0; k < draft.loop_count(); ++k) {
    const int64_t taken = block[static_cast<size_t>(k)], stride = std::abs(draft.loop(k).stride[0]);
    if (!draft.loop(k).own.empty()) return false;
    if (stride * taken == run) {
      const int64_t source = std::abs(draft.loop(k).stride[1]) * taken;
      if (source != 0 && source != block_run(draft, block, 1)) return false;
      longest = std::max(longest, draft.loop(k).extent * stride);
    } else if (stride >= run && stride % vector != 0) {
      return false;
    }
  }
  return longest >= least_followed_run_bytes;
}

/// The windows of the source that one of a block may join.
int64_t most_joined(const Draft& draft, const PermutedLimits& most, const PermutedBlock& block) {
  if (!permutes_lanes(draft.target())) return most.joined;
  const bool lines =
      draft.schedule().nontemporal && block_run(draft, block, 0) != block_bytes(draft, block);
  return std::min(most.joined, lines ? most.joined_of_lines : most_joined_of_lanes);
}

/// Whether windows of the target join few of the source, one after the other.
bool joins_few(const Draft& draft, const PermutedLimits& most, const PermutedBlock& block) {
  const int64_t bytes = block_bytes(draft, block);
  if (bytes > most_permuted_bytes || bytes == draft.space().op.bytes) return false;
  const Windows windows = windows_of(draft, block);
  return windows.joined <= most_joined(draft, most, block) &&
         windows.targets * windows.joined <= most.all;
}

/// Puts the loops with which both operands go on behind a block right around it; returns the runs
/// that they make, bytes. So do tiles of which one holds some of the other's, and pages and lines
/// are those of what follows, unless the target's tile is no page. Zen 4, 19 problems .77 of the
/// time: f16[4096,4096] from T(8,8) to {0,1:T(16,16)} .37 -> .61 of the ceiling, f32[6144,4096]
/// from T(4,4) to {0,1:T(8,8)} .26 -> .56, u8[8,3550,1288] from T(8,128) to {0,2,1} .39 -> .80;
/// bf16[4096,4096] to T(8,128)(2,1) 1.3.
std::array<int64_t, 2> take_common(Draft& draft, const std::array<int64_t, 2>& runs) {
  Draft taken = draft;
  std::array<int64_t, 2> longer = runs;
  for (int k; (k = taken.next_in_run(1, longer[1])) >= 0 && k == taken.next_in_run(0, longer[0]);) {
    taken.mark(k) = Mark::around;
    for (int64_t& run : longer) run *= taken.loop(k).extent;
  }
  const int next = taken.next_in_run(0, longer[0]);
  const bool lasts = next >= 0 && longer[0] * taken.loop(next).extent > draft.target().page_bytes;
  if (longer == runs || !lasts) return runs;
  draft = std::move(taken);
  return longer;
}

/// Puts what goes on behind runs of a block right around it. `runs`: of each operand, bytes.
void permute_pages(Draft& draft, std::array<int64_t, 2> runs) {
  runs = take_common(draft, runs);
  const int source = draft.nearest_source(runs[1]), target = draft.next_in_run(0, runs[0]);
  if (source < 0 || target < 0 || source == target) return;
  const int64_t stride = std::abs(draft.loop(source).stride[1]);
  const int64_t most = std::max<int64_t>(1, draft.target().page_bytes / stride);
  if (draft.goal() == CodeGoal::small) {  // without rests
    if (draft.loop(source).extent <= most) draft.move_inside(source);
    return;
  }
  draft.move_inside(draft.split_off(source, most));
  const int64_t lines = std::max<int64_t>(1, permuted_line_bytes / runs[0]);
  draft.move_inside(draft.split_off(draft.next_in_run(0, runs[0]), lines));
}

/// The loop that goes on by `bytes` in the target, behind what a block has of it; -1: none.
int loop_behind(const Draft& draft, const PermutedBlock& block, int64_t bytes) {
  for (int k = 0; k < draft.loop_count(); ++k) {
    const int64_t taken = block[static_cast<size_t>(k)];
    if (draft.loop(k).own.empty() && draft.loop(k).extent > taken &&
        draft.loop(k).stride[0] * taken == bytes)
      return k;
  }
  return -1;
}

/// How many blocks of whole lines follow each other along several loops, up to an image of them.
int64_t blocks_of_digits(const Draft& draft, const PermutedBlock& block, int64_t run,
                         int64_t wanted) {
  int64_t count = 1;
  for (int k; 2 * count <= wanted && (k = loop_behind(draft, block, count * run)) >= 0;) {
    const int64_t taken = block[static_cast<size_t>(k)], extent = draft.loop(k).extent;
    const int64_t blocks = extent / taken, most = wanted / count;
    if (blocks > most) return count * blocks_at_once(blocks, most, 1);
    count *= blocks;
    if (extent % taken != 0) break;
  }
  return count;
}

/// How many blocks, whose runs begin between lines and stream, are joined to leave in lines;
/// or 1.
int64_t blocks_of_image(const Draft& draft, const PermutedBlock& block) {
  const int64_t line = draft.target().line_bytes, run = block_run(draft, block, 0);
  const bool images =
      shifts_images(draft) && draft.goal() == CodeGoal::fast && !stays_beside(draft);
  if (!images || begin_lines(draft, block, run)) return 1;
  const int64_t runs = block_bytes(draft, block) / run;
  for (int k = 0; k < draft.loop_count(); ++k) {
    const int64_t taken = block[static_cast<size_t>(k)];
    if (!draft.loop(k).own.empty() || draft.loop(k).stride[0] * taken != run) continue;
    const int64_t wanted = (runs == 1 ? image_bytes : images_run_bytes) / run;
    const int64_t count =
        blocks_at_once(draft.loop(k).extent / taken, wanted, line / std::gcd(run, line));
    if (count * run >= least_image_run_bytes && count * run * runs <= most_images_bytes) {
      return count;
    }
  }
  const int64_t count =
      runs == 1 && run % line == 0 ? blocks_of_digits(draft, block, run, image_bytes / run) : 1;
  return count * run >= least_image_run_bytes ? count : 1;
}

/// Repeats the block where its runs of the target, of `run` bytes, go on.
void join_in_image(Draft& draft, int64_t run, int64_t blocks) {
  for (int next; blocks > 1 && (next = draft.next_in_run(0, run)) >= 0;) {
    if (!draft.movable_inside(next)) return;
    const int64_t taken = std::min(blocks, draft.loop(next).extent);
    draft.mark(draft.split_off(next, taken)) = Mark::source_run;
    run *= taken;
    blocks /= taken;
  }
}

bool mark_permuted(Draft& draft, const PermutedLimits& most) {
  const Target& target = draft.target();
  Schedule& schedule = draft.schedule();
  const int window = permuted_window_bytes(target);
  PermutedBlock block = permuted_block(draft, window, window);
  const bool narrow = window < target.line_bytes;
  const bool follows = narrow && schedule.nontemporal && follow_in_lines(draft, block);
  if (narrow && schedule.nontemporal && !follows)
    block = permuted_block(draft, target.line_bytes, window);
  int64_t blocks = blocks_of_image(draft, block);
  if (blocks == 1 && !permutes_lanes(target)) lengthen_shifted_rows(draft, block);
  if (!joins_few(draft, most, block)) {
    block = block_of_rings(draft, most);
    if (block.empty()) return false;
    blocks = blocks_of_image(draft, block);
  }
  std::array<int64_t, 2> runs = {block_run(draft, block, 0), block_run(draft, block, 1)};
  const bool in_lines = follows || begin_lines(draft, block, runs[0]);
  for (int k = draft.loop_count() - 1; k >= 0; --k) {
    const int64_t extent = block[static_cast<size_t>(k)];
    if (extent == 1) continue;
    if (is_joined(draft.loop(k))) draft.mark(k) = Mark::target_run;
    if (draft.movable_inside(k)) draft.mark(draft.split_off(k, extent)) = Mark::target_run;
  }
  schedule.movement = Movement::permute;
  schedule.vector_bytes = window;
  if (!in_lines && (narrow || stays_beside(draft))) schedule.nontemporal = false;
  if (blocks > 1) {
    join_in_image(draft, runs[0], blocks);
    return true;
  }
  if (permutes_lanes(target)) runs = permute_siblings(draft, runs);
  if (follows) {
    draft.move_inside(draft.next_in_run(0, runs[0]));
  } else if (schedule.nontemporal) {
    permute_pages(draft, runs);
  }
  return true;
}

/// Whether blocks are joined to images, and lie close to each other in the source, too.
bool follows_source(const Draft& draft) {
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (draft.mark(k) == Mark::source_run)
      return std::abs(draft.loop(k).stride[1]) <= most_permuted_bytes;
  }
  return false;
}

/// Whether rows of so many bytes, of which none repeats, are better copied one by one than put
/// together from as many windows.
bool copies_apart(const Draft& draft, int64_t row_bytes) {
  const Target& target = draft.target();
  const std::vector<Loop>& loops = draft.space().loops;
  const int next = draft.next_in_run(0, row_bytes);
  if (!target.byte_masks || row_bytes < least_copied_bytes || next < 0 ||
      std::abs(draft.loop(next).stride[1]) < permuted_window_bytes(target))
    return false;
  const bool beyond = draft.both_extent_bytes() > target.l2_bytes;
  return !(beyond && row_bytes % whole_row_unit == 0) &&
         std::none_of(loops.begin(), loops.end(),
                      [](const Loop& loop) { return loop.stride[1] == 0; });
}

}  // namespace

bool permute(Draft& draft, const PermutedLimits& most) {
  const IterationSpace unjoined = draft.space();
  join_cut_runs(draft);
  if (mark_permuted(draft, most)) return true;
  draft.begin_anew(unjoined);
  return false;
}

bool permute_short_rows(Draft& draft, int innermost) {
  const Loop& row = draft.loop(innermost);
  const int64_t row_bytes = row.extent * draft.space().op.bytes;
  if (copies_apart(draft, row_bytes)) {
    const int64_t rows = permuted_window_bytes(draft.target()) / row_bytes;
    return permute(draft, {.joined = rows, .steps_of_rings = 0});
  }
  const PermutedLimits limits{.steps_of_rings = steps_of_rings(row_bytes)};
  if (row.stride[1] != 0) return permute(draft, limits);
  const PermutedLimits few{.joined = most_joined_of_repeats, .steps_of_rings = 0};
  return permute(draft, few) || gather_repeats(draft) || permute(draft, limits);
}

bool permute_dense_block(Draft& draft) {
  const int rows = draft.contiguous(0), columns = draft.contiguous(1);
  if (rows < 0 || columns < 0 || !has_dense_block(draft)) return false;
  const int64_t bytes = draft.space().op.bytes;
  const bool whole_lanes = draft.loop(rows).extent * bytes % program::lane_bytes == 0 ||
                           draft.loop(columns).extent * bytes % program::lane_bytes == 0;
  return permute(draft, {.joined = most_joined_of_dense(bytes, whole_lanes),
                         .steps_of_rings = steps_of_dense_rings(draft, whole_lanes)});
}

bool permute_lines(Draft& draft) {
  return permutes(draft) &&
         permute(draft,
                 {.joined = most_joined_into_lines, .joined_of_lines = most_joined_into_lines}) &&
         draft.schedule().nontemporal && (begins_lines(draft) || follows_source(draft));
}

int64_t permuted_claimed_ahead(const Draft& draft) {
  const bool repeats = std::any_of(draft.space().loops.begin(), draft.space().loops.end(),
                                   [](const Loop& loop) { return loop.stride[1] == 0; });
  const bool leaves = draft.schedule().nontemporal &&
                      (!draft.target().claims_streamed_lines || blocks_begin_lines(draft));
  if (repeats || leaves || draft.is_part() || stays_in_l1(draft) ||
      draft.schedule().vector_bytes != draft.target().line_bytes) {
    return 0;
  }
  const int64_t run = run_bytes(
      draft, 0, [&](int k) { return draft.loop(k).own.empty() ? draft.loop(k).extent : 1; });
  return run < draft.target().claimed_permuted_run_bytes ? 0 : window_ahead_bytes;
}

std::array<int64_t, 2> permute_siblings(Draft& draft, std::array<int64_t, 2> runs) {
  const auto repeats = [&](int k) {
    return k >= 0 && draft.mark(k) == Mark::outside && draft.loop(k).extent > 1 &&
           draft.movable_inside(k);
  };
  int next = draft.next_in_run(0, runs[0]);
  if (!repeats(next)) next = draft.next_in_run(1, runs[1]);
  for (int k = draft.loop_count() - 1; k >= 0 && !repeats(next); --k) next = k;
  if (!repeats(next)) return runs;
  next = draft.split_off(next, 2);
  draft.mark(next) = Mark::source_run;
  draft.schedule().vector_bytes = 2 * permuted_window_bytes(draft.target());
  for (size_t operand = 0; operand < runs.size(); ++operand) {
    if (draft.loop(next).stride[operand] == runs[operand]) runs[operand] *= 2;
  }
  return runs;
}

}  // namespace restride::scheduling
