// The canonical form of the library, with its wide elements cut back to the problem's own.
#include "work.hpp"

#include <algorithm>

#include "space/iteration_space.hpp"

namespace restride::tools {
namespace {

/// Whether each axis is covered exactly: no iteration outside, none that fills.
bool is_whole(const IterationSpace& space) {
  if (has_padding(space) || space.tail_begin != space.tail_end) return false;
  for (size_t axis = 0; axis < space.axes.size(); ++axis) {
    int64_t iterations = 1;
    for (const Loop& loop : space.loops)
      if (loop.axis == static_cast<int>(axis)) iterations *= loop.extent;
    if (iterations != space.axes[axis].valid) return false;
  }
  return true;
}

/// Appends a loop inside of the others, as part of the last one where both advance alike.
void append(std::vector<bench::Dimension>& dimensions, const bench::Dimension& inner) {
  if (!dimensions.empty()) {
    bench::Dimension& last = dimensions.back();
    if (last.source_stride == inner.extent * inner.source_stride &&
        last.target_stride == inner.extent * inner.target_stride) {
      last = {last.extent * inner.extent, inner.source_stride, inner.target_stride};
      return;
    }
  }
  dimensions.push_back(inner);
}

}  // namespace

Result<bench::Work> make_work(const Problem& problem, int threads) {
  if (problem.operation != Operation::copy) return bench::does_not_apply("computes");
  const auto packed = [](const Shape& shape) { return shape.layout.element_size_in_bits != 0; };
  if (packed(problem.target) || packed(problem.sources.front().shape)) {
    return bench::does_not_apply("packed");
  }
  Result<IterationSpace> space = iteration_space(problem);
  if (!space) return space.error();
  simplify(*space);
  if (!is_whole(*space)) return bench::does_not_apply("fill or partial tiles");
  const Result<int64_t> source_bytes = buffer_bytes(problem.sources.front().shape);
  const Result<int64_t> target_bytes = buffer_bytes(problem.target);
  if (!source_bytes || !target_bytes) return bench::does_not_apply("too big");

  bench::Work work = {.element_bytes = storage_bytes(problem.target.element_type),
                      .source_bytes = *source_bytes,
                      .target_bytes = *target_bytes,
                      .threads = threads};
  for (const Loop& loop : space->loops) {
    if (loop.extent > 1) work.dimensions.push_back({loop.extent, loop.stride[1], loop.stride[0]});
  }
  std::stable_sort(work.dimensions.begin(), work.dimensions.end(),
                   [](const auto& a, const auto& b) { return a.target_stride > b.target_stride; });
  if (space->op.bytes > work.element_bytes) {
    append(work.dimensions,
           {space->op.bytes / work.element_bytes, work.element_bytes, work.element_bytes});
  }
  return work;
}

}  // namespace restride::tools
