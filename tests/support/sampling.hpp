// Which cases are run, where all would take too long. LLVM needs milliseconds a kernel, where
// others need microseconds: of the large families of cases it gets some, spread evenly. Under a
// sanitizer or an emulator all backends get a share of the rows of exhaustive families.
#pragma once

#include <cstdint>
#include <string_view>

#include "backend/backend.hpp"

namespace restride::testing {

/// Whether the case of that number is for this backend. Of `usual` cases in a row LLVM gets one, of
/// RESTRIDE_TEST_LLVM_EVERY if that is set: 1 is all.
bool takes_part(const Backend& backend, int64_t number, int64_t usual);

/// Whether the row of a large family, known by its text, is run: all are, and one of
/// RESTRIDE_TEST_EVERY, the same in each run, if that is set.
bool in_sample(std::string_view row);

}  // namespace restride::testing
