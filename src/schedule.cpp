// IterationSpace -> Schedule: which loops a tile is made of, how large it is, and the order of the
// loops around it.
//
// The loop that is contiguous in the target decides. Where the source is contiguous along it too,
// rows are copied; where it repeats there, rows are splatted; else the loops that make runs of the
// target meet the loops that make runs of the source in a transpose, and both are walked in blocks
// that keep the lines of either side in the cache until they are used up.
#include "schedule.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "arithmetic.hpp"
#include "microkernel.hpp"
#include "packed_image.hpp"
#include "rewrites.hpp"

namespace restride {
namespace {

// A unit of a long copy or fill: long enough that starting it costs nothing, short enough to share
// out.
constexpr int64_t row_chunk_bytes = 16 * 1024;
// A tile of short rows is unrolled up to this many vectors.
constexpr int64_t row_tile_vectors = 16;

// A run of fewer bytes is not worth a lane of a transpose.
constexpr int64_t narrow_run_bytes = 16;
// Odd numbers of wider elements are joined by blends: runs of f64 x 3 .72 -> .96 of memcpy, f32 x 5
// .71 -> .94, f32 x 7 .78 -> .91, but f32 x 6 .80 -> .75.
constexpr int64_t narrow_odd_run_bytes = 32;
// Shorter rows are permuted into whole windows rather than copied one by one: an rgb bias of u8 .29
// -> .9 of memset.
constexpr int64_t short_row_bytes = 32;
// Code for a permuted block grows with its windows.
constexpr int64_t most_block_bytes = 2048;

// Elements of a block whose sources are relaid before it is computed: as many along the target as
// along each source, so that both sides use lines up. Shares of the ceiling, 256 bytes of the
// target by what 32 KB hold -> 64 x 64 and the next block asked for: f32 to bf16 NHWC .38 -> .75,
// f32 to s8 transposed .23 -> .6, bf16 to f32 transposed .6 -> .8.
constexpr int64_t relaid_run_elements = 64;
// What a block of relaid sources may take of the scratch.
constexpr int64_t relaid_bytes = 32 * 1024;

// A tile with packed elements, so that units cost nothing to start; rows of it, and elements of a
// source's run, so that blocks can use up lines.
constexpr int64_t packed_tile_elements = 16 * 1024;
constexpr int64_t packed_tile_rows = 128;

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

// Wide elements in memory: few rows are read at a time, as many as the processor itself reads ahead
// of, each by whole pages, and left in lines at once; the next rows make runs of the target. Share
// of a non-temporal copy, 4096 x 4096 and 8192 x 8192: c128 1.0 (64 x 128 .55, 32 x 256 .9), f64
// 1.0 (staged .8 - .9); f32 .8, less than staged.
constexpr int64_t page_rows = 16, page_bytes = 4096, page_element_bytes = 8;

// Rows that begin between lines share two lines with their neighbours, so they are longer. 4097 x
// 4095, share of a non-temporal copy: u8 .37 (128 rows .21), u16 .55 (128 rows .43).
constexpr Block shifted_block_of(int64_t element_bytes) {
  return element_bytes <= 2 ? Block{256, 256} : block_of(element_bytes);
}

/// The space being scheduled. Loops chosen for the tile are marked; they keep their relative order,
/// which keeps coarser loops of an axis outside the finer ones.
class Scheduler {
 public:
  Scheduler(const IterationSpace& space, const Target& target, CodeGoal goal)
      : target_(target), schedule_{space} {
    marks_.assign(space.loops.size(), Mark::outside);
    // Narrow elements make networks of many rows: they get one lane at a time, which keeps the code
    // short.
    const bool one_lane = goal == CodeGoal::compact || space.op.bytes < 4;
    schedule_.network_column_bytes = one_lane ? 16 : 64;
  }

