// Problem -> the buffers that a plan runs on: where they begin and end relative to the pointers
// that execute() takes, and the arrays that the problem itself brings along.
#include "plan/plan_buffers.hpp"

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "space/iteration_space.hpp"

namespace restride {
namespace {

/// The bytes of all elements, also of those that an empty target leaves unread. validate() has
/// shown that the sums fit.
ByteRange strided_buffer(const Shape& shape, const std::vector<int64_t>& byte_strides) {
  ByteRange buffer{0, storage_bytes(shape.element_type)};
  for (size_t d = 0; d < byte_strides.size(); ++d) {
    if (shape.dimensions[d] == 0) return {};
    const int64_t reach = (shape.dimensions[d] - 1) * byte_strides[d];
    (reach < 0 ? buffer.begin : buffer.end) += reach;
  }
  return buffer;
}

/// The buffer of an operand, relative to the pointer execute() takes.
Result<ByteRange> buffer_of(const Shape& shape, const std::vector<int64_t>& byte_strides) {
  if (!byte_strides.empty()) return strided_buffer(shape, byte_strides);
  const Result<int64_t> bytes = buffer_bytes(shape);
  if (!bytes) return bytes.error();
  return ByteRange{0, *bytes};
}

/// Numbers as the array that a kernel reads.
template <class Float>
std::vector<std::byte> as_bytes(const std::vector<double>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(Float));
  for (size_t k = 0; k < numbers.size(); ++k) {
    const Float number = static_cast<Float>(numbers[k]);
    std::memcpy(bytes.data() + k * sizeof number, &number, sizeof number);
  }
  return bytes;
}

}  // namespace

Result<Plan::State> describe_buffers(const Problem& problem, const ElementOp& op) {
  Plan::State plan;
  plan.source_count = static_cast<int>(problem.sources.size());
  size_t source = 0;
  for (const Source& from : problem.sources) {
    const Result<ByteRange> bytes = buffer_of(from.shape, from.byte_strides);
    if (!bytes) return bytes.error();
    plan.sources[source++] = *bytes;
  }
  for (const std::vector<double>* factors :
       {&problem.affine.scale, &problem.affine.zero_point, &problem.affine.bias}) {
    if (factors->empty()) continue;
    const bool wide = affine_type(op) == ElementType::f64;
    plan.factors.push_back(wide ? as_bytes<double>(*factors) : as_bytes<float>(*factors));
    plan.sources[source++] = {0, static_cast<int64_t>(plan.factors.back().size())};
  }
  const Result<ByteRange> target = buffer_of(problem.target, problem.target_byte_strides);
  if (!target) return target.error();
  plan.target = *target;
  return plan;
}

}  // namespace restride
