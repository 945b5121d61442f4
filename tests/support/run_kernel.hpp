// Runs a ProgramCase on a backend: its units in any order, between guard pages.
#pragma once

#include <gtest/gtest.h>

#include "backend/backend.hpp"
#include "support/program_cases.hpp"

namespace restride::testing {

/// Compiles and runs; a failure tells what is wrong with which case. Precondition: the program
/// verifies.
::testing::AssertionResult writes_what_it_must(const ProgramCase& test, const Backend& backend,
                                               const Target& target);

}  // namespace restride::testing
