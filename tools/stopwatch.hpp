// Times candidates against each other on one thread: shuffled order every round, minimum of many.
//
// Only ratios within one contest mean anything: machines drift, and in a fixed order whoever
// follows a regular copy pays for its dirty lines.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

namespace restride::tools {

/// Seconds of processor time that this thread has used, and of the wall clock.
struct Instant {
  double processor = 0;
  double wall = 0;
};
Instant now();

/// Seconds per call of each candidate, in their order: the least that any round saw. Every
/// candidate runs in every round, and in at least three rounds; beyond that the contest ends when
/// `budget` is spent. Short calls are repeated
/// within a round until the clock can see them. The processor clock of the thread counts, in
/// samples where the wall clock agrees with it; it sometimes reports too little.
std::vector<double> contest(const std::vector<std::function<void()>>& candidates,
                            std::chrono::duration<double> budget);

/// Wall seconds of one call: the median of a few, at most `budget` in all after the first three.
double median_wall_seconds(const std::function<void()>& call, std::chrono::duration<double> budget);

}  // namespace restride::tools
