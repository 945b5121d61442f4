#include "select/packed_box.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/arithmetic.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/packed/crossed_block.hpp"
#include "select/relaid_tile.hpp"

namespace restride {
namespace {

using nest::Side;
using program::Body;

// Runs of a block along every operand: a line, with 4 bits an element. Where all go along, more.
constexpr int64_t run_elements = 128;
constexpr int64_t common_run_elements = 2048;
// Elements of a block, so that what is in scratch stays in L1 beside what is read and written.
constexpr int64_t most_elements = 16 * 1024;
// What execute() has on its stack, less some lines between the parts.
constexpr int64_t most_scratch_bytes = 31 * 1024;
// Offsets beyond this move into the steps of a loop.
constexpr int64_t far = int64_t{1} << 28;

/// The sides that move an operand, the finest first.
std::vector<size_t> finest_first(const nest::Tile& box, size_t operand) {
  std::vector<size_t> order;
  for (size_t k = 0; k < box.sides.size(); ++k) {
    if (box.sides[k].stride[operand] != 0 && box.sides[k].extent > 1) order.push_back(k);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::abs(box.sides[a].stride[operand]) < std::abs(box.sides[b].stride[operand]);
  });
  return order;
}

int64_t product(const std::vector<int64_t>& extents) {
  int64_t product = 1;
  for (const int64_t extent : extents) product *= extent;
  return product;
}

/// Part of an extent; whole bytes of whatever is packed, if it is long enough.
int64_t part_of(int64_t extent, int64_t wanted) {
  if (extent <= wanted) return extent;
  return wanted < 8 ? std::max<int64_t>(wanted, 1) : wanted / 8 * 8;
}

/// Lengthens a block along an operand.
void lengthen(const nest::Tile& box, size_t operand, int64_t wanted, std::vector<int64_t>& block) {
  int64_t run = 1;
  for (const size_t k : finest_first(box, operand)) {
    const int64_t room = most_elements / (product(block) / block[k]);
    const int64_t part = part_of(box.sides[k].extent, std::min(ceil_div(wanted, run), room));
    block[k] = std::max(block[k], part);
    run *= block[k];
    if (run >= wanted || block[k] < box.sides[k].extent) return;
  }
}

nest::Tile block_of(const nest::Tile& box, const std::vector<int64_t>& extents) {
  nest::Tile block = box;
  for (size_t k = 0; k < extents.size(); ++k) block.sides[k].extent = extents[k];
  return block;
}

/// Iterations of a stride after which every packed operand has moved by whole bytes.
int64_t period_of(const Strides& stride, int64_t times, const ElementOp& op) {
  int64_t period = 1;
  for (size_t k = 0; k < stride.size(); ++k) {
    if (op.packing[k].bits != 0) period = std::max(period, byte_period(times * stride[k]));
  }
  return period;
}

Strides moved(Strides at, const Strides& stride, int64_t times) {
  for (size_t k = 0; k < at.size(); ++k) at[k] += times * stride[k];
  return at;
}

/// Whether each of some blocks has the scratch it needs.
bool fits(const nest::Tile& box, const std::vector<int64_t>& extents, const ElementOp& op) {
  const nest::Tile block = block_of(box, extents);
  return scratch_bytes(packed_block(block, op), op) <= most_scratch_bytes;
}

class BlockWalk {
 public:
  using Emit = std::function<Body(const nest::Tile&, const Strides&)>;

  BlockWalk(const nest::Tile& box, const ElementOp& op, const Emit& emit)
      : box_(box), op_(op), emit_(emit), extents_(block_extents(box, op)), block_(box) {}

  /// The blocks along side `k` and those behind it.
  Body walk(size_t k, const Strides& at) {
    if (k == box_.sides.size()) return block(at);
    const Side& side = box_.sides[k];
    const int64_t part = extents_[k], blocks = side.extent / part, rest = side.extent % part;
    Body body;
    block_.sides[k].extent = part;
    append(body, repeated(k, at, blocks));
    if (rest == 0) return body;
    block_.sides[k].extent = rest;
    append(body, walk(k + 1, moved(at, side.stride, blocks * part)));
    return body;
  }

 private:
  Body repeated(size_t k, const Strides& at, int64_t blocks) {
    const Side& side = box_.sides[k];
    const int64_t part = extents_[k], period = period_of(side.stride, part, op_);
    Body body;
    for (int64_t phase = 0; phase < std::min(period, blocks); ++phase) {
      const Strides stride = in_bytes(moved({}, side.stride, period * part), op_);
      const int64_t times = ceil_div(blocks - phase, period);
      append(body, repeat({times, stride}, walk(k + 1, moved(at, side.stride, phase * part))));
    }
    return body;
  }

