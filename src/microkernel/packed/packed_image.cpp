#include "microkernel/packed/packed_image.hpp"

#include <algorithm>
#include <numeric>

#include "base/arithmetic.hpp"

namespace restride {
namespace {

using nest::Side;

// Elements in a row that the box does not have cost time, but no more than rows of their own would.
constexpr int64_t waste = 2;
constexpr int64_t short_row_elements = 64;
// Code for more phases is longer than it is worth: rows swallow what lies between them instead.
constexpr int64_t most_phases = 64;
// An image's rows begin on vectors.
constexpr int64_t row_alignment_bytes = 16;

/// How many of the sides, the finest first, a row has to swallow: beyond them no two rows share a
/// byte.
size_t sharing_sides(const std::vector<Side>& sides, int bits) {
  size_t sharing = 0;
  int64_t reach_bits = bits;
  for (size_t k = 0; k < sides.size(); ++k) {
    if (sides[k].stride[1] - reach_bits < 8) sharing = k + 1;
    reach_bits += (sides[k].extent - 1) * sides[k].stride[1];
  }
  return sharing;
}

int64_t phases_of(const std::vector<Side>& sides) {
  int64_t phases = 1;
  for (const Side& side : sides) phases *= std::min(byte_period(side.stride[1]), side.extent);
  return phases;
}

}  // namespace

int64_t byte_period(int64_t stride_bits) { return 8 / std::gcd(stride_bits, int64_t{8}); }

PackedImage::PackedImage(const std::vector<Side>& sides, size_t operand, Packing packing)
    : packing_(packing), strides_(sides.size(), 0) {
  std::vector<size_t> order;  // of the sides that move, the finest first
  for (size_t k = 0; k < sides.size(); ++k) {
    if (sides[k].extent > 1 && sides[k].stride[operand] != 0) order.push_back(k);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return sides[a].stride[operand] < sides[b].stride[operand];
  });
  for (const size_t k : order) outer_.push_back({sides[k].extent, {0, sides[k].stride[operand]}});

  size_t inside = 0;  // sides within the row
  int64_t boxed = 1;  // elements of the row that the box has
  const size_t sharing = sharing_sides(outer_, packing.bits);
  while (inside < outer_.size()) {
    const int64_t extent = outer_[inside].extent;
    const int64_t stride = outer_[inside].stride[1];
    const int64_t distance = stride / packing.bits;
    const int64_t reach = elements_ + (extent - 1) * distance;
    boxed *= extent;
    const std::vector<Side> rest(outer_.begin() + static_cast<std::ptrdiff_t>(inside),
                                 outer_.end());
    const bool swallows = inside < sharing || reach <= std::max(waste * boxed, short_row_elements);
    if (!swallows && phases_of(rest) <= most_phases) break;
    is_dense_ = is_dense_ && distance == elements_;
    elements_ = reach;
    strides_[order[inside++]] = distance;
  }
  int64_t pitch = first_element + elements_ + first_element;
  pitch = ceil_div(pitch, row_alignment_bytes) * row_alignment_bytes;
  for (size_t k = inside; k < outer_.size(); ++k) {
    outer_[k].stride[0] = strides_[order[k]] = pitch;
    pitch *= outer_[k].extent;
  }
  outer_.erase(outer_.begin(), outer_.begin() + static_cast<std::ptrdiff_t>(inside));
  std::reverse(outer_.begin(), outer_.end());
  bytes_ = pitch;
}

int64_t PackedImage::phases() const { return phases_of(outer_); }

std::vector<PackedRow> PackedImage::rows(int64_t at) const {
  std::vector<PackedRow> rows;
  add_rows(0, {0, first_element, 0, false, false, {}}, at, rows);
  return rows;
}

/// Every phase that the sides from `outer` on make.
void PackedImage::add_rows(size_t outer, PackedRow row, int64_t at,
                           std::vector<PackedRow>& rows) const {
  if (outer == outer_.size()) {
    const int64_t bits = packing_.bits, end = at + elements_ * bits;
    row.memory_at = at / 8;
    row.image_at -= at % 8 / bits;
    row.bytes = ceil_div(end, 8) - at / 8;
    row.shares_first = at % 8 != 0;
    row.shares_last = end % 8 != 0;
    rows.push_back(std::move(row));
    return;
  }
  const Side& side = outer_[outer];
  const int64_t period = byte_period(side.stride[1]);
  for (int64_t phase = 0; phase < std::min(period, side.extent); ++phase) {
    PackedRow next = row;
    const int64_t times = ceil_div(side.extent - phase, period);
    next.image_at += phase * side.stride[0];
    next.sides.push_back({times, {period * side.stride[0], period * side.stride[1] / 8}});
    add_rows(outer + 1, std::move(next), at + phase * side.stride[1], rows);
  }
}

}  // namespace restride
