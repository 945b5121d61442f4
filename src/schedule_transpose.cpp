// Schedules of transposes: the loops that make runs of the target meet the loops that make runs of
// the source, both in blocks that keep the lines of either side in the cache until they are used
// up.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "arithmetic.hpp"
#include "microkernel.hpp"
#include "program.hpp"
#include "scheduler.hpp"
#include "shifted_lines.hpp"

namespace restride {

using program::lane_bytes;

namespace {

// A run of fewer bytes is not worth a lane of a transpose.
constexpr int64_t narrow_run_bytes = 16;
// Odd numbers of wider elements are joined by blends: runs of f64 x 3 .72 -> .96 of memcpy, f32 x 5
// .71 -> .94, f32 x 7 .78 -> .91, but f32 x 6 .80 -> .75.
constexpr int64_t narrow_odd_run_bytes = 32;

// Rows of the target that touch and stream are permuted into whole lines where they have so few
// elements, or are narrow: f32 4 x N .92 by way of an image, 1.0 permuted, 6 x N .79 and .97, f64 5
// x N .68 and .88, u8 12 x N .59 and .9.
constexpr int64_t few_rows = 8;

// Windows joined by a permuted block where all else is moving element by element: bf16 to T(2,2)
// from columns .06 -> .28 of the ceiling.
constexpr int64_t most_joined_else = 256;

// Matrices of which a whole image is made, and less of the source than is read at a time otherwise,
// have so many bytes at least: u16 9 x 20 (360) .50 -> .41 of the ceiling, 19 x 19 (722) .46 ->
// .46, f32 12 x 12 (576) .45 -> .84, f64 9 x 9 (648) .44 -> .64, u8 200 x 25 .48 -> .75, u16 100 x
// 49 .45 -> .78.
constexpr int64_t least_touching_bytes = 512;
// Rows of 17 bytes .53 -> .43, of 18 .47 -> .48, of 20 .53 -> .64, of 24 .46 -> .55.
constexpr int64_t least_touching_run_bytes = 20;

/// The elements of a block of a transpose: rows lie along the run of the target, columns along that
/// of the source.
struct Block {
  int64_t rows, columns;
};

// Where arrays stream: two lines of the target by eight of the source. Measured on Emerald Rapids,
// geometric mean of the ceiling for 14 cases of f32: 32 x 128 .76, 64 x 128 .70, 64 x 256 .66.
constexpr Block streamed_block(int64_t element_bytes) {
  return {128 / element_bytes, 512 / element_bytes};
}

// Around a block stand those in which the target goes on, up to as many rows as have their pages
// translated at once: f32[96,75,75,96] reversed .62 -> .90, 8192 x 8192 .63 -> .88; more rows than
// that, u8 4096 x 4096 .78 -> .71.
constexpr int64_t rows_around = 512;

// Threads have to share what is left around those.
constexpr int64_t least_units = 16;

// Where rows begin between lines, the longest. Each end of a run shares a line with another one: of
// 1 KB .63, of 2 KB .71 of the ceiling (geometric mean of 20 cases, in an earlier form of the
// code). What is read at both sides of a box should still be in the second level: of 8 KB .56, of 4
// KB .59 (of 6 cases, three times).
constexpr int64_t most_shifted_run_bytes = 4 * 1024;

// Of images of bytes half a line of the source: all of it is twice as slow, a quarter 1.1 times.
constexpr int64_t most_imaged_columns = 32;
// Less of a source row than this at a time is worse than any other way: f32[51,32,87,32,2] .52 ->
// .19 of the ceiling, f16[4095,498,3] .50 -> .23; but f32[7,90,96,16,3] .22 -> .54.
constexpr int64_t least_imaged_column_bytes = 12;
// Both ends of a run share a line with others.
constexpr int64_t least_imaged_run_bytes = 512;
// Smaller arrays than Target::streaming_fill_bytes are moved through the caches: 64 random ones of
// 4 to 16 MB in .78 of the time, 128 larger ones in 1.3 times as much. But not where their lines
// cannot be asked for, and what comes next is this far away: f32[19,18,8,8,67]{1,2,0,3,4} .38 ->
// .75 of the ceiling, f32[22,63,11,8,10] reversed .35 -> .58, 11 of these 1.35 times as fast.
constexpr int64_t far_pages = 16;

// As many columns of a box have what they leave over in scratch. Bytes: as many as that has room
// for; wider ones 128 or 512 bytes .71, 64 .68 (of 25).
constexpr int64_t most_shifted_columns(int64_t element_bytes) {
  return element_bytes == 1 ? 192 : std::min<int64_t>(128, 512 / element_bytes);
}

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

// Rests take code of their own, which is not worth that of shifted ones. So tiles leave few:

/// The length of tiles of at most `most` that make as few tiles as there can be.
int64_t evenly(int64_t count, int64_t most) {
  return count == 0 ? 0 : count / ceil_div(count, most);
}

/// The same, the last of them shorter.
int64_t evenly_up(int64_t count, int64_t most) { return ceil_div(count, ceil_div(count, most)); }

/// The length of tiles of half of `most` and more that cover the most.
int64_t covering(int64_t count, int64_t most) {
  int64_t best = most;
  for (int64_t length = most; 2 * length >= most && length > 1; --length) {
    if (count / length * length > count / best * best) best = length;
  }
  return count < best ? 0 : best;
}

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
    if (instead(undecided, [this] { return permute_lines(); })) return;
    const bool large = extent_bytes(0) + extent_bytes(1) > target_.streaming_fill_bytes;
    if (large && instead(undecided, [this] { return image_runs(); })) return;
    schedule_.nontemporal = false;
  }
  const bool pages = reads_pages(row, column);
  const bool blocks = schedule_.nontemporal && !pages;
  const Block block = pages     ? Block{page_rows, target_.page_bytes / bytes}
                      : blocks  ? streamed_block(bytes)
                      : streams ? uncached_block
                      : crowds  ? Block{crowded_rows(bytes), cached_columns}
                                : cached_block(bytes);
  schedule_.target_first = crowds || schedule_.network_column_bytes >= target_.line_bytes;
  row = take_run(0, row, block.rows * bytes, Mark::target_run);
  column = take_run(1, column, block.columns * bytes, Mark::source_run);
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
    const bool waits = !aligned && schedule_.claimed_ahead == 0 && leads_far();
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
  const IterationSpace unsplit = space();
  const auto anew = [&] {
    space() = unsplit;
    marks_.assign(space().loops.size(), Mark::outside);
  };
  Runs runs = target_run_first();
  const int64_t shorter = std::min(runs.row, runs.column);
  if (!is_narrow(shorter) || !permutes() || short_rows_touch(runs.row, runs.column)) return runs;
  anew();
  runs = source_run_first();
  const int64_t shared = std::min(runs.row, runs.column);
  if (shared > shorter && shared >= least_shared_run_bytes) return runs;
  anew();
  if (permute()) return std::nullopt;
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
  runs.column = take_run(1, bytes, network, Mark::source_run);
  return runs;
}

