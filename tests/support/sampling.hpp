// Which cases a backend takes part in. LLVM needs milliseconds a kernel, where others need
// microseconds: of the large families of cases it gets some, spread evenly.
#pragma once

#include <cstdint>

#include "backend/backend.hpp"

namespace restride::testing {

/// Whether the case of that number is for this backend. Of `usual` cases in a row LLVM gets one, of
/// RESTRIDE_TEST_LLVM_EVERY if that is set: 1 is all.
bool takes_part(const Backend& backend, int64_t number, int64_t usual);

}  // namespace restride::testing
