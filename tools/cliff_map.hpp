// The cliff map: permutations over a grid of extents and element widths, to see where speed falls.
#pragma once

#include "commands.hpp"
#include "suite.hpp"

namespace restride::tools {

/// Cases named `ORDER_WIDTHxROWSxCOLUMNS`, as in `p10_4x63x1025`: the two varied extents are the
/// last dimensions of the source; the one before them is fixed. Rank 3, and `quick` throughout,
/// has a coarser grid.
Suite cliff_map_suite(BenchRequest::Length length);

}  // namespace restride::tools
