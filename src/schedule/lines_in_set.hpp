// Which lines of a walk meet in one set of L1.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/page_walks.hpp"
#include "target/target.hpp"

namespace restride::scheduling {

/// A way of L1 is as large as a page: its sets are chosen before addresses are translated.
constexpr int64_t l1_ways(const Target& target) { return target.l1_bytes / target.page_bytes; }

/// The most lines in one set, of `touched_bytes` bytes at each step of walks; no more are counted
/// than twice as many as a set holds, and one.
int64_t lines_in_set(const Target& target, std::vector<Walk> walks, int64_t touched_bytes);
int64_t lines_in_set(const Target& target, int64_t stride, int64_t count, int64_t touched_bytes);

}  // namespace restride::scheduling