  Schedule run() {
    schedule_.nontemporal = streams();
    schedule_.vector_bytes = target_.vector_bytes;
    if (!is_move(space().op)) {
      is_packed(space().op) ? packed() : compute();
      gather_tile();
      return std::move(schedule_);
    }
    const int innermost = contiguous(0);
    const bool computes = std::none_of(space().axes.begin(), space().axes.end(),
                                       [](const Axis& axis) { return axis.valid == 0; });
    const bool row = innermost >= 0 && (!computes || loop(innermost).stride[1] == space().op.bytes);
    const bool splat = innermost >= 0 && loop(innermost).stride[1] == 0;
    if ((row || splat) && computes && permutes() &&
        loop(innermost).extent * space().op.bytes < short_row_bytes && loop_count() > 1 &&
        permute()) {
      // Rows of a few bytes fill whole windows together.
    } else if (row) {
      rows(Movement::row, innermost);
    } else if (splat) {
      rows(Movement::splat, innermost);
    } else {
      transpose();
    }
    gather_tile();
    return std::move(schedule_);
  }

 private:
  /// Whether the arrays are too large to stay in the caches anyway.
  bool streams() const {
    int64_t bytes = 0;
    for (int operand = 0; operand <= source_count(schedule_.space.op); ++operand) {
      const ByteRange touched = touched_bytes(schedule_.space, operand);
      bytes += touched.end - touched.begin;
    }
    return target_.nontemporal && bytes > target_.streaming_bytes;
  }

  enum class Mark : uint8_t { outside, target_run, source_run };

  IterationSpace& space() { return schedule_.space; }
  Loop& loop(int k) { return schedule_.space.loops[static_cast<size_t>(k)]; }
  Mark& mark(int k) { return marks_[static_cast<size_t>(k)]; }
  int loop_count() const { return static_cast<int>(schedule_.space.loops.size()); }

  /// The loop along which neighbours lie side by side in an operand; -1 if there is none.
  int contiguous(size_t operand) {
    return next_in_run(operand, element_bytes(space().op, static_cast<int>(operand)));
  }

  /// The unmarked loop that continues a run of `bytes` of an operand and may stand inside all
  /// unmarked loops.
  int next_in_run(size_t operand, int64_t bytes) {
    for (int k = 0; k < loop_count(); ++k) {
      if (mark(k) != Mark::outside || loop(k).stride[operand] != bytes) continue;
      if (operand != 0 && loop(k).stride[0] == 0) continue;
      bool finest = true;
      for (int j = 0; j < loop_count(); ++j) {
        finest = finest && (j == k || mark(j) != Mark::outside || loop(j).axis != loop(k).axis ||
                            loop(j).step > loop(k).step);
      }
      if (finest) return k;
    }
    return -1;
  }

  /// Splits loop `k` so that a loop of `factor` iterations stands behind it; returns that loop.
  int split_off(int k, int64_t factor) {
    if (loop(k).extent <= factor) return k;
    split(space(), static_cast<size_t>(k), factor);
    marks_.insert(marks_.begin() + k + 1, Mark::outside);
    return k + 1;
  }

  void rows(Movement movement, int innermost) {
    schedule_.movement = movement;
    const int64_t bytes = space().op.bytes;
    const int run = split_off(innermost, std::max<int64_t>(1, row_chunk_bytes / bytes));
    mark(run) = Mark::target_run;
    const int64_t row_bytes = loop(run).extent * bytes;
    if (movement == Movement::row && schedule_.nontemporal) {
      rows_of_every_phase(row_bytes);
      rows_by_pages(row_bytes);
    }
    // Short rows: some of them share a tile. The loop next inside in the order of the target keeps
    // writes close.
    int64_t room = row_tile_vectors / ceil_div(row_bytes, target_.vector_bytes);
    for (int k = loop_count() - 1; k >= 0 && room > 1; --k) {
      if (mark(k) != Mark::outside || !movable_inside(k)) continue;
      const int64_t extent = loop(k).extent;
      // Computed rows keep to one loop.
      mark(split_off(k, room)) =
          movement == Movement::compute ? Mark::source_run : Mark::target_run;
      room /= extent;
    }
  }

