// See crossed_block.hpp.
#include "microkernel/packed/crossed_block.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"
#include "microkernel/packed/packed_shift.hpp"

namespace restride {
namespace {

using nest::Side;

// Shorter sides are better spread: bytes along the target, elements along the source. E(4) 200 x 65
// x 67 by planes .16 -> .15, 500 x 33 x 35 .12 -> .08, but 101 x 100 x 103 .18 -> .21.
constexpr int64_t least_target_run_bytes = 40, least_source_run = 80;
// Bytes of a block along the target, elements along the source: 128 bytes by 64 elements as good,
// 32 by 256 a tenth slower, fewer elements slower for E(2) and E(1).
constexpr int64_t target_run_bytes = 64, source_run = 128;
// Rows of images begin on lanes.
constexpr int64_t image_alignment = 16;

int64_t aligned(int64_t bytes) { return ceil_div(bytes, image_alignment) * image_alignment; }

/// The side along which an operand has its elements side by side; -1 if there is none.
int run_side(const nest::Tile& tile, size_t operand, const ElementOp& op) {
  for (size_t k = 0; k < tile.sides.size(); ++k) {
    if (tile.sides[k].stride[operand] == op.packing[operand].bits) return static_cast<int>(k);
  }
  return -1;
}

}  // namespace

bool is_crossed(const nest::Tile& box, const ElementOp& op) {
  if (box.work == nest::Work::fill || !only_packs(op) || op.packing[0].bits == 0 ||
      op.packing[0].bits != op.packing[1].bits) {
    return false;
  }
  const int across = run_side(box, 0, op), along = run_side(box, 1, op);
  return across >= 0 && along >= 0 && across != along &&
         box.sides[static_cast<size_t>(across)].extent * op.packing[0].bits >=
             8 * least_target_run_bytes &&
         box.sides[static_cast<size_t>(along)].extent >= least_source_run;
}

std::vector<int64_t> crossed_extents(const nest::Tile& box, const ElementOp& op) {
  std::vector<int64_t> extents(box.sides.size(), 1);
  const auto take = [&](size_t operand, int64_t elements) {
    const auto k = static_cast<size_t>(run_side(box, operand, op));
    extents[k] = std::min(box.sides[k].extent, elements);
  };
  take(0, target_run_bytes * elements_in_byte(op.packing[0]));
  take(1, source_run);
  return extents;
}

CrossedBlock::CrossedBlock(const nest::Tile& tile, const ElementOp& op)
    : from(op.packing[1]), to(op.packing[0]), moved{tile.work, {}}, rows_out{to, 0, {}} {
  const Side& across = tile.sides[static_cast<size_t>(run_side(tile, 0, op))];
  const Side& along = tile.sides[static_cast<size_t>(run_side(tile, 1, op))];
  rows = across.extent;
  elements = along.extent;
  row_stride = across.stride[1];
  const int64_t in_byte = elements_in_byte(to), groups = ceil_div(rows, in_byte);
  bytes = ceil_div(elements, in_byte);
  pitch = aligned(bytes);
  const int64_t pitch_out = aligned(groups);
  moved.sides = {{bytes, {in_byte * pitch_out, 1}},
                 {in_byte, {pitch_out, pitch}},
                 {groups, {1, in_byte * pitch}}};
  rows_out.elements = rows;
  rows_out.sides = {{elements, {along.stride[0], 8 * pitch_out}}};
  image_bytes[0] = groups * in_byte * pitch;
  image_bytes[1] = bytes * in_byte * pitch_out;
}

bool CrossedBlock::leaves_whole_bytes(int64_t at) const {
  const int64_t in_byte = elements_in_byte(to);
  return at % 8 == 0 && rows_out.sides.front().stride[0] % 8 == 0 && rows % in_byte == 0 &&
         elements % in_byte == 0;
}

nest::Tile CrossedBlock::moved_out() const {
  const int64_t row = rows_out.sides.front().stride[0] / 8;
  nest::Tile out = moved;
  out.sides[0].stride[0] = elements_in_byte(to) * row;
  out.sides[1].stride[0] = row;
  return out;
}

}  // namespace restride
