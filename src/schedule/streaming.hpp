// Whether arrays go through the caches or around them: how much of source and target together the
// caches keep well, by what their lines and rows do there.
#pragma once

#include "schedule/draft.hpp"

namespace restride::scheduling {

/// Whether much more is written than is read.
bool fills(const Draft& draft);

/// Whether the arrays are too large to stay in the caches anyway.
bool streams(const Draft& draft);

}  // namespace restride::scheduling
