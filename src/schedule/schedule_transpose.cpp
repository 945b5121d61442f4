// Schedules of transposes: the loops that make runs of the target meet the loops that make runs of
// the source, both in blocks that keep the lines of either side in the cache until they are used
// up.
#include <algorithm>
#include <optional>

#include "base/arithmetic.hpp"
#include "microkernel/microkernel.hpp"
#include "program/program.hpp"
#include "schedule/scheduler.hpp"

namespace restride {

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

// Threads have to share what is left around those.
constexpr int64_t least_units = 16;

// In the caches a network follows the other as the lines lie. u16 64 x 64 .65 for 128 x 256 .61, u8
// .62 for .61, f32 .68 for .67; but longer runs of wide ones: f64 256 x 256 .79 -> .82, c128 .85 ->
// .91, 257 x 130 .75 -> .94.
constexpr Block cached_block(int64_t element_bytes) {
  return {element_bytes < 8 ? 64 : 256, cached_columns};
}

// Where arrays do not stay there, but rows that begin between lines are too short to be shifted:
// .41 of the ceiling (geometric mean of 16 cases of three and four dimensions), 64 x 64 with the
// target going on .36.
constexpr Block uncached_block = {128, 64};

// Of rows of the target that are lanes, what the windows of a ring take less than a network with a
// lane a vector. 8 layouts in L2 .79 of the time: u8[127,640] from T(16,1) to T(2,16) .55 -> .87 of
// the ceiling, bf16[128,512] from columns to T(4,8) .49 -> .79; where columns are, too, f32[65,861]
// {0,1:T(8,64)(4,1)} to columns .85 -> .55.
constexpr PermutedLimits few_steps{.joined = 0, .steps_of_rings = 5};

// Narrower elements are staged: see page_rows.
constexpr int64_t page_element_bytes = 8;

// Runs of the target of a lane: each register of a network holds so many bytes of a source row, and
// its lanes are stored one by one. u8 16 x 10000 .58 -> .93, u16 8 x 10000 .77 -> .96.
constexpr int lanes_bytes = 32;

// The loop that short runs of both operands go on with is better the source's, where either gets
// such runs then: u8[24,65,8] reversed .04 -> .20, [24,64,3] .03 -> .18, [24,1000,8] .17 -> .44,
// f32 [8,1000,3] .44 -> .57.
constexpr int64_t least_shared_run_bytes = 12;

}  // namespace

void Scheduler::transpose() {
  schedule_.movement = Movement::transpose;
  if (touching_rows()) return;
  const int64_t bytes = space().op.bytes;
  const Schedule undecided = schedule_;
  const bool crowds = make_room_in_l1();
  const std::optional<Runs> runs = take_runs();
  if (!runs) return;  // permuted
  auto [row, column, lanes] = *runs;
  const bool short_rows = short_rows_touch(row, column);
  // A block of networks, so that lines are used up while they are in the cache.
  const bool streams = schedule_.nontemporal, aligned = begins_lines();
  if (streams && !aligned) {
    if (!short_rows && shift(row, column)) return;
    if (makes_lines(undecided)) return;
    schedule_.nontemporal = false;
  }
  const bool small = goal_ == CodeGoal::small;
  const bool pages = !small && reads_pages(row, column);
  const bool blocks = schedule_.nontemporal && !small && !pages;
  const Block network{target_.vector_bytes / bytes, schedule_.network_column_bytes / bytes};
  const Block block = small     ? network
                      : pages   ? Block{page_rows, target_.page_bytes / bytes}
                      : blocks  ? streamed_block(bytes)
                      : streams ? uncached_block
                      : crowds  ? Block{crowded_rows(bytes), cached_columns}
                                : cached_block(bytes);
  schedule_.target_first = crowds || schedule_.network_column_bytes >= target_.line_bytes;
  row = take_run(0, row, block.rows * bytes, Mark::target_run);
  column = take_run(1, column, block.columns * bytes, Mark::source_run, column_length());
  if (row == bytes && column == bytes) scattered();
  // Narrow unpacks run twice as often as wide ones: u8 16 x 16 .20 -> .3 of memcpy.
  const int64_t widest = target_.vector_bytes;
  schedule_.vector_bytes =
      static_cast<int>(std::clamp(round_up_to_power_of_two(row), int64_t{16}, widest));
  if (short_rows) schedule_.vector_bytes = target_.vector_bytes;
  if (lanes && row == lane_bytes) schedule_.vector_bytes = lanes_bytes;
  schedule_.staging = pages ? Staging::registers : Staging::panels;
  if (!schedule_.nontemporal) {
    schedule_.claimed_ahead =
        claimed_ahead(column, aligned ? Rows::begin_lines : Rows::between_lines);
    if (!streams) return;
    go_on(1);
    // Smaller arrays are moved through the caches, but not where their lines cannot be asked for in
    // time: 23 random cases of f32 of 3 to 16 MB in all .81 of the time, u8[155,10,128,40] reversed
    // .34, f32[64,1,127,1,3,63]{4,0,2,1,5,3} .43; where they can, as many take up to 1.8 times.
    const bool waits = !aligned && schedule_.claimed_ahead == 0;
    if (waits) instead(undecided, [this] { return image_runs(); });
    return;
  }
  // Where a panel is read, the next one is asked for while it leaves, and row after row is what
  // memory answers fastest. (f32 4096 x 4096: .65 -> .75 of the ceiling.)
  go_on(pages ? 0 : 1);
  if (blocks) go_on_around(row);
}

