// The corpus: problems every backend must get right on every target.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "restride/problem.hpp"
#include "support/random.hpp"

namespace restride::testing {

/// Packs elements of a type that can be, in either order; leaves others as they are.
void pack_elements(Random& random, Shape& shape);

/// Problems as text: the examples of the specification, edge shapes, and what runtimes do, scaled
/// down.
std::span<const std::string_view> text_cases();

/// Problems that are families or have no text: all element types with all padding values, byte
/// strides.
std::vector<Problem> built_cases();

/// A valid problem, the same for the same seed on every machine. Buffers are mostly below 64 KiB,
/// and below 2 MiB.
Problem random_problem(uint64_t seed);

/// The same of a conversion, an affine conversion or a binary operation.
Problem random_arithmetic_problem(uint64_t seed);

/// Whether the documented limits allow `iteration_space` to refuse a problem: tiles of one layout
/// that cut each other where no numeral describes it, and packed elements in tiles of source and
/// target that do not nest (like 3 against 5).
bool may_be_unsupported(const Problem& problem);

}  // namespace restride::testing
