// Problem -> Work: the form of a problem that peers get.
#pragma once

#include "peer.hpp"
#include "restride/problem.hpp"

namespace restride::tools {

/// Errors: `unsupported` for what is not plain loops over plain elements: arithmetic, and layouts
/// with fill or with partial tiles.
Result<bench::Work> make_work(const Problem& problem, int threads);

}  // namespace restride::tools
