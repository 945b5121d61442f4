// What the processor this runs on is good at: its caches, as it gives them, and thresholds measured
// on those of its maker. Each names its measurement.
#pragma once

#include "target/target.hpp"

namespace restride {

/// Fields that it does not tell keep their defaults.
Make read_make();

}  // namespace restride
