// Shape -> digits. Tiles are applied to a list of physical dimensions, each of which is a numeral
// of its own once a
// `*` has merged several; splitting such a numeral peels whole digits off its minor end.
#include "space/digits.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"

namespace restride {
namespace {

/// A physical dimension while tiles are applied: digits from major to minor, strides not known yet.
struct Physical {
  std::vector<Digit> digits;
  std::vector<int>
      dimensions;  // the logical dimensions it is made of while they are whole; else empty
};

/// Appends the digits of `minor` behind those of `major`, joining two that count on.
void append(std::vector<Digit>& major, const std::vector<Digit>& minor) {
  for (const Digit& digit : minor) {
    if (digit.extent == 1 && !major.empty()) continue;
    if (!major.empty() && major.back().extent == 1) major.pop_back();
    if (!major.empty() && major.back().axis == digit.axis &&
        major.back().step == digit.step * digit.extent) {
      major.back() = {digit.axis, digit.step, major.back().extent * digit.extent, 0};
    } else {
      major.push_back(digit);
    }
  }
}

enum class Cut { done, needs_one_axis };

/// Splits `whole` into blocks of `tile`: what remains of it counts the blocks, `interior` counts
/// within one.
Cut split(Physical& whole, int64_t tile, Physical& interior) {
  int64_t rest = tile;
  std::vector<Digit> inside;  // minor first
  while (rest > 1 && !whole.digits.empty()) {
    Digit& last = whole.digits.back();
    const bool alone = whole.digits.size() == 1;
    if (alone || (rest < last.extent && last.extent % rest == 0)) {
      inside.push_back({last.axis, last.step, rest, 0});
      last.step *= rest;
      last.extent = ceil_div(last.extent, rest);
      rest = 1;
    } else if (rest % last.extent == 0) {
      inside.push_back(last);
      rest /= last.extent;
      whole.digits.pop_back();
    } else {
      return Cut::needs_one_axis;
    }
  }
  if (inside.empty())
    inside.push_back({whole.digits.empty() ? -1 : whole.digits.back().axis, 1, 1, 0});
  if (whole.digits.empty()) whole.digits.push_back({inside.back().axis, 1, 1, 0});
  interior.digits.assign(inside.rbegin(), inside.rend());
  whole.dimensions.clear();
  return Cut::done;
}

/// Merges the dimensions a tile marks with `*` into the next more minor one; leaves the sizes of
/// the tile.
std::vector<int64_t> merge(std::vector<Physical>& physical, size_t first,
                           const std::vector<int64_t>& tile) {
  std::vector<int64_t> sizes;
  std::vector<Physical> merged(physical.begin(),
                               physical.begin() + static_cast<std::ptrdiff_t>(first));
  Physical pending;
  for (size_t k = 0; k < tile.size(); ++k) {
    const Physical& next = physical[first + k];
    const bool whole =
        !next.dimensions.empty() && (pending.digits.empty() || !pending.dimensions.empty());
    append(pending.digits, next.digits);
    if (whole) {
      pending.dimensions.insert(pending.dimensions.end(), next.dimensions.begin(),
                                next.dimensions.end());
    } else {
      pending.dimensions.clear();
    }
    if (tile[k] == Layout::combine) continue;
    sizes.push_back(tile[k]);
    merged.push_back(std::move(pending));
    pending = {};
  }
  physical = std::move(merged);
  return sizes;
}

/// Strides from the minor end, then the digits that count something.
Result<Digits> with_strides(const std::vector<Digit>& physical, int64_t element_bits) {
  Digits result;
  result.digits.reserve(physical.size());
  int64_t stride = element_bits;
  for (auto digit = physical.rbegin(); digit != physical.rend(); ++digit) {
    if (digit->extent != 1 && digit->axis >= 0) {
      result.digits.push_back({digit->axis, digit->step, digit->extent, stride});
    }
    if (__builtin_mul_overflow(stride, digit->extent, &stride)) {
      return Error{ErrorCode::unsupported, "the buffer has more than 2^60 bytes"};
    }
  }
  std::reverse(result.digits.begin(), result.digits.end());
  result.total_bits = stride;
  return result;
}

}  // namespace

Result<Digits> digits(const Shape& shape, const std::vector<Placement>& placements,
                      int64_t element_bits) {
  const Layout& layout = shape.layout;
  const std::vector<int64_t>& sizes =
      layout.padded_dimensions.empty() ? shape.dimensions : layout.padded_dimensions;
  // Without elements there is nothing to count, whatever the tiles.
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return Digits{};
  std::vector<Digit> whole;
  whole.reserve(sizes.size());
  for (auto dim = layout.minor_to_major.rbegin(); dim != layout.minor_to_major.rend(); ++dim) {
    const Placement& placement = placements[static_cast<size_t>(*dim)];
    whole.push_back({placement.axis, placement.weight, sizes[static_cast<size_t>(*dim)], 0});
  }
  if (layout.tiles.empty()) return with_strides(whole, element_bits);

  std::vector<Physical> physical;
  for (size_t k = 0; k < whole.size(); ++k) {
    const int64_t dim = layout.minor_to_major[whole.size() - 1 - k];
    physical.push_back({{whole[k]}, {static_cast<int>(dim)}});
  }
  Digits result;
  for (const std::vector<int64_t>& tile : layout.tiles) {
    const size_t first = physical.size() - tile.size();
    const std::vector<int64_t> inner = merge(physical, first, tile);
    for (size_t k = 0; k < inner.size(); ++k) {
      const std::vector<int> dimensions = physical[first + k].dimensions;
      Physical interior;
      if (split(physical[first + k], inner[k], interior) == Cut::needs_one_axis) {
        if (dimensions.size() < 2) {
          return Error{ErrorCode::unsupported,
                       "a tile cuts merged digits in the middle: no numeral describes it"};
        }
        result.merges.push_back(dimensions);
        return result;
      }
      physical.push_back(std::move(interior));
    }
  }
  std::vector<Digit> cut;
  for (const Physical& dimension : physical)
    cut.insert(cut.end(), dimension.digits.begin(), dimension.digits.end());
  return with_strides(cut, element_bits);
}

Digits digits(const Shape& shape, const std::vector<int64_t>& byte_strides,
              const std::vector<Placement>& placements) {
  Digits result;
  for (size_t dim = 0; dim < shape.dimensions.size(); ++dim) {
    const Placement& placement = placements[dim];
    if (placement.axis < 0 || shape.dimensions[dim] == 1) continue;
    result.digits.push_back(
        {placement.axis, placement.weight, shape.dimensions[dim], 8 * byte_strides[dim]});
  }
  return result;
}

}  // namespace restride
