#include "microkernel/packed/mixed_box.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"
#include "program/program.hpp"
#include "space/iteration_space.hpp"

namespace restride {
namespace {

using nest::Side;

// Rows of an image begin on lines, where that leaves it small enough.
constexpr int64_t image_line_bytes = 64;

bool is_last_first(const ElementOp& op, size_t operand) {
  return op.packing[operand].order == PackingOrder::most_significant_first;
}

/// Makes the image, of rows that lie as in one operand, and counts its bytes.
class Image {
 public:
  /// `operand`: whose rows are mixed.
  Image(const nest::Tile& tile, const ElementOp& op, size_t operand)
      : op_(op), operand_(operand), other_(1 - operand) {
    std::vector<Strides> strides;
    for (const Side& side : tile.sides) strides.push_back(side.stride);
    const int along = sharing_side(strides, operand_, op),
              across = sharing_side(strides, other_, op);
    for (size_t k = 0; k < tile.sides.size(); ++k) {
      const Side side{tile.sides[k].extent, in_bytes(tile.sides[k].stride, op)};
      (static_cast<int>(k) == along    ? along_
       : static_cast<int>(k) == across ? across_
                                       : others_)
          .push_back(side);
    }
    const int64_t in_byte = elements_in_byte(op, operand_);
    row_bytes_ = along_[0].extent / in_byte;
    moved_.push_back({row_bytes_, {in_byte * along_[0].stride[other_], 1}});
    absorb();
  }

  int64_t row_bytes() const { return row_bytes_; }
  RowGroup of_operand() const {
    return {elements_in_byte(op_, other_), across_[0].stride[operand_], is_last_first(op_, other_)};
  }
  RowGroup of_image(int64_t pitch) const {
    return {elements_in_byte(op_, operand_), pitch, is_last_first(op_, operand_)};
  }

  /// The sides that repeat groups, of the operand and the image, and those of the relayout, of the
  /// other operand and the image; the slowest first. Returns the bytes of the image.
  int64_t place(int64_t pitch, std::vector<Side>& repeated, std::vector<Side>& moved) const {
    const int64_t in_byte = elements_in_byte(op_, operand_),
                  in_other = elements_in_byte(op_, other_);
    moved = moved_;
    moved.push_back({in_byte, {along_[0].stride[other_], pitch}});
    int64_t dense = in_byte * pitch;
    // A group is a byte of the other operand.
    const int64_t groups = across_[0].extent / in_other;
    moved.push_back({groups, {1, dense}});
    repeated = {{groups, {in_other * across_[0].stride[operand_], dense}}};
    dense *= groups;
    for (const Side& side : others_) {
      moved.push_back({side.extent, {side.stride[other_], dense}});
      repeated.push_back({side.extent, {side.stride[operand_], dense}});
      dense *= side.extent;
    }
    std::reverse(moved.begin(), moved.end());
    std::reverse(repeated.begin(), repeated.end());
    return dense;
  }

 private:
  /// Sides that lengthen the run of the operand lengthen the row.
  void absorb() {
    for (size_t k = 0; k < others_.size();) {
      const Side side = others_[k];
      if (side.stride[operand_] != row_bytes_) {
        ++k;
        continue;
      }
      moved_.push_back({side.extent, {side.stride[other_], row_bytes_}});
      row_bytes_ *= side.extent;
      others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(k));
      k = 0;
    }
  }

