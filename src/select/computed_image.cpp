#include "select/computed_image.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace restride {
namespace {

constexpr int64_t pitch = 64;
/// How far a side moves the first source that it moves.
int64_t source_stride(const nest::Side& side) {
  for (size_t operand = 1; operand < side.stride.size(); ++operand) {
    if (side.stride[operand] != 0) return std::abs(side.stride[operand]);
  }
  return 0;
}

}  // namespace

ComputedImage computed_image(const nest::Tile& box, uint32_t target_run, const ElementOp& op) {
  const auto in_target_run = [&](size_t k) { return (target_run >> k & 1) != 0; };
  std::vector<size_t> inner_first(box.sides.size());
  std::iota(inner_first.begin(), inner_first.end(), size_t{0});
  std::sort(inner_first.begin(), inner_first.end(), [&](size_t a, size_t b) {
    if (in_target_run(a) != in_target_run(b)) return in_target_run(b);
    return source_stride(box.sides[a]) < source_stride(box.sides[b]);
  });
  ComputedImage image{box, 0, {box.work, {}}, op.bytes};
  for (const size_t k : inner_first) {
    nest::Side& side = image.computed.sides[k];
    image.moved.sides.push_back({side.extent, {side.stride[0], image.bytes}});
    side.stride[0] = image.bytes;
    image.bytes *= side.extent;
    if (!in_target_run(k)) image.source_rows |= uint32_t{1} << k;
  }
  std::reverse(image.moved.sides.begin(), image.moved.sides.end());
  return image;
}

}  // namespace restride
