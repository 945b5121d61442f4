// What the specification says a problem must give, element by element through the public index
// functions. Nothing of the planner is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "restride/problem.hpp"
#include "restride/result.hpp"

namespace restride::tools {

struct Comparison {
  int64_t elements = 0;    ///< compared, padding not counted
  std::string difference;  ///< the first one in words; empty: none
};

/// Compares every element and all padding of `target` with what the problem makes of the bytes of
/// its sources. Padding of value `unknown` may hold anything, and so may the fill of tiles within
/// tiles. Preconditions: the problem is valid, without byte strides, and the buffers have its
/// sizes. Errors: a padding value that the type lacks.
Result<Comparison> compare_with_oracle(const Problem& problem,
                                       std::span<const std::span<const std::byte>> sources,
                                       std::span<const std::byte> target);

}  // namespace restride::tools