  const ElementOp& op_;
  const size_t operand_, other_;
  std::vector<Side> along_, across_, others_;
  std::vector<Side> moved_;  // along the row, the fastest first
  int64_t row_bytes_ = 0;
};

/// Some sides in bytes of both operands, slowest first in one; `shared` is the one along which that
/// operand has elements side by side within bytes.
std::vector<Side> byte_sides(const nest::Tile& tile, uint32_t which, size_t operand, int shared,
                             const ElementOp& op) {
  std::vector<Side> sides;
  for (size_t k = 0; k < tile.sides.size(); ++k) {
    if ((which >> k & 1) == 0) continue;
    Side side{tile.sides[k].extent, in_bytes(tile.sides[k].stride, op)};
    if (static_cast<int>(k) == shared) {
      const int64_t in_byte = elements_in_byte(op, operand);
      side.extent /= in_byte;
      side.stride[operand] = 1;
      side.stride[1 - operand] *= in_byte;
    }
    if (side.extent > 1) sides.push_back(side);
  }
  std::stable_sort(sides.begin(), sides.end(), [&](const Side& a, const Side& b) {
    return a.stride[operand] > b.stride[operand];
  });
  return sides;
}

int sharing_side(const nest::Tile& tile, size_t operand, const ElementOp& op) {
  std::vector<Strides> strides;
  for (const Side& side : tile.sides) strides.push_back(side.stride);
  return restride::sharing_side(strides, operand, op);
}

void swap_strides(std::vector<Side>& sides) {
  for (Side& side : sides) std::swap(side.stride[0], side.stride[1]);
}

}  // namespace

int64_t elements_in_byte(const ElementOp& op, size_t operand) {
  const int64_t bits = op.packing[operand].bits;
  return bits == 0 ? 1 : 8 / bits;
}

int sharing_side(const std::vector<Strides>& strides, size_t operand, const ElementOp& op) {
  const bool packed = op.packing[operand].bits != 0;
  int sharing = -1;
  for (size_t k = 0; k < strides.size(); ++k) {
    const int64_t stride = strides[k][operand];
    if (sharing < 0 && stride == element_stride(op, static_cast<int>(operand))) {
      sharing = static_cast<int>(k);
    } else if (packed && stride % 8 != 0) {
      return -1;
    }
  }
  return sharing;
}

MixedBox::MixedBox(const nest::Tile& tile, const ElementOp& op, MixedRows mixed)
    : moved{tile.work, {}} {
  const bool first = mixed == MixedRows::source;
  const Image image(tile, op, first ? 1 : 0);
  mixing.bits = std::max(op.packing[0].bits, op.packing[1].bits);
  row_bytes = image.row_bytes();
  int64_t pitch = ceil_div(row_bytes, image_line_bytes) * image_line_bytes;
  image_bytes = image.place(pitch, sides, moved.sides);
  if (image_bytes > program::scratch_in_l1_bytes) {
    pitch = row_bytes;
    image_bytes = image.place(pitch, sides, moved.sides);
  }
  mixing.from = first ? image.of_operand() : image.of_image(pitch);
  mixing.to = first ? image.of_image(pitch) : image.of_operand();
  swap_strides(first ? sides : moved.sides);
}

bool has_whole_bytes(const nest::Tile& tile, const ElementOp& op) {
  const int shared = sharing_side(tile, 0, op);
  return shared >= 0 &&
         tile.sides[static_cast<size_t>(shared)].extent % elements_in_byte(op, 0) == 0;
}

nest::Tile filled_bytes(const nest::Tile& tile, const ElementOp& op) {
  constexpr uint32_t every_side = ~uint32_t{0};
  nest::Tile bytes{tile.work, byte_sides(tile, every_side, 0, sharing_side(tile, 0, op), op)};
  if (bytes.sides.empty()) bytes.sides.push_back({1, {1, 0}});
  return bytes;
}

MixedRuns::MixedRuns(const nest::Tile& tile, uint32_t target_run, const ElementOp& op)
    : rows(byte_sides(tile, target_run, 0, sharing_side(tile, 0, op), op)),
      columns(byte_sides(tile, ~target_run, 1, sharing_side(tile, 1, op), op)) {
  const auto group = [&](size_t operand) {
    const size_t other = 1 - operand;
    const auto side = static_cast<size_t>(sharing_side(tile, other, op));
    return RowGroup{elements_in_byte(op, other), in_bytes(tile.sides[side].stride, op)[operand],
                    is_last_first(op, other)};
  };
  mixing = {std::max(op.packing[0].bits, op.packing[1].bits), group(1), group(0)};
}

}  // namespace restride
