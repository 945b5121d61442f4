// Which lines of the target a transpose through the caches asks for before it writes them.
#pragma once

#include <cstdint>

#include "schedule/draft.hpp"

namespace restride::scheduling {

/// Where rows of the target begin.
enum class Rows : uint8_t { begin_lines, between_lines };

/// Whether what goes through the caches asks for lines of the target: of more than L1 holds.
bool claims_lines(const Draft& draft);

/// How far ahead a transpose through the caches asks for lines of its target, bytes; 0: it does
/// not. `column`: bytes of the source that blocks are long.
int64_t claimed_ahead(const Draft& draft, int64_t column, Rows rows);

}  // namespace restride::scheduling
