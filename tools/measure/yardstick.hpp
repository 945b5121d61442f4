// Plain copies and fills that move what a problem moves: the ceilings of a case.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "restride/executor.hpp"
#include "restride/problem.hpp"
#include "traffic.hpp"

namespace restride::tools {

struct Ceiling {
  std::string name;
  std::function<void(const std::byte* source, std::byte* target)> run;
};

struct Yardstick {
  std::vector<Ceiling> ceilings;  ///< the C library's first
  int64_t source_bytes = 0;       ///< what they read of the source's buffer
  int64_t target_bytes = 0;       ///< what they write of the target's
};

/// A copy that mostly writes (a broadcast) is held against fills of the target. Anything else
/// against copies: what is read and written alike is copied; what is written besides (padding,
/// wider elements) is filled; where more is read than written, half of both is copied. With an
/// executor each of its threads does its part; it must outlive the result.
Yardstick make_yardstick(const Problem& problem, const Traffic& traffic, Executor* executor);

}  // namespace restride::tools