  Body block(const Strides& at) const {
    return stand_near(op_, at, [&](const Strides& there) { return emit_(block_, there); });
  }

  const nest::Tile& box_;
  const ElementOp& op_;
  const Emit& emit_;
  const std::vector<int64_t> extents_;
  nest::Tile block_;
};

}  // namespace

ElementOp unpacked(ElementOp op) {
  op.packing = {};
  return op;
}

PackedBlock packed_block(const nest::Tile& tile, const ElementOp& op) {
  PackedBlock block{tile, {}};
  const bool fills = tile.work == nest::Work::fill;
  for (int operand = 0; operand <= (fills ? 0 : source_count(op)); ++operand) {
    const auto k = static_cast<size_t>(operand);
    if (op.packing[k].bits == 0) continue;
    const PackedImage& image = block.images[k].emplace(tile.sides, k, op.packing[k]);
    block.image_at[k] = block.scratch_bytes;
    block.scratch_bytes += image.bytes();
    for (size_t side = 0; side < tile.sides.size(); ++side) {
      block.tile.sides[side].stride[k] = image.stride(side);
    }
  }
  return block;
}

int64_t scratch_bytes(const PackedBlock& block, const ElementOp& op) {
  if (block.tile.work == nest::Work::fill || only_packs(op)) return block.scratch_bytes;
  constexpr uint32_t any_side = ~uint32_t{0};
  return block.scratch_bytes + RelaidTile(block.tile, any_side, unpacked(op)).scratch_bytes();
}

std::vector<int64_t> block_extents(const nest::Tile& box, const ElementOp& op) {
  if (is_crossed(box, op)) return crossed_extents(box, op);
  std::vector<int64_t> block(box.sides.size(), 1);
  const bool fills = box.work == nest::Work::fill;
  for (int operand = 0; operand <= (fills ? 0 : source_count(op)); ++operand) {
    lengthen(box, static_cast<size_t>(operand), run_elements, block);
  }
  if (product(block) <= run_elements) lengthen(box, 0, common_run_elements, block);
  while (!fits(box, block, op)) {
    int64_t& longest = *std::max_element(block.begin(), block.end());
    longest = part_of(longest, longest / 2);
  }
  // A side that begins elsewhere in a byte each time is better done at once.
  for (const size_t k : finest_first(box, 0)) {
    if (block[k] == box.sides[k].extent) continue;
    if (period_of(box.sides[k].stride, block[k], op) == 1) continue;
    std::vector<int64_t> whole = block;
    whole[k] = box.sides[k].extent;
    if (product(whole) <= most_elements && fits(box, whole, op)) block = std::move(whole);
  }
  return block;
}

int64_t block_alignment(const nest::Tile& box, const ElementOp& op, int64_t alignment) {
  if (op.packing[0].bits != 0) return 1;
  const std::vector<int64_t> extents = block_extents(box, op);
  int64_t run = op.bytes;
  bool continues = true;
  for (const size_t k : finest_first(box, 0)) {
    const Side& side = box.sides[k];
    continues = continues && side.stride[0] == run;
    run *= extents[k];
    if (!continues) alignment = std::gcd(alignment, side.stride[0]);
    if (extents[k] == side.extent) continue;
    alignment = std::gcd(alignment, extents[k] * side.stride[0]);
    continues = false;
  }
  return alignment;
}

Body stand_near(const ElementOp& op, const Strides& at,
                const std::function<Body(const Strides&)>& emit) {
  const Strides bytes = in_bytes(at, op);
  const bool near =
      std::all_of(bytes.begin(), bytes.end(), [](int64_t at) { return std::abs(at) < far; });
  if (near) return emit(at);
  Strides there = at;
  program::For loop{1, {}, {}};
  for (int operand = 0; operand <= source_count(op); ++operand) {
    const auto k = static_cast<size_t>(operand);
    there[k] -= op.packing[k].bits != 0 ? 8 * bytes[k] : bytes[k];
    loop.steps.push_back({operand, 0, bytes[k]});
  }
  loop.body = emit(there);
  Body body;
  body.push_back(std::move(loop));
  return body;
}

Body walk_blocks(const nest::Tile& box, const ElementOp& op, const Strides& at,
                 const std::function<Body(const nest::Tile&, const Strides&)>& emit) {
  return BlockWalk(box, op, emit).walk(0, at);
}

}  // namespace restride
