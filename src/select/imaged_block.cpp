#include "select/imaged_block.hpp"

#include <algorithm>
#include <vector>

#include "base/arithmetic.hpp"

namespace restride {
namespace {

using nest::Side;

// Columns of an image begin on lines, with some bytes between them: those of a network fall into
// sets of their own.
constexpr int64_t line = 64;

void add_loop(IterationSpace& space, int64_t extent, const Strides& stride) {
  space.loops.push_back({static_cast<int>(space.axes.size()), 1, extent, stride});
  space.axes.push_back({extent, extent});
}

/// Of a side of `extent` iterations, which make an image of `bytes`: how many a part has if parts
/// are alike and as few as `room` lets them be; 0: even one is too many.
int64_t part_of(int64_t extent, int64_t bytes, int64_t room) {
  for (int64_t part = extent; part > 0; --part) {
    if (extent % part == 0 && bytes / extent * part <= room) return part;
  }
  return 0;
}

}  // namespace

std::optional<ImagedBlock> imaged_block(const nest::Tile& block, int64_t element_bytes,
                                        int64_t whole, int64_t room) {
  std::vector<Side> sides;
  for (const Side& side : block.sides) {
    if (side.filled > 0 || !side.own.empty() || side.stride[0] <= 0) return std::nullopt;
    if (side.extent > 1) sides.push_back(side);
  }
  std::sort(sides.begin(), sides.end(),
            [](const Side& a, const Side& b) { return a.stride[0] < b.stride[0]; });
  int64_t run = element_bytes;
  size_t first = 0;
  for (; first < sides.size() && sides[first].stride[0] == run; ++first) run *= sides[first].extent;
  if (run % whole != 0 || first == sides.size()) return std::nullopt;
  const int64_t column = line * ceil_div(run + 1, line);
  int64_t dense = column;
  for (size_t k = first; k < sides.size(); ++k) {
    if (sides[k].stride[0] % whole != 0) return std::nullopt;
    dense *= sides[k].extent;
  }
  const auto longest =
      std::max_element(sides.begin() + static_cast<std::ptrdiff_t>(first), sides.end(),
                       [](const Side& a, const Side& b) { return a.extent < b.extent; });
  const int64_t part = part_of(longest->extent, dense, room);
  if (part == 0) return std::nullopt;
  ImagedBlock imaged;
  imaged.image_bytes = dense / longest->extent * part;
  imaged.parts = {longest->extent / part, {part * longest->stride[0], part * longest->stride[1]}};
  longest->extent = part;
  imaged.to_image.op.bytes = imaged.to_target.op.bytes = element_bytes;
  int64_t at = column;
  for (size_t k = first; k < sides.size(); ++k) {
    add_loop(imaged.to_image, sides[k].extent, {at, sides[k].stride[1]});
    add_loop(imaged.to_target, sides[k].extent, {sides[k].stride[0], at});
    at *= sides[k].extent;
  }
  for (size_t k = first; k-- > 0;) {
    add_loop(imaged.to_image, sides[k].extent, sides[k].stride);
  }
  add_loop(imaged.to_target, run / element_bytes, {element_bytes, element_bytes});
  return imaged;
}

}  // namespace restride
