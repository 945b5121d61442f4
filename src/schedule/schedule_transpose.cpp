// Schedules of transposes: the loops that make runs of the target meet the loops that make runs of
// the source, both in blocks that keep the lines of either side in the cache until they are used
// up.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/arithmetic.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/transpose/shifted_lines.hpp"
#include "program/program.hpp"
#include "schedule/l1_sets.hpp"
#include "schedule/movements.hpp"
#include "schedule/page_walks.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {

using program::lane_bytes;

namespace {

// Odd numbers of wider elements are joined by blends: runs of f64 x 3 .72 -> .96 of memcpy, f32 x 5
// .71 -> .94, f32 x 7 .78 -> .91, but f32 x 6 .80 -> .75.
constexpr int64_t narrow_odd_run_bytes = 32;

// Windows joined by a permuted block where all else is moving element by element: bf16 to T(2,2)
// from columns .06 -> .28 of the ceiling.
constexpr int64_t most_joined_else = 256;

/// The elements of a block of a transpose: rows lie along the run of the target, columns along that
/// of the source.
struct Block {
  int64_t rows, columns;
};

// Where arrays stream: two lines of the target by eight of the source. Measured on Emerald Rapids,
// geometric mean of the ceiling for 14 cases of f32: 32 x 128 .76, 64 x 128 .70, 64 x 256 .66.
constexpr Block streamed_block(int64_t element_bytes) {
  return {128 / element_bytes, streamed_columns(element_bytes)};
}

// Around a block stand those in which the target goes on, up to as many rows as have their pages
// translated at once: f32[96,75,75,96] reversed .62 -> .90, 8192 x 8192 .63 -> .88; more rows than
// that, u8 4096 x 4096 .78 -> .71.
constexpr int64_t rows_around = 512;
// But not where that saves few translations, since the source is read in a row else: 56 cases of
// the suites in .95 of the time. An eighth saved, f32 1216 x 43408, .85, a fifth,
// f32[64,32,136,158] {1,0,3,2}, 1.24.
constexpr int64_t lines_for_a_walk = 7;

// In the caches a network follows the other as the lines lie. u16 64 x 64 .65 for 128 x 256 .61, u8
// .62 for .61, f32 .68 for .67; but longer runs of wide ones: f64 256 x 256 .79 -> .82, c128 .85 ->
// .91, 257 x 130 .75 -> .94.
constexpr int64_t cached_rows(int64_t element_bytes) { return element_bytes < 8 ? 64 : 256; }

// Where arrays do not stay there, but rows that begin between lines are too short to be shifted:
// .41 of the ceiling (geometric mean of 16 cases of three and four dimensions), 64 x 64 with the
// target going on .36.
constexpr Block uncached_block = {128, 64};

// Of rows of the target that are lanes, what the windows of a ring take less than a network with a
// lane a vector. 8 layouts in L2 .79 of the time: u8[127,640] from T(16,1) to T(2,16) .55 -> .87 of
// the ceiling, bf16[128,512] from columns to T(4,8) .49 -> .79; where columns are, too, f32[65,861]
// {0,1:T(8,64)(4,1)} to columns .85 -> .55.
constexpr PermutedLimits few_steps{.joined = 0, .steps_of_rings = 5};

// Narrower elements are staged: see page_rows; so are all that can be where runs of the target are
// to be long: f64 3000 x 3304 .70 -> .88 of the ceiling, 9 cases in .85 of the time.
constexpr int64_t page_element_bytes = 8, page_element_bytes_of_long_runs = 16;

// Runs of the target of a lane: each register of a network holds so many bytes of a source row, and
// its lanes are stored one by one. u8 16 x 10000 .58 -> .93, u16 8 x 10000 .77 -> .96.
constexpr int lanes_bytes = 32;

// The loop that short runs of both operands go on with is better the source's, where either gets
// such runs then: u8[24,65,8] reversed .04 -> .20, [24,64,3] .03 -> .18, [24,1000,8] .17 -> .44,
// f32 [8,1000,3] .44 -> .57.
constexpr int64_t least_shared_run_bytes = 12;

/// What the networks of a transpose take of the operands, bytes.
struct Runs {
  int64_t row = 0;     ///< of the target
  int64_t column = 0;  ///< of the source
  bool lanes = false;  ///< see takes_lanes
};

/// Columns leave no rest where code has to be short, and rather none where they leave around the
/// caches: 37 cases in .97 of the time, f32[112,15,15,15,5,32] reversed, 160 columns instead of 128
/// and 32, .65 -> .79 of the ceiling. Up to twice as many, f32[48,28,28,4,352] reversed, 1.1; parts
/// of lines, f16[2,224,224,267]{2,1,3,0}, 1.5.
Length column_length(const Draft& draft) {
  if (draft.goal() == CodeGoal::small) return Length::without_rest;
  return draft.schedule().nontemporal ? Length::quarter_more : Length::at_most;
}

/// Whether a run of an operand can be lengthened to `wanted` bytes by one loop.
bool goes_on(const Draft& draft, size_t operand, int64_t run, int64_t wanted) {
  const int k = draft.next_in_run(operand, run);
  return k >= 0 && run * draft.loop(k).extent >= wanted;
}

/// Whether lanes of registers better hold columns of the source than rows of the target, which
/// are a lane long.
bool takes_lanes(const Draft& draft, int64_t row) {
  return !draft.schedule().nontemporal && row == lane_bytes &&
         draft.target().vector_bytes >= lanes_bytes &&
         goes_on(draft, 1, draft.space().op.bytes, lanes_bytes);
}

Runs target_run_first(Draft& draft) {
  Runs runs;
  const int64_t bytes = draft.space().op.bytes;
  int64_t& network = draft.schedule().network_column_bytes;
  runs.row = draft.take_run(0, bytes, draft.target().vector_bytes, Mark::target_run);
  runs.lanes = takes_lanes(draft, runs.row);
  if (runs.lanes) network = std::max<int64_t>(network, lanes_bytes);
  runs.column = draft.take_run(1, bytes, network, Mark::source_run, column_length(draft));
  return runs;
}

Runs source_run_first(Draft& draft) {
  Runs runs;
  const int64_t bytes = draft.space().op.bytes;
  runs.column = draft.take_run(1, bytes, draft.schedule().network_column_bytes, Mark::source_run,
                               column_length(draft));
  runs.row = draft.take_run(0, bytes, draft.target().vector_bytes, Mark::target_run);
  return runs;
}

/// Whether the rows of one side are short and touch, so that lanes hold some of them. `row`,
/// `column`: what is taken of the target and the source, bytes.
bool short_rows_touch(const Draft& draft, int64_t row, int64_t column) {
  const size_t operand = row < column ? 0 : 1;
  const int64_t bytes = draft.space().op.bytes, run = std::min(row, column);
  // Into short ones, those that stream are permuted into lines; so are those that touch for less
  // than a vector: u8[257,2048] from columns to T(32,8) .25 -> .82 of the ceiling.
  if (!takes_short_rows(operand, bytes, run, draft.target()) ||
      (draft.schedule().nontemporal && operand == 0))
    return false;
  return std::any_of(draft.space().loops.begin(), draft.space().loops.end(), [&](const Loop& loop) {
    return loop.own.empty() && loop.stride[operand] == run && loop.stride[1 - operand] == bytes &&
           loop.extent * bytes >= draft.target().vector_bytes;
  });
}

/// Whether runs of so many bytes are permuted rather than transposed.
bool is_narrow(const Draft& draft, int64_t run) {
  const int64_t bytes = draft.space().op.bytes;
  const bool odd = run / bytes % 2 == 1 && run > bytes;
  return run < narrow_run_bytes || (bytes >= 4 && odd && run < narrow_odd_run_bytes);
}

/// Marks the runs of both operands. Nothing, where what they are short of is permuted instead.
std::optional<Runs> take_runs(Draft& draft) {
  if (permutes(draft) && permute_dense_block(draft)) return std::nullopt;
  const Schedule unsplit = draft.schedule();
  const auto anew = [&] { draft.begin_anew(unsplit.space); };
  Runs runs = target_run_first(draft);
  const int64_t shorter = std::min(runs.row, runs.column);
  const bool rows_of_lanes = shorter == lane_bytes && runs.row == shorter && !runs.lanes;
  if (rows_of_lanes && permutes(draft) &&
      draft.instead(unsplit, [&] { return permute(draft, few_steps); }))
    return std::nullopt;
  if (!is_narrow(draft, shorter) || !permutes(draft) ||
      short_rows_touch(draft, runs.row, runs.column))
    return runs;
  anew();
  runs = source_run_first(draft);
  const int64_t shared = std::min(runs.row, runs.column);
  if (shared > shorter && shared >= least_shared_run_bytes) return runs;
  anew();
  if (permute(draft, {.steps_of_rings = steps_of_rings(std::max(shorter, shared))}))
    return std::nullopt;
  // Element by element: anything else is better.
  const bool scattered = std::max(shorter, shared) <= 2 * draft.space().op.bytes;
  if (scattered && permute(draft, {.all = most_joined_else})) return std::nullopt;
  return target_run_first(draft);
}

/// Whether blocks are better made of pages of the source.
bool reads_pages(const Draft& draft, int64_t row, int64_t column) {
  const int64_t bytes = draft.space().op.bytes;
  const int64_t least =
      draft.target().long_run_bytes > 0 ? page_element_bytes_of_long_runs : page_element_bytes;
  return draft.schedule().nontemporal && draft.goal() != CodeGoal::small && bytes >= least &&
         draft.target().vector_bytes == draft.target().line_bytes &&
         goes_on(draft, 0, row, page_rows * bytes) &&
         goes_on(draft, 1, column, draft.target().page_bytes);
}

/// How long runs of the source are to be, of `column` bytes so far: as a block, or longer if that
/// leaves a digit whole.
int64_t uncut_columns(const Draft& draft, int64_t column, const Block& block) {
  const int64_t wanted = block.columns * draft.space().op.bytes;
  if (!draft.schedule().nontemporal || draft.goal() == CodeGoal::small) return wanted;
  int64_t whole = column;
  for (int k; (k = draft.next_in_run(1, whole)) >= 0;) {
    const int64_t longer = whole * draft.loop(k).extent;
    if (longer > draft.target().uncut_run_bytes) break;
    whole = longer;
  }
  return std::max(whole, wanted);
}

/// Whether rows of which runs of `row` bytes are taken, and go on in loop `next`, are all there is
/// in the source, one behind the other.
bool rows_touch(const Draft& draft, int64_t row, int next) {
  const int column = widest_source_loop(draft);
  if (column < 0) return false;
  const Axis& axis = draft.space().axes[static_cast<size_t>(draft.loop(column).axis)];
  return draft.loop(next).stride[1] == row * axis.valid;
}

/// Rows of a block that streams, for processors that like longer runs of the target: all rows of
/// the digit that goes on behind runs of `row` bytes, or some where runs of the source, of `column`
/// bytes so far, are long, too, or rows touch: f32[64,640,100]{1,2,0} .70 -> 1.02 of the ceiling,
/// f16[32,2048,7,7]{1,3,2,0} .56 -> .72; else f32[28,256,28,4,48]{1,2,3,0,4} .93 -> .72. `crowds`:
/// columns crowd sets of L1.
int64_t long_rows(const Draft& draft, int64_t row, int64_t column, bool crowds) {
  const int64_t bytes = draft.space().op.bytes, most = draft.target().long_run_bytes;
  const int next = draft.next_in_run(0, row);
  if (!draft.schedule().nontemporal || draft.goal() == CodeGoal::small || next < 0) return 0;
  // Panels of so many bytes fill L1: u8 2048 x 2048 .41 -> .65 of the ceiling, 4096 x 4096 .59 ->
  // .72, but [64,512,56,56]{1,3,2,0} .83 -> .67.
  if (bytes == 1 && !crowds) return 0;
  const int64_t all = row * draft.loop(next).extent;
  const bool long_columns = goes_on(draft, 1, column, streamed_columns(bytes) * bytes);
  if (long_columns) return std::min(all, most) / bytes;
  // Half as many more rather than two parts.
  if (2 * all <= 3 * most) return all / bytes;
  return rows_touch(draft, row, next) ? most / bytes : 0;
}

// Fewer columns take too little of each row of the source. Zen 5, of the ceiling: u32[24,64,64]
// reversed .09 -> .46, u64[12,128,64] .09 -> .53 (16 columns .25), u16 2049 x 128 .07 -> .31 (.14).
constexpr int64_t least_kept_columns = 8;

/// Columns of a block in the caches: where short rows begin between lines, as many as sets of L1
/// have room for, since the next row goes on in their last lines.
int64_t kept_columns(const Draft& draft) {
  const int across = widest_source_loop(draft);
  int64_t columns = cached_columns;
  if (across < 0 || short_row_bytes(draft) == 0 || begins_lines(draft)) return columns;
  const Loop& loop = draft.loop(across);
  const int64_t digit = draft.space().axes[static_cast<size_t>(loop.axis)].valid;
  while (columns > least_kept_columns &&
         !l1_holds_lines(draft.target(), loop.stride[0], std::min(columns, digit)))
    columns /= 2;
  return columns;
}

/// Networks that make a block, so that lines are used up while they are in the cache. `streams`:
/// arrays do not stay there, even if they are written through it. `crowds`: columns crowd its sets.
Block block_of_networks(const Draft& draft, bool streams, bool crowds) {
  const int64_t bytes = draft.space().op.bytes;
  if (draft.goal() == CodeGoal::small)
    return {draft.target().vector_bytes / bytes, draft.schedule().network_column_bytes / bytes};
  if (draft.schedule().nontemporal) return streamed_block(bytes);
  if (streams) return uncached_block;
  return {crowds ? crowded_rows(bytes) : cached_rows(bytes), kept_columns(draft)};
}

// Columns that are left of a digit are staged with others only where panels are as full as this:
// f16[32,1024,16,80]{1,2,3,0} .78 -> .85 of the ceiling; other shares are not measured.
constexpr int64_t fullness_numerator = 3, fullness_denominator = 4;

/// Of `wanted` bytes what the innermost digit of the source has, behind runs of `column` bytes, if
/// it makes no whole lines, for arrays that go through panels: what is left of it fills one.
int64_t columns_wanted(const Draft& draft, int64_t column, int64_t wanted) {
  const int first = widest_source_loop(draft), next = draft.next_in_run(1, column);
  if (first < 0 || next < 0 || draft.loop(first).axis != draft.loop(next).axis) return wanted;
  const Loop& loop = draft.loop(next);
  const Axis& axis = draft.space().axes[static_cast<size_t>(loop.axis)];
  const int64_t line = draft.target().line_bytes;
  const int64_t digit = std::min(axis.valid, loop.extent * loop.step) * draft.space().op.bytes;
  const int64_t panels = ceil_div(digit, line) * line;
  const bool full = fullness_denominator * digit >= fullness_numerator * panels;
  return digit != panels && full ? std::min(wanted, panels) : wanted;
}

/// Makes one loop of what is taken of the innermost digit of the source.
void join_columns(Draft& draft) {
  for (int k = widest_source_loop(draft), outer = k; k >= 0 && outer >= 0;) {
    outer = draft.continued_by(k);
    if (outer >= 0) k = draft.join(outer, k);
  }
}

/// Whether it saves enough translations of pages to put the blocks in which the target goes on
/// around one.
bool around_pays(const Draft& draft, const Draft& around) {
  const int64_t lines = (draft.extent_bytes(0) + draft.extent_bytes(1)) / draft.target().line_bytes;
  return page_walks(draft) - page_walks(around) > lines / lines_for_a_walk;
}

/// Puts the blocks in which the target goes on, behind runs of `row` bytes, right around one.
void go_on_around(Draft& draft, int64_t row) {
  const int next = draft.next_in_run(0, row);
  int64_t rows = rows_around;
  // What is outermost makes the units.
  int outermost = 0;
  while (outermost < next && draft.mark(outermost) != Mark::outside) ++outermost;
  if (next == outermost) {
    const int64_t share = draft.loop(next).extent / least_units;
    rows = std::min(rows, row / draft.space().op.bytes * std::max<int64_t>(share, 1));
  }
  draft.take_run(0, row, rows * draft.space().op.bytes, Mark::around, Length::about);
}

}  // namespace

