// See cut_elements.hpp.
#include "schedule/cut_elements.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/arithmetic.hpp"
#include "program/program.hpp"
#include "space/rewrites.hpp"

namespace restride::scheduling {
namespace {

// Of columns as short as this a bound cuts much, and blocks that are permuted read them side by
// side. Emerald Rapids, 20 problems .72 of the time of joining (s8[13,1288160] to T(8,128)(4,1) .20
// -> .99 of the ceiling), one 1.7; of 65 to 85 bytes .4 to 1.1, of 86 and more up to 6.
constexpr int64_t most_permuted_column_bytes = 64;

/// Whether a loop makes a few whole bytes, which source and target have in common.
bool makes_element(const IterationSpace& space, const Loop& loop) {
  const int64_t bytes = space.op.bytes;
  return loop.step == 1 && loop.extent > 1 && loop.stride[0] == bytes && loop.stride[1] == bytes &&
         std::has_single_bit(static_cast<uint64_t>(loop.extent)) &&
         loop.extent * bytes <= program::lane_bytes;
}

/// Whether bounds cut the last of the elements that a loop makes, and nothing else does. What no
/// bound cuts is one wide element after simplify.
bool is_cut(const IterationSpace& space, const Loop& loop) {
  const Axis& axis = space.axes[static_cast<size_t>(loop.axis)];
  const bool nests = std::all_of(space.loops.begin(), space.loops.end(), [&](const Loop& other) {
    return other.axis != loop.axis || &other == &loop || other.step % loop.extent == 0;
  });
  return nests && axis.valid > loop.extent;
}

}  // namespace

std::optional<CutElements> cut_elements(const IterationSpace& space) {
  const bool nests = std::all_of(space.loops.begin(), space.loops.end(),
                                 [](const Loop& loop) { return loop.own.empty(); });
  if (!nests || !is_move(space.op) || is_packed(space.op) || space.tail_begin != space.tail_end)
    return std::nullopt;
  for (size_t k = 0; k < space.loops.size(); ++k) {
    const Loop& loop = space.loops[k];
    if (makes_element(space, loop) && is_cut(space, loop)) return CutElements{k, loop.extent};
  }
  return std::nullopt;
}

bool makes_lines_of_cut_elements(const Schedule& one_by_one, const IterationSpace& space,
                                 const CutElements& cut, const Target& target) {
  if (one_by_one.movement != Movement::permute || !one_by_one.nontemporal) return false;
  const Axis& axis = space.axes[static_cast<size_t>(space.loops[cut.loop].axis)];
  return !target.joins_cut_elements || axis.valid * space.op.bytes <= most_permuted_column_bytes;
}

IterationSpace with_whole_elements(const IterationSpace& space, const CutElements& cut) {
  IterationSpace whole = space;
  const int cut_axis = space.loops[cut.loop].axis;
  whole.loops.erase(whole.loops.begin() + static_cast<std::ptrdiff_t>(cut.loop));
  for (Loop& loop : whole.loops) {
    if (loop.axis == cut_axis) loop.step /= cut.count;
  }
  Axis& axis = whole.axes[static_cast<size_t>(cut_axis)];
  axis = {ceil_div(axis.valid, cut.count), ceil_div(axis.padded, cut.count)};
  whole.op.bytes *= cut.count;
  return whole;
}

std::optional<Schedule> with_cut_elements(Schedule whole, const IterationSpace& space,
                                          const CutElements& cut) {
  const bool one_by_one =
      whole.movement == Movement::transpose || whole.movement == Movement::permute;
  if (!one_by_one || whole.space.op.bytes != space.op.bytes * cut.count) return std::nullopt;
  const Loop& run = space.loops[cut.loop];
  for (Loop& loop : whole.space.loops) {
    if (loop.axis == run.axis) loop.step *= cut.count;
  }
  whole.space.axes = space.axes;
  whole.space.op = space.op;
  whole.space.loops.push_back(run);
  whole.target_run |= uint32_t{1} << whole.tile_loops;
  ++whole.tile_loops;
  whole.joined_elements = cut.count;
  return whole;
}

}  // namespace restride::scheduling
