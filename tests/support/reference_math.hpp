// The reference for what arithmetic means: conversions and binary operations of one element, from
// the text of the rules, by exact numbers. Slow, and independent of the library.
#pragma once

#include <optional>

#include "restride/problem.hpp"
#include "support/reference_number.hpp"

namespace restride::testing {

/// How a float becomes an integer.
enum class ToInteger { truncated, nearest_even };

/// Whether complex to real, or complex remainder, or what else has no meaning is not asked for.
bool reference_converts(ElementType from, ElementType to);
bool reference_computes(Operation operation, ElementType type);

/// Preconditions: the above.
Element reference_convert(ElementType from, ElementType to, const Element& element,
                          ToInteger rounding = ToInteger::truncated);
Element reference_compute(Operation operation, ElementType type, const Element& a,
                          const Element& b);

/// The numbers of an affine conversion for one element; what is not given takes no step.
struct AffineNumbers {
  double scale;
  std::optional<double> zero_point, bias;
};

/// Precondition: real types that are no predicates.
Element reference_affine(ElementType from, ElementType to, const Element& element,
                         const AffineNumbers& numbers);

}  // namespace restride::testing
