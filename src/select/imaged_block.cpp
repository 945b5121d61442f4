#include "select/imaged_block.hpp"

#include <algorithm>
#include <vector>

#include "base/arithmetic.hpp"
#include "program/program.hpp"

namespace restride {
namespace {

using nest::Side;

/// Sides that make a run of the target, fastest first, and the others.
struct Runs {
  std::vector<Side> along, across;
  int64_t bytes;  ///< of a run
};

/// None if a side counts for itself, has padding or does not go forward in the target.
std::optional<Runs> runs_of(const nest::Tile& block, int64_t element_bytes) {
  Runs runs{{}, {}, element_bytes};
  for (const Side& side : block.sides) {
    if (side.filled > 0 || !side.own.empty() || side.stride[0] <= 0) return std::nullopt;
    if (side.extent > 1) runs.across.push_back(side);
  }
  std::sort(runs.across.begin(), runs.across.end(),
            [](const Side& a, const Side& b) { return a.stride[0] < b.stride[0]; });
  auto next = runs.across.begin();
  for (; next != runs.across.end() && next->stride[0] == runs.bytes; ++next) {
    runs.along.push_back(*next);
    runs.bytes *= next->extent;
  }
  runs.across.erase(runs.across.begin(), next);
  return runs;
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
  std::optional<Runs> runs = runs_of(block, element_bytes);
  if (!runs || runs->bytes % whole != 0 || runs->across.empty()) return std::nullopt;
  // Columns of an image begin on lines, with some bytes between them: those of a network fall into
  // sets of their own.
  const int64_t column = program::line_bytes * ceil_div(runs->bytes + 1, program::line_bytes);
  int64_t dense = column;
  for (const Side& side : runs->across) {
    if (side.stride[0] % whole != 0) return std::nullopt;
    dense *= side.extent;
  }
  Side& longest =
      *std::max_element(runs->across.begin(), runs->across.end(),
                        [](const Side& a, const Side& b) { return a.extent < b.extent; });
  const int64_t part = part_of(longest.extent, dense, room);
  if (part == 0) return std::nullopt;
  const Side parts{longest.extent / part, {part * longest.stride[0], part * longest.stride[1]}};
  ImagedBlock imaged{{block.work, {}}, {block.work, {}}, parts, dense / longest.extent * part};
  longest.extent = part;
  int64_t at = column;
  for (const Side& side : runs->across) {
    imaged.to_image.sides.push_back({side.extent, {at, side.stride[1]}});
    imaged.to_target.sides.push_back({side.extent, {side.stride[0], at}});
    at *= side.extent;
  }
  imaged.to_image.sides.insert(imaged.to_image.sides.end(), runs->along.rbegin(),
                               runs->along.rend());
  imaged.to_target.sides.push_back({runs->bytes / element_bytes, {element_bytes, element_bytes}});
  return imaged;
}

}  // namespace restride
