// Where the sources of a measured problem lie: one behind the other in one block of memory, each
// at the beginning of a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "restride/problem.hpp"

namespace restride::tools {

/// Bytes [begin, end) of the block.
struct SourcePlace {
  int64_t begin = 0, end = 0;
};

/// Precondition: no byte strides. Errors: those of a shape too big to have a buffer.
Result<std::vector<SourcePlace>> place_sources(const Problem& problem);

/// The sources within the block.
std::vector<std::span<const std::byte>> sources_in(std::span<const std::byte> block,
                                                   const std::vector<SourcePlace>& places);

}  // namespace restride::tools