void transpose(Draft& draft) {
  const Target& target = draft.target();
  Schedule& schedule = draft.schedule();
  schedule.movement = Movement::transpose;
  if (touching_rows(draft)) return;
  const int64_t bytes = draft.space().op.bytes;
  const Schedule undecided = schedule;
  const bool crowded = crowds_sets(draft), crowds = make_room_in_l1(draft);
  const std::optional<Runs> runs = take_runs(draft);
  if (!runs) return;  // permuted
  auto [row, column, lanes] = *runs;
  const bool short_rows = short_rows_touch(draft, row, column);
  const bool streams = schedule.nontemporal;
  bool aligned = begins_lines(draft);
  const int64_t digits = streams && !aligned ? digits_in_lines(draft, undecided) : 0;
  if (digits > 0) {
    row = digits;
    column = target.line_bytes;
    aligned = true;
  }
  if (streams && !aligned) {
    if (joins_rows(draft, undecided)) return;
    if (!short_rows && shift(draft, undecided, row)) return;
    if (makes_lines(draft, undecided)) return;
    schedule.nontemporal = false;
  }
  const bool pages = digits == 0 && reads_pages(draft, row, column);
  const Block block = pages ? Block{page_rows, target.page_bytes / bytes}
                            : block_of_networks(draft, streams, crowds);
  schedule.target_first = crowds || schedule.network_column_bytes >= target.line_bytes;
  const int64_t rows =
      pages ? block.rows : std::max(block.rows, long_rows(draft, row, column, crowded));
  if (digits == 0) row = draft.take_run(0, row, rows * bytes, Mark::target_run);
  const bool panels = schedule.nontemporal && bytes <= widest_rest_bytes && masks_lines(target);
  int64_t wanted = uncut_columns(draft, column, block);
  if (panels && row > target.line_bytes) wanted = columns_wanted(draft, column, wanted);
  column = draft.take_run(1, column, wanted, Mark::source_run, column_length(draft));
  if (panels) join_columns(draft);
  if (row == bytes && column == bytes) scattered(draft);
  // Narrow unpacks run twice as often as wide ones: u8 16 x 16 .20 -> .3 of memcpy.
  const int64_t widest = target.vector_bytes;
  schedule.vector_bytes =
      static_cast<int>(std::clamp(round_up_to_power_of_two(row), int64_t{16}, widest));
  if (short_rows) schedule.vector_bytes = target.vector_bytes;
  if (lanes && row == lane_bytes) schedule.vector_bytes = lanes_bytes;
  schedule.staging = pages ? Staging::registers : Staging::panels;
  if (!schedule.nontemporal) {
    schedule.claimed_ahead =
        claimed_ahead(draft, column, aligned ? Rows::begin_lines : Rows::between_lines);
    if (!streams) return;
    draft.go_on(1);
    // Smaller arrays are moved through the caches, but not where their lines cannot be asked for in
    // time: 23 random cases of f32 of 3 to 16 MB in all .81 of the time, u8[155,10,128,40] reversed
    // .34, f32[64,1,127,1,3,63]{4,0,2,1,5,3} .43; where they can, as many take up to 1.8 times.
    const bool waits = !aligned && schedule.claimed_ahead == 0;
    if (waits) draft.instead(undecided, [&] { return image_runs(draft); });
    return;
  }
  // Where a panel is read, the next one is asked for while it leaves, and row after row is what
  // memory answers fastest. (f32 4096 x 4096: .65 -> .75 of the ceiling.)
  draft.go_on(pages ? 0 : 1);
  if (pages || draft.goal() == CodeGoal::small) return;
  Draft around = draft;
  go_on_around(around, row);
  if (around_pays(draft, around)) draft = std::move(around);
}

void scattered(Draft& draft) {
  constexpr int64_t elements = 8;
  for (int k = draft.loop_count() - 1; k >= 0; --k) {
    if (!draft.movable_inside(k)) continue;
    draft.mark(draft.split_off(k, elements)) = Mark::target_run;
    return;
  }
}

}  // namespace restride::scheduling
