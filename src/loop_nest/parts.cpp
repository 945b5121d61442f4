// What the peels of a schedule take apart. Each operand's is taken of what the one before leaves.
//
//     peeled     first | between | last
//     a ring     between | the last with the first
//     spliced    between | the last of a run with the first of the next one | both ends of all
#include "loop_nest/parts.hpp"

#include <algorithm>
#include <utility>

#include "base/arithmetic.hpp"

namespace restride {
namespace {

using nest::Block;
using nest::For;
using nest::Node;
using nest::Tile;

/// Elements [begin, end) of an axis, all other axes whole. Loops of the axis advance in all
/// operands as its finest does.
Part part_of(Part whole, int axis, int64_t begin, int64_t end) {
  whole.schedule.space.axes[static_cast<size_t>(axis)] = {end - begin, end - begin};
  for (Loop& loop : whole.schedule.space.loops) {
    if (loop.axis != axis) continue;
    loop.extent = std::min(loop.extent, ceil_div(end - begin, loop.step));
    if (loop.step != 1) continue;
    for (size_t k = 0; k < whole.offset.size(); ++k) whole.offset[k] += begin * loop.stride[k];
  }
  return whole;
}

/// Gives an axis `length` elements, by its finest loop alone.
void in_one_loop(Schedule& schedule, int axis, int64_t length) {
  schedule.space.axes[static_cast<size_t>(axis)] = {length, length};
  for (Loop& loop : schedule.space.loops) {
    if (loop.axis != axis) continue;
    loop.extent = loop.step == 1 ? length : 1;
    if (loop.step != 1) loop.step = length;
  }
}

int64_t extent_of(const Part& part, int axis) {
  return part.schedule.space.axes[static_cast<size_t>(axis)].valid;
}

/// The finest loop of an axis.
Loop& finest(Schedule& schedule, int axis) {
  std::vector<Loop>& loops = schedule.space.loops;
  return *std::find_if(loops.begin(), loops.end(),
                       [&](const Loop& loop) { return loop.axis == axis && loop.step == 1; });
}

/// The last elements of runs of an operand, each with the first ones of the next run. The other
/// operand has digits of its own along them.
Part spliced(const Part& whole, const Peel& peel, size_t operand) {
  const int64_t runs = extent_of(whole, peel.next);
  int64_t length = extent_of(whole, peel.axis);
  Part part = part_of(whole, peel.next, 0, runs - peel.apart);
  const int other = 1 - static_cast<int>(operand);
  const auto digit = [&](int64_t every, int axis) {
    return OwnDigit{other, every, finest(part.schedule, axis).stride[static_cast<size_t>(other)]};
  };
  OwnDigits own;
  if (peel.slower >= 0) {
    const int64_t slower = extent_of(whole, peel.slower);
    own.push_back(digit(length, peel.slower));
    own.push_back(digit(slower, peel.next));
    part = part_of(std::move(part), peel.slower, 0, 1);
    length *= slower;
  } else {
    own.push_back(digit(length, peel.next));
  }
  in_one_loop(part.schedule, peel.axis, peel.last + peel.first);
  finest(part.schedule, peel.axis).own = std::move(own);
  part.from.push_back({peel.axis, length - peel.last});
  return part;
}

/// The last elements of each run, behind them the first ones.
Part closed(Part whole, const Peel& peel) {
  const int64_t length = extent_of(whole, peel.axis);
  in_one_loop(whole.schedule, peel.axis, peel.last + peel.first);
  OwnDigits& own = finest(whole.schedule, peel.axis).own;
  for (int operand = 0; operand < 2; ++operand) own.push_back({operand, length, 0});
  whole.from.push_back({peel.axis, length - peel.last});
  return whole;
}

/// The first elements of the first run of all that are spliced, and the last ones of the last; both
/// of those that are not.
std::vector<Part> ends_of(const Part& whole, const Peel& peel) {
  const int64_t length = extent_of(whole, peel.axis);
  const int64_t runs = extent_of(whole, peel.next);
  const Part first = part_of(whole, peel.next, 0, 1);
  const Part last = part_of(whole, peel.next, runs - peel.apart, runs);
  const auto elements = [&](const Part& run, int64_t begin, int64_t end) {
    Part part = part_of(run, peel.axis, begin, end);
    in_one_loop(part.schedule, peel.axis, end - begin);
    return part;
  };
  if (peel.slower < 0) {
    std::vector<Part> parts{elements(first, 0, peel.first),
                            elements(last, length - peel.last, length)};
    if (peel.apart > 1) {
      const Part behind = part_of(whole, peel.next, runs - peel.apart + 1, runs);
      parts.push_back(elements(behind, 0, peel.first));
    }
    return parts;
  }
  const int64_t slower = extent_of(whole, peel.slower);
  return {part_of(elements(first, 0, peel.first), peel.slower, 0, 1),
          part_of(elements(last, peel.first, length), peel.slower, 0, 1),
          part_of(last, peel.slower, 1, slower)};
}

void mark_ends(Block& block) {
  for (Node& node : block) {
    if (For* const loop = std::get_if<For>(&node.statement)) {
      mark_ends(loop->body);
    } else {
      std::get<Tile>(node.statement).is_end = true;
    }
  }
}

/// The peels behind the first `done` are taken apart, each what is left of the one before.
void lower_behind(const Part& part, size_t done, Block& block) {
  const auto& peels = part.schedule.peels;
  if (done == peels.size()) return lower_plainly(part, block);
  if (peels[done].axis < 0) return lower_behind(part, done + 1, block);
  const Peel& peel = peels[done];
  const auto& axes = part.schedule.space.axes;
  const int64_t end = axes[static_cast<size_t>(peel.axis)].valid, last = end - peel.last;
  if (peel.first < last) lower_behind(part_of(part, peel.axis, peel.first, last), done + 1, block);
  if (peel.ring) return lower_plainly(closed(part, peel), block);
  if (peel.next < 0) {
    if (peel.first > 0) lower_plainly(part_of(part, peel.axis, 0, peel.first), block);
    if (peel.last > 0) lower_plainly(part_of(part, peel.axis, last, end), block);
    return;
  }
  // What is spliced of columns begins in two places in lines of the source.
  const bool along_columns = done == 0 && peels[1].axis == peel.next;
  lower_behind(spliced(part, peel, done), along_columns ? peels.size() : done + 1, block);
  Block ends;
  for (const Part& one : ends_of(part, peel)) lower_plainly(one, ends);
  mark_ends(ends);
  for (Node& node : ends) block.push_back(std::move(node));
}

}  // namespace

void lower_peeled(const Part& whole, Block& block) { lower_behind(whole, 0, block); }

}  // namespace restride
