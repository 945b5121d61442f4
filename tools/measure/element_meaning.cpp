#include "element_meaning.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace restride::tools {
namespace {

bool computes_in_double(const Problem& problem) {
  return problem.target.element_type == ElementType::f64 ||
         problem.sources[0].shape.element_type == ElementType::f64;
}

/// The number of one index; each list has one for all or one for each.
template <class Real>
Real number(const std::vector<double>& list, int64_t index) {
  return static_cast<Real>(list.size() == 1 ? list[0] : list[static_cast<size_t>(index)]);
}

template <class Real>
Real affine_to_float(const Affine& affine, int64_t index, Real x) {
  if (!affine.zero_point.empty()) x = x - number<Real>(affine.zero_point, index);
  x = x * number<Real>(affine.scale, index);
  if (!affine.bias.empty()) x = x + number<Real>(affine.bias, index);
  return std::isnan(x) ? std::numeric_limits<Real>::quiet_NaN() : x;
}

template <class Real>
Real affine_to_integer(const Affine& affine, int64_t index, Real x) {
  x = std::nearbyint(x / number<Real>(affine.scale, index));
  return affine.zero_point.empty() ? x : x + number<Real>(affine.zero_point, index);
}

}  // namespace

ElementMeaning::ElementMeaning(const Problem& problem)
    : problem_(problem), bytes_(static_cast<size_t>(storage_bytes(problem.target.element_type))) {
  const ElementType from = problem.sources[0].shape.element_type;
  const ElementType to = problem.target.element_type;
  if (!problem.affine.scale.empty()) {
    const ElementType real = computes_in_double(problem) ? ElementType::f64 : ElementType::f32;
    convert_ = element_converter(from, real);
    finish_ = element_converter(real, to);
  } else if (problem.operation == Operation::convert) {
    convert_ = element_converter(from, to);
  } else if (is_binary(problem.operation)) {
    compute_ = element_operation(problem.operation, from);
  }
}

void ElementMeaning::operator()(const std::byte* const* sources, int64_t factor,
                                std::byte* to) const {
  if (compute_ != nullptr) return compute_(sources[0], sources[1], to);
  if (convert_ == nullptr) {
    std::memcpy(to, sources[0], bytes_);
  } else if (finish_ == nullptr) {
    convert_(sources[0], to);
  } else if (computes_in_double(problem_)) {
    convert_affinely<double>(sources[0], factor, to);
  } else {
    convert_affinely<float>(sources[0], factor, to);
  }
}

template <class Real>
void ElementMeaning::convert_affinely(const std::byte* from, int64_t factor, std::byte* to) const {
  Real x;
  convert_(from, &x);
  x = is_float(problem_.target.element_type) ? affine_to_float(problem_.affine, factor, x)
                                             : affine_to_integer(problem_.affine, factor, x);
  finish_(&x, to);
}

}  // namespace restride::tools
