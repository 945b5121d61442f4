// The oracle's fast path: elements compared in blocks, their places by tables and strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "restride/problem.hpp"

namespace restride::tools {

/// How many elements were compared, if all are equal and there is one; the places of the target's
/// are then marked in `computed`. 0 else, and for layouts it does not know (packed elements, tiles
/// with `*`): then the definition has to be walked.
/// Preconditions: those of compare_with_oracle; `computed` has an entry for each place.
int64_t count_equal_elements(const Problem& problem,
                             std::span<const std::span<const std::byte>> sources,
                             std::span<const std::byte> target, std::vector<bool>& computed);

}  // namespace restride::tools
