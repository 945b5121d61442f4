// What the order of loops costs in translations of pages, by a model: no processor is asked.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "schedule/draft.hpp"

namespace restride::scheduling {

/// A walk over an operand: how far a step goes, bytes, and how many there are.
struct Walk {
  int64_t stride, steps;
};

/// Bytes of the granules (lines, pages) in which walks get to an element, from one of `element`
/// bytes on. Walks that leave no granule out make one run, wider ones repeat it:
///
///     granules |----|----|----|----|----|----
///               xx  xx  xx            xx  xx      2 runs of 3 granules
int64_t granules_bytes(std::vector<Walk> walks, int64_t element, int64_t granule);

/// How often a translation of a page is looked up anew, for both operands of a move: loops inside
/// of which all translations stay at hand look each of them up once.
int64_t page_walks(const Draft& draft);

}  // namespace restride::scheduling
