// Times candidates against each other: shuffled order every round, minimum of many.
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

/// What a contest found out about one candidate, in seconds a call.
struct Timing {
  double least = 0;
  double median = 0;
  int rounds = 0;  ///< samples taken
};

/// One thread: the processor clock of the thread counts, in samples where the wall clock agrees
/// with it (it sometimes reports too little). Several: the wall clock.
enum class Clock { processor, wall };

/// Timings of the candidates, in their order. Every candidate runs at least seven times, but one
/// whose single call takes a twentieth of the budget three times, and one that takes all of it
/// once; beyond that the contest ends when `budget` is spent, and a candidate that has had twice
/// its share of it sits out. Short calls are repeated within a round until the clock can see them.
std::vector<Timing> contest(const std::vector<std::function<void()>>& candidates,
                            std::chrono::duration<double> budget, Clock clock = Clock::processor);

/// Wall seconds of one call: the median of a few, at most `budget` in all after the first three.
double median_wall_seconds(const std::function<void()>& call, std::chrono::duration<double> budget);

}  // namespace restride::tools
