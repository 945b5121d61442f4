// validate(Problem), the part of affine conversions: which operation and types have one, then the
// lengths of the lists, then their numbers. Converts nothing.
#include "model/affine.hpp"

#include <charconv>
#include <cmath>

#include "base/message.hpp"

namespace restride {
namespace {

constexpr std::string_view owner = "affine";

struct List {
  std::string_view name;
  const std::vector<double>& numbers;
};

bool has_affine(ElementType type) { return is_integer(type) || is_float(type); }

/// Whether the conversion is computed in f64; else it is in f32.
bool computes_in_double(const Problem& problem) {
  return problem.target.element_type == ElementType::f64 ||
         problem.sources[0].shape.element_type == ElementType::f64;
}

Error wrong_number(const List& list, size_t i, const std::string& rule) {
  const std::string field = std::string(list.name) + '[' + std::to_string(i) + ']';
  return invalid_value({owner, field}, number_text(list.numbers[i]), rule);
}

Result<void> check_place(const Problem& problem) {
  const Affine& affine = problem.affine;
  if (affine.scale.empty()) {
    return invalid({owner, "scale"}, "is missing: zero_point, bias and dim stand beside a scale");
  }
  if (problem.operation != Operation::convert) {
    return invalid({owner, "scale"}, "stands at " + std::string(to_string(problem.operation)) +
                                         ": belongs to convert");
  }
  const std::string rule = "has no scale: affine conversions are of integers and floats";
  const ElementType from = problem.sources[0].shape.element_type;
  const ElementType to = problem.target.element_type;
  for (const auto& [name, type] : {std::pair{"source", from}, std::pair{"target", to}}) {
    if (has_affine(type)) continue;
    return invalid_value({name, "element_type"}, std::string(to_string(type)), rule);
  }
  if (affine.bias.empty()) return {};
  if (!is_float(to)) {
    return invalid({owner, "bias"}, "stands at the integer target " + std::string(to_string(to)) +
                                        ": belongs to floats; integers have a zero_point");
  }
  if (affine.zero_point.empty()) return {};
  return invalid({owner, "bias"}, "stands beside a zero_point: only one of them is taken");
}

/// One number, or one for each index of the dimension.
Result<void> check_length(const Problem& problem, const List& list) {
  const int64_t dimension = problem.affine.dimension;
  const size_t count = list.numbers.size();
  if (count <= 1) return {};
  const std::string has = "has " + std::to_string(count) + " entries: ";
  if (dimension < 0)
    return invalid({owner, list.name}, has + "must have 1, or dim has to be given");
  const int64_t size = problem.target.dimensions[static_cast<size_t>(dimension)];
  if (static_cast<int64_t>(count) == size) return {};
  return invalid({owner, list.name}, has + "must have 1 or " + std::to_string(size) +
                                         ", the size of target dimension " +
                                         std::to_string(dimension));
}

Result<void> check_dimension(const Problem& problem) {
  const auto rank = static_cast<int64_t>(problem.target.dimensions.size());
  const int64_t dimension = problem.affine.dimension;
  if (dimension >= -1 && dimension < rank) return {};
  return invalid_value(
      {owner, "dimension"}, std::to_string(dimension),
      rank == 0 ? "the target has no dimensions" : "must be 0.." + std::to_string(rank - 1));
}

Result<void> check_finite(const Problem& problem, const List& list) {
  const bool is_double = computes_in_double(problem);
  for (size_t i = 0; i < list.numbers.size(); ++i) {
    const double number = list.numbers[i];
    const double taken = is_double ? number : static_cast<double>(static_cast<float>(number));
    if (!std::isfinite(taken)) {
      return wrong_number(list, i, is_double ? "must be finite" : "must be finite in f32");
    }
    if (list.name == "scale" && taken == 0) {
      return wrong_number(list, i, is_double ? "must not be 0" : "must not be 0 in f32");
    }
  }
  return {};
}

/// A zero point of an integer target is a number of its type.
Result<void> check_zero_point(const Problem& problem, const List& list) {
  const ElementType type = problem.target.element_type;
  if (!is_integer(type)) return {};
  const double count = std::ldexp(1.0, bits(type));
  const double least = is_signed(type) ? -count / 2 : 0, end = least + count;
  for (size_t i = 0; i < list.numbers.size(); ++i) {
    const double number = list.numbers[i];
    if (number == std::trunc(number) && number >= least && number < end) continue;
    return wrong_number(
        list, i,
        "must be a number of " + std::string(to_string(type)) + ", the type of the target");
  }
  return {};
}

}  // namespace

std::string number_text(double number) {
  char text[32];
  const auto end = std::to_chars(std::begin(text), std::end(text), number);
  return {text, end.ptr};
}

Result<void> check_affine(const Problem& problem) {
  const Affine& affine = problem.affine;
  if (affine == Affine{}) return {};
  if (auto valid = check_place(problem); !valid) return valid;
  if (auto valid = check_dimension(problem); !valid) return valid;
  const List lists[] = {
      {"scale", affine.scale}, {"zero_point", affine.zero_point}, {"bias", affine.bias}};
  for (const List& list : lists) {
    if (auto valid = check_length(problem, list); !valid) return valid;
    if (auto valid = check_finite(problem, list); !valid) return valid;
  }
  return check_zero_point(problem, lists[1]);
}

}  // namespace restride
