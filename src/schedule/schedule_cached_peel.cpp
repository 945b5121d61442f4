// Peels of transposes that stay in the caches: what is before the first line of a run goes apart,
// with what is behind the last one, so that networks read or write whole lines.
//
//     source   |............aaaa|bbbbbbbbbbbbbbbb|cccccccccccccccc|aaaaaaaaaaaa....|
//                                 a column of networks: a line of every row
//
// Networks that read parts of two lines come back to the second one when it may be gone: rows that
// lie a power of two apart have few lines in L1. Zen 4, 16 bytes behind a line: 103 transposes of
// .01 to 24 MB in .78 of the time.
#include <algorithm>
#include <vector>

#include "base/arithmetic.hpp"
#include "program/program.hpp"
#include "schedule/peel_ends.hpp"
#include "schedule/scheduling.hpp"

namespace restride {
namespace {

// Shorter runs are not measured. Those of the source are not peeled where shorter ones of the
// target touch, which lines hold some of: c128[32,4,16]{1,2,0} .96 -> .77 of the ceiling.
constexpr int64_t least_run_bytes = 256;

// Blocks of one network along what is peeled are as good as more of them; across is not measured.
constexpr int64_t least_networks_across = 2;

// Single bytes in L1 take more code than they are worth. Beyond it 33 .80 of the time where both
// arrays begin 16 bytes behind a line, u8 256 x 256 .54 -> .68 of the ceiling,
// u8[32,2048,7,7]{1,3,2,0} .30 -> .46, for more code: the suites' median goes from 3.8 to 4.5 KB,
// planning and compiling from 67 to 79 us. Of u16 25 of 40 in .87: 256 x 256 .52 -> .66,
// f16[1,28,28,512]{2,1,3,0} .49 -> .68.
constexpr int64_t narrowest_peeled_in_l1 = 2;

// Where runs of the source are short or begin each elsewhere, those of the target of such elements
// are peeled. 14 of u16 .82 of the time, f16[1,512,28,28]{1,3,2,0} .36 -> .65 of the ceiling; wider
// ones, of few elements a line, .97 to .99, c128[4,7,32,8] 1.3, f32 768 x 120 1.4.
constexpr int64_t widest_peeled_instead = 2;

int64_t touched_by(const IterationSpace& space, int operand) {
  const ByteRange touched = touched_bytes(space, operand);
  return touched.end - touched.begin;
}

int64_t run_bytes(const IterationSpace& space, int axis) {
  return axis < 0 ? 0 : space.axes[static_cast<size_t>(axis)].valid * space.op.bytes;
}

/// Whether runs of the target follow each other as elements of a run of the source do.
bool runs_touch(const IterationSpace& space) {
  const int row = axis_of_runs(space, 0), column = axis_of_runs(space, 1);
  return std::any_of(space.loops.begin(), space.loops.end(), [&](const Loop& loop) {
    return loop.axis == column && loop.step == 1 && loop.stride[0] == run_bytes(space, row);
  });
}

/// Whether runs of an operand can be peeled.
bool has_long_runs(const IterationSpace& space, const Target& target, size_t operand) {
  const int along = axis_of_runs(space, operand);
  return run_bytes(space, along) >= least_run_bytes &&
         runs_begin_alike(space, target, operand, along);
}

/// The operand whose runs are peeled: the source, but what stays in L1 is read from two lines as
/// soon as from one; -1: none. (Both operands: f32 256 x 256 .80 of the ceiling for .74 with twice
/// as much code, f64 128 x 128 .85 for .93.)
int peeled_operand(const IterationSpace& space, const Target& target) {
  // Stores of a lane never lie in two lines.
  const int rows = target.vector_bytes > program::lane_bytes ? 0 : -1;
  if (touched_by(space, 0) + touched_by(space, 1) <= target.l1_bytes)
    return space.op.bytes < narrowest_peeled_in_l1 ? -1 : rows;
  const bool short_rows = run_bytes(space, axis_of_runs(space, 0)) < least_run_bytes;
  if (short_rows && runs_touch(space)) return -1;
  const bool instead = space.op.bytes <= widest_peeled_instead && !has_long_runs(space, target, 1);
  return instead ? rows : 1;
}

/// Lets blocks divide `length` elements of an axis, so that no rest takes code of its own: they are
/// the most networks that do, up to twice as many as before, but no less than `least`.
void divide_blocks(IterationSpace& space, int axis, int64_t length, int64_t least) {
  std::vector<Loop*> loops;  // coarse to fine
  for (Loop& loop : space.loops) {
    if (loop.axis == axis) loops.push_back(&loop);
  }
  if (loops.size() != 3) return;
  Loop &blocks = *loops[0], &networks = *loops[1];
  if (length % networks.step != 0 || length % blocks.step == 0) return;
  const int64_t count = length / networks.step;
  const int64_t most = largest_divisor(count, 2 * networks.extent);
  if (most < least) return;
  networks.extent = most;
  blocks.step = networks.step * most;
  for (size_t k = 0; k < blocks.stride.size(); ++k) blocks.stride[k] = networks.stride[k] * most;
  blocks.extent = ceil_div(space.axes[static_cast<size_t>(axis)].valid, blocks.step);
}

}  // namespace

std::optional<Schedule> peeled_in_caches(Schedule on_line, const Target& target, int64_t phase) {
  const IterationSpace& space = on_line.space;
  if (on_line.movement != Movement::transpose || on_line.nontemporal || phase % space.op.bytes != 0)
    return std::nullopt;
  const int operand = peeled_operand(space, target);
  if (operand < 0) return std::nullopt;
  const auto peeled = static_cast<size_t>(operand);
  const int along = axis_of_runs(space, peeled), across = axis_of_runs(space, 1 - peeled);
  if (across < 0 || across == along || !has_long_runs(space, target, peeled) ||
      !is_uniform(space, across))
    return std::nullopt;
  const Axis& other = space.axes[static_cast<size_t>(across)];
  if (other.valid != other.padded) return std::nullopt;
  const int64_t run = space.axes[static_cast<size_t>(along)].valid;
  Peel ends = ends_of(space, target, along, phase);
  ends.ring = operand == 1 && ends.last > 0;
  on_line.peels[peeled] = ends;
  divide_blocks(on_line.space, along, run - ends.first - ends.last, 1);
  divide_blocks(on_line.space, across, other.valid, least_networks_across);
  return on_line;
}

}  // namespace restride
