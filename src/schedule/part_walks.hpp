// Walks along a source whose columns are more pages of the target than have their translations at
// hand: in parts of it.
//
//     for rows  for columns  box                       a page of the target is entered for each row
//     for rows  for columns  for rows  for columns  box    once for those of a piece
//         piece     part
#pragma once

#include <cstdint>

#include "schedule/draft.hpp"

namespace restride::scheduling {

/// Of two loops around boxes, that take runs of `column` bytes of the source, parts the inner one,
/// and puts the parts inside pieces of the outer one, if that saves translations of pages.
void part_walks(Draft& draft, int64_t column);

}  // namespace restride::scheduling
