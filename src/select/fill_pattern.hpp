// What padding is filled with.
#pragma once

#include <cstdint>
#include <vector>

#include "loop_nest/schedule.hpp"

namespace restride {

/// The padding element of a schedule, repeated over a vector; packed, where bytes are filled.
std::vector<uint8_t> fill_pattern(const Schedule& schedule);

}  // namespace restride