Scheduler::Runs Scheduler::source_run_first() {
  Runs runs;
  const int64_t bytes = space().op.bytes;
  runs.column = take_run(1, bytes, schedule_.network_column_bytes, Mark::source_run);
  runs.row = take_run(0, bytes, target_.vector_bytes, Mark::target_run);
  return runs;
}

bool Scheduler::short_rows_touch(int64_t row, int64_t column) {
  const size_t operand = row < column ? 0 : 1;
  const int64_t bytes = space().op.bytes, run = std::min(row, column);
  // Into short ones, those that stream are permuted into lines.
  if (!takes_short_rows(operand, bytes, run, target_) || (schedule_.nontemporal && operand == 0))
    return false;
  return std::any_of(space().loops.begin(), space().loops.end(), [&](const Loop& loop) {
    return loop.own.empty() && loop.stride[operand] == run && loop.stride[1 - operand] == bytes &&
           loop.extent * bytes >= lane_bytes;
  });
}

bool Scheduler::takes_lanes(int64_t row) {
  return !schedule_.nontemporal && row == lane_bytes && target_.vector_bytes >= lanes_bytes &&
         goes_on(1, space().op.bytes, lanes_bytes);
}

bool Scheduler::shift(int64_t row, int64_t column) {
  const int64_t bytes = space().op.bytes, line = target_.line_bytes;
  const int rows = next_in_run(0, row), columns = next_in_run(1, column);
  // Very short columns go through the caches in the same boxes: f32[600,2050,3] .92 of the ceiling.
  const bool panels = line % column == 0 || column < lane_bytes;
  if (!shifts_lines(target_, bytes) || row != line || !panels || rows < 0 || columns < 0 ||
      !continues_rows(rows)) {
    return false;
  }
  const int64_t chunk = shifted_chunk_lines, panel = line / column;
  const int64_t tile_chunks =
      evenly(whole_iterations(rows) / chunk, most_shifted_run_bytes / line / chunk);
  const int64_t tile_panels =
      covering(whole_iterations(columns) / panel, most_shifted_columns(bytes) * bytes / line);
  if (tile_chunks * chunk * line < target_.shifting_run_bytes || tile_panels < 2) return false;
  mark(split_off(rows, tile_chunks * chunk)) = Mark::target_run;
  mark(split_off(next_in_run(1, column), tile_panels * panel)) = Mark::source_run;
  schedule_.claimed_ahead = claimed_ahead(line, Rows::between_lines);
  go_on(1);
  return true;
}