  /// Puts as many rows that begin between lines into a tile as it takes until they begin on one.
  void rows_of_every_phase(int64_t row_bytes) {
    int k = loop_count() - 1;
    while (k >= 0 && (mark(k) != Mark::outside || !movable_inside(k) ||
                      loop(k).stride[0] % target_.line_bytes == 0)) {
      --k;
    }
    if (k < 0) return;
    const int64_t rows = shifted_rows(row_bytes, loop(k).stride[0], target_);
    if (rows > 1) mark(split_off(k, rows)) = Mark::target_run;
  }

  /// Where short rows go on in one loop of the target and in another one of the source: some rows
  /// of the target at a time, for as many as make pages of the source.
  void rows_by_pages(int64_t row_bytes) {
    if (row_bytes % target_.line_bytes != 0 || 2 * row_bytes > page_bytes) return;
    const int next = next_in_run(0, row_bytes);
    if (next < 0 || !movable_inside(next)) return;
    const int64_t tile_rows =
        std::max<int64_t>(1, row_tile_vectors * target_.vector_bytes / row_bytes);
    split_off(next, ceil_div(page_rows, tile_rows) * tile_rows);
    std::vector<int64_t> runs;
    for (int64_t run = row_bytes; 2 * run <= page_bytes;) {
      const int k = next_in_run(1, run);
      if (k < 0 || loop(k).stride[0] == row_bytes) break;
      runs.push_back(run);
      run *= loop(split_off(k, page_bytes / run)).extent;
    }
    for (; !runs.empty(); runs.pop_back()) move_inside(next_in_run(1, runs.back()));
    move_inside(next_in_run(0, row_bytes));
  }

  /// Rows of the target. Where a source neither follows them nor repeats one element there, the
  /// tile is a block that uses up the lines of both.
  void compute() {
    schedule_.movement = Movement::compute;
    if (contiguous(0) < 0) return scattered();
    const IterationSpace unsplit = space();
    const int64_t row = computed_row();
    const int64_t relaid = relaid_element_bytes();
    if (relaid == 0) {
      space() = unsplit;
      marks_.assign(space().loops.size(), Mark::outside);
      return rows(Movement::compute, contiguous(0));
    }
    int64_t room = std::max<int64_t>(1, relaid_bytes / relaid / row);
    for (int operand = 1; operand <= source_count(space().op); ++operand) {
      if (follows_row(operand)) continue;
      const int64_t bytes = element_bytes(space().op, operand);
      const int64_t run = take_run(static_cast<size_t>(operand), bytes,
                                   std::min(room, relaid_run_elements) * bytes, Mark::source_run);
      room = std::max<int64_t>(1, room / (run / bytes));
    }
    if (schedule_.nontemporal && only_source() != 0) go_on(static_cast<size_t>(only_source()));
  }

  /// The only source that does not repeat one element along the row; 0 if there are several.
  /// Blocks go on where it does; where others lie in rows of the target, as the target does. (f32
  /// to s8, transposed: .35 -> .6 of the ceiling; but f32 times its transpose .68 -> .58.)
  int only_source() {
    int only = 0;
    for (int operand = 1; operand <= source_count(space().op); ++operand) {
      bool varies = false;
      for (int k = 0; k < loop_count(); ++k) {
        varies = varies ||
                 (mark(k) == Mark::target_run && loop(k).stride[static_cast<size_t>(operand)] != 0);
      }
      if (!varies) continue;
      if (only != 0 || follows_row(operand)) return 0;
      only = operand;
    }
    return only;
  }

