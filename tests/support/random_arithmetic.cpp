// Random problems that compute: a random copy whose elements are converted on the way, or a random
// target with two sources that broadcast against each other.
#include <algorithm>
#include <numeric>

#include "support/cases.hpp"
#include "support/random.hpp"

namespace restride::testing {
namespace {

ElementType random_type(Random& random) {
  // The common types half of the time.
  constexpr ElementType common[] = {ElementType::u8,  ElementType::s8,   ElementType::s32,
                                    ElementType::f32, ElementType::bf16, ElementType::f16};
  constexpr ElementType small[] = {ElementType::u1, ElementType::s2,   ElementType::s4,
                                   ElementType::u4, ElementType::pred, ElementType::f4e2m1fn};
  if (random.one_in(2)) return random.choose(std::span<const ElementType>(common));
  if (random.one_in(4)) return random.choose(std::span<const ElementType>(small));
  return static_cast<ElementType>(
      random.between(static_cast<int>(ElementType::pred), static_cast<int>(ElementType::c128)));
}

/// Elements of another type in the same places, packed or not.
void change_type(Random& random, Shape& shape, ElementType type) {
  shape.element_type = type;
  shape.layout.element_size_in_bits = 0;
  if (random.one_in(2)) pack_elements(random, shape);
  shape.layout.padding_value = PaddingValue::one;
}

std::vector<double> random_numbers(Random& random, size_t count) {
  std::vector<double> numbers(count);
  for (double& number : numbers) {
    number = static_cast<double>(random.between(-64, 64)) / 16;
    if (number == 0) number = 0.25;
  }
  return numbers;
}

void make_affine(Random& random, Problem& problem) {
  const std::vector<int64_t>& sizes = problem.target.dimensions;
  size_t count = 1;
  if (!sizes.empty() && random.one_in(2)) {
    problem.affine.dimension = random.between(0, static_cast<int64_t>(sizes.size()) - 1);
    count = static_cast<size_t>(sizes[static_cast<size_t>(problem.affine.dimension)]);
  }
  const auto size = [&] { return random.one_in(2) ? count : 1; };
  problem.affine.scale = random_numbers(random, size());
  if (random.one_in(2)) problem.affine.zero_point = random_numbers(random, size());
  if (problem.affine.zero_point.empty() && random.one_in(2))
    problem.affine.bias = random_numbers(random, size());
}

/// A conversion of what a random copy moves; a copy still where no type fits.
Problem random_conversion(Random& random, uint64_t seed) {
  Problem problem = random_problem(seed);
  const Problem copy = problem;
  problem.operation = Operation::convert;
  change_type(
      random, problem.target,
      problem.target_byte_strides.empty() ? random_type(random) : problem.target.element_type);
  change_type(random, problem.sources[0].shape, random_type(random));
  if (random.one_in(3)) make_affine(random, problem);
  if (validate(problem)) return problem;
  problem.affine = {};
  return validate(problem) ? problem : copy;
}

/// Plain elements in any order, some dimensions of size 1.
Source degenerate_source(Random& random, const std::vector<int64_t>& sizes, ElementType type,
                         const std::vector<bool>& stretched) {
  Source source;
  source.shape.element_type = type;
  source.shape.dimensions = sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (stretched[d]) source.shape.dimensions[d] = 1;
  }
  std::vector<int64_t>& order = source.shape.layout.minor_to_major;
  order.resize(sizes.size());
  std::iota(order.rbegin(), order.rend(), 0);
  if (random.one_in(2)) random.shuffle(order);
  return source;
}

/// Of lower rank: some dimensions of the target, increasing.
Source narrow_source(Random& random, const std::vector<int64_t>& sizes, ElementType type) {
  Source source;
  source.shape.element_type = type;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (random.one_in(2)) continue;
    source.shape.dimensions.push_back(sizes[d]);
    source.broadcast_dimensions.push_back(static_cast<int64_t>(d));
  }
  std::vector<int64_t>& order = source.shape.layout.minor_to_major;
  order.resize(source.shape.dimensions.size());
  std::iota(order.rbegin(), order.rend(), 0);
  if (order.size() == sizes.size()) source.broadcast_dimensions.clear();
  return source;
}

Problem random_operation(Random& random, uint64_t seed) {
  Problem problem = random_problem(seed);
  const Problem copy = problem;
  const ElementType type = random_type(random);
  problem.operation = static_cast<Operation>(
      random.between(static_cast<int>(Operation::add), static_cast<int>(Operation::greater_equal)));
  problem.target_byte_strides.clear();
  change_type(random, problem.target, is_comparison(problem.operation) ? ElementType::pred : type);
  const std::vector<int64_t>& sizes = problem.target.dimensions;
  std::vector<bool> first(sizes.size()), second(sizes.size());
  const bool narrow = random.one_in(3);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (narrow) continue;
    (random.one_in(2) ? first : second)[d] = random.one_in(4);
  }
  problem.sources = {
      degenerate_source(random, sizes, type, first),
      narrow ? narrow_source(random, sizes, type) : degenerate_source(random, sizes, type, second)};
  for (Source& source : problem.sources) {
    if (random.one_in(2)) pack_elements(random, source.shape);
  }
  if (random.one_in(2)) std::swap(problem.sources[0], problem.sources[1]);
  return validate(problem) ? problem : copy;
}

}  // namespace

Problem random_arithmetic_problem(uint64_t seed) {
  Random random(seed * 3 + 1);
  return random.one_in(2) ? random_conversion(random, seed) : random_operation(random, seed);
}

}  // namespace restride::testing