bool Scheduler::continues_rows(int k) {
  for (int j = 0; j < loop_count(); ++j) {
    if (mark(j) != Mark::target_run) continue;
    for (const size_t operand : {size_t{0}, size_t{1}}) {
      if (loop(k).stride[operand] != loop(j).stride[operand] * loop(j).extent) return false;
    }
  }
  return true;
}

bool Scheduler::instead(const Schedule& undecided, const std::function<bool()>& other) {
  const Schedule decided = std::exchange(schedule_, undecided);
  const std::vector<Mark> marks =
      std::exchange(marks_, std::vector<Mark>(space().loops.size(), Mark::outside));
  if (other()) return true;
  schedule_ = decided;
  marks_ = marks;
  return false;
}

bool Scheduler::leads_far() {
  for (int k = loop_count() - 1; k >= 0; --k) {
    if (mark(k) == Mark::outside)
      return std::abs(loop(k).stride[0]) >= far_pages * target_.page_bytes;
  }
  return false;
}

bool Scheduler::image_runs() {
  const int64_t bytes = space().op.bytes;
  if (!shifts_images() || contiguous(1) < 0 || contiguous(1) == contiguous(0)) return false;
  const int64_t columns = take_imaged_columns();
  if (columns * bytes < least_imaged_column_bytes) return false;
  const int64_t most = most_imaged_run_bytes(columns, target_.line_bytes);
  if (take_imaged_run(most) < least_imaged_run_bytes) return false;
  go_on(1);
  schedule_.staging = Staging::images;
  return true;
}

int64_t Scheduler::take_imaged_columns() {
  const int64_t bytes = space().op.bytes;
  const int64_t panel = std::min(target_.line_bytes / bytes, most_imaged_columns);
  int64_t columns = 1;
  for (int k = contiguous(1); k >= 0 && k != contiguous(0) && 2 * columns <= panel;
       k = next_in_run(1, columns * bytes)) {
    const int64_t extent = loop(k).extent, most = panel / columns;
    const int inner = split_off(k, extent <= 2 * most ? evenly_up(extent, most) : most);
    mark(inner) = Mark::source_run;
    columns *= loop(inner).extent;
    if (loop(inner).extent < extent) break;
  }
  return columns;
}

int64_t Scheduler::take_imaged_run(int64_t most) {
  int64_t run = space().op.bytes;
  for (int k = contiguous(0); k >= 0 && 2 * run <= most; k = next_in_run(0, run)) {
    const Axis& axis = space().axes[static_cast<size_t>(loop(k).axis)];
    const int64_t extent = loop(k).extent, step = loop(k).step;
    if (axis.valid != axis.padded || axis.valid % (extent * step) != 0) return run;
    const int inner = split_off(k, evenly_up(extent, most / run));
    mark(inner) = Mark::target_run;
    run *= loop(inner).extent;
    if (loop(inner).extent < extent) return run;
  }
  return run;
}

bool Scheduler::others_begin_lines(int row, int column) {
  for (int k = 0; k < loop_count(); ++k) {
    const bool other = mark(k) == Mark::outside && k != row && k != column;
    if (other && loop(k).stride[0] % target_.line_bytes != 0) return false;
  }
  return true;
}

bool Scheduler::shifts_images() const {
  return schedule_.nontemporal && goal_ == CodeGoal::fast &&
         shifts_lines(target_, schedule_.space.op.bytes);
}

int64_t Scheduler::whole_iterations(int k) {
  return std::min(loop(k).extent,
                  space().axes[static_cast<size_t>(loop(k).axis)].valid / loop(k).step);
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

bool Scheduler::touching_rows() {
  const int64_t bytes = space().op.bytes, line = target_.line_bytes;
  const int row = contiguous(0), column = contiguous(1);
  if (!schedule_.nontemporal || !target_.byte_masks || target_.vector_bytes != line || row < 0 ||
      column < 0 || row == column) {
    return false;
  }
  const int64_t run = loop(row).extent * bytes;
  const Axis& axis = space().axes[static_cast<size_t>(loop(row).axis)];
  const bool whole = axis.valid == loop(row).extent && axis.padded == loop(row).extent;
  const bool touch = loop(column).stride[0] == run && run % line != 0;
  const int64_t columns = streamed_block(bytes).columns, count = loop(column).extent;
  if (!whole || !touch || line / bytes * run > program::max_scratch_bytes) return false;
  if (!shifts_images() && (count < columns || !others_begin_lines(row, column))) return false;
  if (count < columns) {
    if (permutes() && permute_dense_block()) return true;
    if (count * bytes < lane_bytes || run < least_touching_run_bytes ||
        count * run < least_touching_bytes) {
      return false;
    }
  }
  const bool few = loop(row).extent <= few_rows || run < narrow_run_bytes;
  if (few && permutes() && permute()) return true;
  mark(row) = Mark::target_run;
  mark(split_off(column, columns)) = Mark::source_run;
  go_on(1);
  return true;
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