  /// Packed operands: a tile is all that a unit does, or much of it, and is cut into blocks later.
  /// The loops around it walk whole bytes of every packed operand, and those that write further
  /// apart do, too: so units share no byte.
  void packed() {
    schedule_.movement = Movement::compute;
    int k = 0;
    while (k < loop_count() && writes_widest(k)) {
      const int64_t inside = elements_inside(k), period = byte_period_of(loop(k));
      if (inside < packed_tile_elements) {
        k = split_off(k,
                      std::max(packed_tile_rows, ceil_div(packed_tile_elements, inside)) / 8 * 8);
        break;
      }
      if (period > 1) {
        k = split_off(k, period);
        break;
      }
      ++k;
    }
    for (; k < loop_count(); ++k) mark(k) = Mark::target_run;
    for (int operand = 1; operand <= source_count(space().op); ++operand) {
      const int run = finest(static_cast<size_t>(operand));
      if (run < 0 || mark(run) != Mark::outside || !movable_inside(run)) continue;
      mark(split_off(run, packed_tile_rows)) = Mark::source_run;
    }
  }

  /// Whether no loop behind this one has a larger stride in the target.
  bool writes_widest(int k) {
    for (int j = k + 1; j < loop_count(); ++j) {
      if (std::abs(loop(j).stride[0]) > std::abs(loop(k).stride[0])) return false;
    }
    return true;
  }

  int64_t elements_inside(int k) {
    int64_t elements = 1;
    for (int j = k + 1; j < loop_count(); ++j) elements *= loop(j).extent;
    return elements;
  }

  int64_t byte_period_of(const Loop& loop) {
    int64_t period = 1;
    for (size_t k = 0; k < loop.stride.size(); ++k) {
      if (space().op.packing[k].bits != 0) period = std::max(period, byte_period(loop.stride[k]));
    }
    return period;
  }

  /// The loop that moves an operand least; -1 if none does.
  int finest(size_t operand) {
    int finest = -1;
    for (int k = 0; k < loop_count(); ++k) {
      const int64_t stride = std::abs(loop(k).stride[operand]);
      if (stride == 0) continue;
      if (finest < 0 || stride < std::abs(loop(finest).stride[operand])) finest = k;
    }
    return finest;
  }

  /// Marks the loops of a row of the target; returns its elements.
  int64_t computed_row() {
    const int64_t bytes = space().op.bytes;
    const int64_t longest = relaid_run_elements * bytes;
    int64_t run = bytes;
    while (2 * run <= longest) {
      const int k = next_in_run(0, run);
      if (k < 0) break;
      // Lines of the target are left to the loop that a source's runs begin with.
      if (begins_runs(k) && run >= target_.line_bytes) break;
      const int inner = split_off(k, longest / run);
      mark(inner) = Mark::target_run;
      run *= loop(inner).extent;
    }
    return run / bytes;
  }

  /// Whether neighbours lie side by side in a source along loop `k`.
  bool begins_runs(int k) {
    for (int operand = 1; operand <= source_count(space().op); ++operand) {
      const int64_t stride = loop(k).stride[static_cast<size_t>(operand)];
      if (stride == element_bytes(space().op, operand)) return true;
    }
    return false;
  }

  /// Whether a source is contiguous along the whole row, or repeats one element there.
  bool follows_row(int operand) {
    int64_t run = element_bytes(space().op, operand);
    bool follows = true, repeats = true;
    for (int k = loop_count() - 1; k >= 0; --k) {
      if (mark(k) != Mark::target_run) continue;
      const int64_t stride = loop(k).stride[static_cast<size_t>(operand)];
      follows = follows && stride == run;
      repeats = repeats && stride == 0;
      run *= loop(k).extent;
    }
    return follows || repeats;
  }

  /// Bytes of the elements that are relaid for one element of the target.
  int64_t relaid_element_bytes() {
    int64_t bytes = 0;
    for (int operand = 1; operand <= source_count(space().op); ++operand) {
      if (!follows_row(operand)) bytes += element_bytes(space().op, operand);
    }
    return bytes;
  }