std::optional<Scheduler::Runs> Scheduler::take_runs() {
  if (permutes() && permute_dense_block()) return std::nullopt;
  const Schedule unsplit = schedule_;
  const auto anew = [&] {
    space() = unsplit.space;
    marks_.assign(space().loops.size(), Mark::outside);
  };
  Runs runs = target_run_first();
  const int64_t shorter = std::min(runs.row, runs.column);
  const bool rows_of_lanes = shorter == lane_bytes && runs.row == shorter && !runs.lanes;
  if (rows_of_lanes && permutes() && instead(unsplit, [this] { return permute(few_steps); }))
    return std::nullopt;
  if (!is_narrow(shorter) || !permutes() || short_rows_touch(runs.row, runs.column)) return runs;
  anew();
  runs = source_run_first();
  const int64_t shared = std::min(runs.row, runs.column);
  if (shared > shorter && shared >= least_shared_run_bytes) return runs;
  anew();
  if (permute({.steps_of_rings = steps_of_rings(std::max(shorter, shared))})) return std::nullopt;
  // Element by element: anything else is better.
  const bool scattered = std::max(shorter, shared) <= 2 * space().op.bytes;
  if (scattered && permute({.all = most_joined_else})) return std::nullopt;
  return target_run_first();
}

Scheduler::Runs Scheduler::target_run_first() {
  Runs runs;
  const int64_t bytes = space().op.bytes;
  int64_t& network = schedule_.network_column_bytes;
  runs.row = take_run(0, bytes, target_.vector_bytes, Mark::target_run);
  runs.lanes = takes_lanes(runs.row);
  if (runs.lanes) network = std::max<int64_t>(network, lanes_bytes);
  runs.column = take_run(1, bytes, network, Mark::source_run, column_length());
  return runs;
}

Scheduler::Runs Scheduler::source_run_first() {
  Runs runs;
  const int64_t bytes = space().op.bytes;
  runs.column =
      take_run(1, bytes, schedule_.network_column_bytes, Mark::source_run, column_length());
  runs.row = take_run(0, bytes, target_.vector_bytes, Mark::target_run);
  return runs;
}

MarkedLoops::Length Scheduler::column_length() const {
  return goal_ == CodeGoal::small ? Length::without_rest : Length::at_most;
}

bool Scheduler::short_rows_touch(int64_t row, int64_t column) {
  const size_t operand = row < column ? 0 : 1;
  const int64_t bytes = space().op.bytes, run = std::min(row, column);
  // Into short ones, those that stream are permuted into lines; so are those that touch for less
  // than a vector: u8[257,2048] from columns to T(32,8) .25 -> .82 of the ceiling.
  if (!takes_short_rows(operand, bytes, run, target_) || (schedule_.nontemporal && operand == 0))
    return false;
  return std::any_of(space().loops.begin(), space().loops.end(), [&](const Loop& loop) {
    return loop.own.empty() && loop.stride[operand] == run && loop.stride[1 - operand] == bytes &&
           loop.extent * bytes >= target_.vector_bytes;
  });
}

bool Scheduler::takes_lanes(int64_t row) {
  return !schedule_.nontemporal && row == lane_bytes && target_.vector_bytes >= lanes_bytes &&
         goes_on(1, space().op.bytes, lanes_bytes);
}

void Scheduler::go_on_around(int64_t row) {
  const int next = next_in_run(0, row);
  int64_t rows = rows_around;
  // What is outermost makes the units.
  const auto outermost = std::find(marks_.begin(), marks_.end(), Mark::outside);
  if (next >= 0 && marks_.begin() + next == outermost) {
    const int64_t share = loop(next).extent / least_units;
    rows = std::min(rows, row / space().op.bytes * std::max<int64_t>(share, 1));
  }
  take_run(0, row, rows * space().op.bytes, Mark::around, Length::about);
}

bool Scheduler::reads_pages(int64_t row, int64_t column) {
  const int64_t bytes = space().op.bytes;
  return schedule_.nontemporal && bytes >= page_element_bytes &&
         target_.vector_bytes == target_.line_bytes && goes_on(0, row, page_rows * bytes) &&
         goes_on(1, column, target_.page_bytes);
}

bool Scheduler::begins_lines() {
  // Vectors of half a line make whole ones with those that follow.
  const int64_t vector = target_.vector_bytes;
  for (int k = 0; k < loop_count(); ++k) {
    const bool follows = vector < target_.line_bytes && loop(k).stride[0] == vector;
    if (mark(k) != Mark::target_run && !follows && loop(k).stride[0] % target_.line_bytes != 0)
      return false;
  }
  return true;
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
