// What an affine conversion demands of its numbers.
#pragma once

#include "restride/problem.hpp"

namespace restride {

/// Preconditions: the shapes are valid, the number of sources is right.
Result<void> check_affine(const Problem& problem);

/// `0.017`: the shortest text that reads as the same number.
std::string number_text(double number);

}  // namespace restride