  /// Whether no unmarked finer loop of its axis would end up outside of loop `k`.
  bool movable_inside(int k) {
    for (int j = 0; j < loop_count(); ++j) {
      if (mark(j) == Mark::outside && loop(j).axis == loop(k).axis && loop(j).step < loop(k).step)
        return false;
    }
    return true;
  }

  /// Marks loops that lengthen a run of an operand from `run` bytes to at most `wanted`; returns
  /// its length.
  int64_t take_run(size_t operand, int64_t run, int64_t wanted, Mark as) {
    while (2 * run <= wanted) {
      const int k = next_in_run(operand, run);
      // The target leaves the loop that the runs of the source begin with to the source.
      if (k < 0 || (operand == 0 && loop(k).stride[1] == space().op.bytes)) break;
      const int inner = split_off(k, wanted / run);
      mark(inner) = as;
      run *= loop(inner).extent;
    }
    return run;
  }

  void transpose() {
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
    const Block block = pages     ? Block{page_rows, page_bytes / bytes}
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

  /// Whether blocks are better made of pages of the source.
  bool reads_pages(int64_t row, int64_t column) {
    const int64_t bytes = space().op.bytes;
    return schedule_.nontemporal && bytes >= page_element_bytes &&
           target_.vector_bytes == target_.line_bytes && goes_on(0, row, page_rows * bytes) &&
           goes_on(1, column, page_bytes);
  }

  /// Whether a run of an operand can be lengthened to `wanted` bytes by one loop.
  bool goes_on(size_t operand, int64_t run, int64_t wanted) {
    const int k = next_in_run(operand, run);
    return k >= 0 && run * loop(k).extent >= wanted;
  }

  /// Whether runs of so many bytes are permuted rather than transposed.
  bool is_narrow(int64_t run) {
    const int64_t bytes = space().op.bytes;
    const bool odd = run / bytes % 2 == 1 && run > bytes;
    return run < narrow_run_bytes || (bytes >= 4 && odd && run < narrow_odd_run_bytes);
  }

  /// The loop along which the source lies side by side, in units of what the tile has taken of it;
  /// -1 if there is none.
  int widest_source_loop() {
    for (int k = 0; k < loop_count(); ++k) {
      if (mark(k) == Mark::source_run && loop(k).stride[1] == space().op.bytes) return k;
    }
    return -1;
  }

  /// Puts the loop that goes on where a block of an operand ends innermost.
  void go_on(size_t operand) {
    int next = -1;
    for (int k = 0; k < loop_count(); ++k) {
      const int64_t stride = std::abs(loop(k).stride[operand]);
      if (mark(k) != Mark::outside || !movable_inside(k) || stride == 0) continue;
      if (next < 0 || stride < std::abs(loop(next).stride[operand])) next = k;
    }
    if (next >= 0) move_inside(next);
  }

  /// Puts an unmarked loop inside all other unmarked ones.
  void move_inside(int k) {
    int last = loop_count() - 1;
    while (mark(last) != Mark::outside) --last;
    for (; k < last; ++k) {
      std::swap(loop(k), loop(k + 1));
      std::swap(mark(k), mark(k + 1));
    }
  }

  /// Whether the target permutes elements of this width.
  bool permutes() const {
    const int64_t bytes = schedule_.space.op.bytes;
    return target_.permute_width > 0 && bytes >= target_.permute_width && bytes < 16;
  }

  /// The extent a loop needs for a run of `run` bytes to become windows of whole vectors.
  int64_t window_extent(int64_t run, int64_t extent) const {
    const int64_t vector = target_.vector_bytes, exact = vector / std::gcd(run, vector);
    if (exact <= extent && run * exact <= most_block_bytes) return exact;
    return std::min(extent, ceil_div(vector, run));
  }

  /// Marks a block whose source and target both are a few contiguous windows. False if there is
  /// none.
  bool permute() {
    std::vector<int64_t> block(space().loops.size(), 1);
    for (const size_t operand : {size_t{0}, size_t{1}}) {
      int64_t run = space().op.bytes;
      while (run < target_.vector_bytes) {
        int next = -1;
        for (int k = 0; k < loop_count(); ++k) {
          if (loop(k).stride[operand] == run) next = k;
        }
        if (next < 0) break;
        int64_t& extent = block[static_cast<size_t>(next)];
        extent = std::max(extent, window_extent(run, loop(next).extent));
        run *= extent;
        if (extent < loop(next).extent) break;
      }
    }
    lengthen_shifted_rows(block);
    const int64_t bytes = block_bytes(block);
    if (bytes > most_block_bytes || bytes == space().op.bytes) return false;
    for (int k = loop_count() - 1; k >= 0; --k) {
      const int64_t extent = block[static_cast<size_t>(k)];
      if (extent > 1 && movable_inside(k)) mark(split_off(k, extent)) = Mark::target_run;
    }
    schedule_.movement = Movement::permute;
    return true;
  }

  int64_t block_bytes(const std::vector<int64_t>& block) const {
    int64_t bytes = schedule_.space.op.bytes;
    for (const int64_t extent : block) bytes *= extent;
    return bytes;
  }

  /// Rows of the target that begin between lines share one with what is written after other rows,
  /// so some vectors of a row are written at a time. In the second level a store takes twice as
  /// long with one, a third longer with four: u8 10000 x 3 .46 -> .66 of memcpy.
  void lengthen_shifted_rows(std::vector<int64_t>& block) {
    constexpr int64_t vectors = 4;
    const int run = contiguous(0);
    if (run < 0 || block_bytes(block) * vectors > most_block_bytes) return;
    int64_t& extent = block[static_cast<size_t>(run)];
    const bool whole = extent * space().op.bytes % target_.vector_bytes == 0;
    if (!whole || extent * vectors > loop(run).extent) return;
    bool shifted = false;
    for (int k = 0; k < loop_count(); ++k) {
      const bool rows = k != run && block[static_cast<size_t>(k)] > 1;
      shifted = shifted || (rows && loop(k).stride[0] % target_.line_bytes != 0);
    }
    if (shifted) extent *= vectors;
  }

  /// Nothing is contiguous: some elements a tile, one by one.
  void scattered() {
    constexpr int64_t elements = 8;
    for (int k = loop_count() - 1; k >= 0; --k) {
      if (!movable_inside(k)) continue;
      mark(split_off(k, elements)) = Mark::target_run;
      return;
    }
  }

  /// Moves the marked loops inside, in their order.
  void gather_tile() {
    std::vector<Loop> outside, tile;
    uint32_t target_run = 0;
    for (int k = 0; k < loop_count(); ++k) {
      if (mark(k) == Mark::outside) {
        outside.push_back(loop(k));
      } else {
        if (mark(k) == Mark::target_run) target_run |= uint32_t{1} << tile.size();
        tile.push_back(loop(k));
      }
    }
    schedule_.tile_loops = static_cast<int>(tile.size());
    schedule_.target_run = target_run;
    outside.insert(outside.end(), tile.begin(), tile.end());
    space().loops = std::move(outside);
  }

  const Target& target_;
  Schedule schedule_;
  std::vector<Mark> marks_;
};

}  // namespace

Schedule schedule(const IterationSpace& simplified, const Target& target, CodeGoal goal) {
  return Scheduler(simplified, target, goal).run();
}

std::string to_string(Movement movement) {
  switch (movement) {
    case Movement::row:
      return "row";
    case Movement::splat:
      return "splat";
    case Movement::permute:
      return "permute";
    case Movement::transpose:
      return "transpose";
    case Movement::compute:
      return "compute";
  }
  return "";
}

std::string to_string(const Schedule& schedule) {
  std::string text = to_string(schedule.movement) + ", the innermost " +
                     std::to_string(schedule.tile_loops) + " loops are tiles" +
                     (schedule.nontemporal ? ", non-temporal stores" : "") + '\n';
  return text + to_string(schedule.space);
}

}  // namespace restride
