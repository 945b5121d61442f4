// How many bytes a problem has to move, and what that gives in figures.
#pragma once

#include <cstdint>

#include "restride/problem.hpp"

namespace restride::tools {

/// Bytes read and bytes written, each byte once: what a machine of infinite cache would move.
struct Traffic {
  int64_t read_bytes = 0;     ///< the logical elements of the sources
  int64_t written_bytes = 0;  ///< the target's buffer, padding included

  int64_t total() const { return read_bytes + written_bytes; }
};

/// `target_bytes`: of the whole buffer, as a plan says.
Traffic traffic_of(const Problem& problem, int64_t target_bytes);

/// 10^9 bytes a second; 0 where nothing was moved.
double gigabytes_per_second(int64_t bytes, double seconds);

}  // namespace restride::tools
