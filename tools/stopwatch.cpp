#include "stopwatch.hpp"

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>

namespace restride::tools {
namespace {

constexpr double shortest_round = 50e-6;  // seconds; a thousand times what reading the clock costs
constexpr int fewest_rounds = 3;
constexpr int most_rounds = 1000;

double read_clock(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Instant time_calls(const std::function<void()>& call, int64_t repetitions) {
  const Instant start = now();
  for (int64_t i = 0; i < repetitions; ++i) call();
  const Instant stop = now();
  const auto count = static_cast<double>(repetitions);
  return {(stop.processor - start.processor) / count, (stop.wall - start.wall) / count};
}

/// How many calls fill a round. The first call warms up and is not counted.
int64_t repetitions_of(const std::function<void()>& call) {
  call();
  int64_t repetitions = 1;
  while (time_calls(call, repetitions).wall * static_cast<double>(repetitions) < shortest_round)
    repetitions *= 2;
  return repetitions;
}

}  // namespace

Instant now() { return {read_clock(CLOCK_THREAD_CPUTIME_ID), read_clock(CLOCK_MONOTONIC)}; }

std::vector<double> contest(const std::vector<std::function<void()>>& candidates,
                            std::chrono::duration<double> budget) {
  std::vector<int64_t> repetitions;
  for (const auto& candidate : candidates) repetitions.push_back(repetitions_of(candidate));
  constexpr double never = 1e300;
  std::vector<Instant> best(candidates.size(), {never, never});
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937 random(1);
  const double start = now().wall;
  for (int round = 0; round < most_rounds; ++round) {
    if (round >= fewest_rounds && now().wall - start > budget.count()) break;
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t i : order) {
      const Instant time = time_calls(candidates[i], repetitions[i]);
      best[i].processor = std::min(best[i].processor, time.processor);
      best[i].wall = std::min(best[i].wall, time.wall);
    }
  }
  std::vector<double> seconds;
  for (const Instant& time : best) {
    seconds.push_back(time.processor < 0.5 * time.wall ? time.wall : time.processor);
  }
  return seconds;
}

double median_wall_seconds(const std::function<void()>& call,
                           std::chrono::duration<double> budget) {
  const int64_t repetitions = repetitions_of(call);
  std::vector<double> seconds;
  const double start = now().wall;
  while (std::ssize(seconds) < fewest_rounds ||
         (std::ssize(seconds) < 31 && now().wall - start < budget.count())) {
    seconds.push_back(time_calls(call, repetitions).wall);
  }
  std::nth_element(seconds.begin(), seconds.begin() + std::ssize(seconds) / 2, seconds.end());
  return seconds[seconds.size() / 2];
}

}  // namespace restride::tools
