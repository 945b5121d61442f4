// Counts the allocations of a thread, to show that there are none.
#pragma once

#include <cstdint>

namespace restride::testing {

/// Calls of malloc and its kin that the calling thread has made so far, operator new included.
int64_t allocations();

}  // namespace restride::testing
