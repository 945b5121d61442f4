// A problem: what is to be computed into one target from one or two sources. One pass over memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "restride/result.hpp"
#include "restride/shape.hpp"

namespace restride {

/// What happens to the elements on their way. `copy` moves bits untouched.
// clang-format off
enum class Operation : uint8_t {
  copy, convert,
  add, subtract, multiply, divide, remainder, power, maximum, minimum,
  bit_and, bit_or, bit_xor,
  equal, not_equal, less, less_equal, greater, greater_equal,
};
// clang-format on

/// One source of a problem.
struct Source {
  Shape shape;
  /// The target dimension of each source dimension. Empty: the identity, or a scalar.
  std::vector<int64_t> broadcast_dimensions;
  /// Bytes between neighbours along each dimension; 0 and negative allowed. Empty: shape.layout
  /// decides. With strides the pointer given to execute() is the address of the element with index
  /// 0 everywhere, and shape.layout must be the default one.
  std::vector<int64_t> byte_strides;

  bool operator==(const Source&) const = default;
};

/// The numbers of an affine conversion: to floats (x - zero_point) * scale + bias, to integers
/// x / scale rounded to nearest even, + zero_point, saturated. Computed in f32, in f64 where either
/// side is f64, one rounding a step; NaN becomes the integer 0. Each list has one number for all
/// elements, or one for each index of `dimension` of the target; zero_point and bias may be empty.
struct Affine {
  std::vector<double> scale, zero_point, bias;
  int64_t dimension = -1;  ///< -1: none

  bool operator==(const Affine&) const = default;
};

/// Plain data; validate(Problem) checks everything the specification demands.
struct Problem {
  Operation operation = Operation::copy;
  std::vector<Source> sources;  ///< one, or two for a binary operation
  Shape target;
  /// As Source::byte_strides; every element must have bytes of its own.
  std::vector<int64_t> target_byte_strides;
  Affine affine;  ///< of a conversion; without a scale it is a plain one

  bool operator==(const Problem&) const = default;
};

/// The text name: `add`, `and`, `less_equal`; `copy` has none in the notation and prints as "copy".
std::string_view to_string(Operation operation);

/// Whether it takes two sources.
bool is_binary(Operation operation);

/// Whether its result is `pred`.
constexpr bool is_comparison(Operation operation) { return operation >= Operation::equal; }

/// Everything that can be wrong with a problem, in the order of the specification; names field and
/// value.
Result<void> validate(const Problem& problem);

/// `f32[2,3] -> f32[2,3]{0,1}`; see the notation in the README. The result is valid.
Result<Problem> parse_problem(std::string_view text);

/// The canonical text: parse_problem(to_string(p)) == p for a valid problem, but for the packing
/// order, which has no text. Byte strides stand directly behind their shape, before any `dims`:
/// `f32[3] strides={8} -> f32[2,3] strides={4,8} dims={1}`.
std::string to_string(const Problem& problem);

}  // namespace restride
