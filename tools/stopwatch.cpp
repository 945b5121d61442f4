#include "stopwatch.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>
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

/// The least of many samples. The processor clock leaves out what other programs took, but now and
/// then it loses part of a sample, and a minimum would pick just those: a sample counts only where
/// both clocks agree.
class Best {
 public:
  void add(const Instant& sample) {
    wall_ = std::min(wall_, sample.wall);
    const bool agree = std::abs(sample.processor - sample.wall) <= 0.05 * sample.wall;
    if (agree) agreed_ = std::min(agreed_, sample.processor);
  }

  /// The wall clock's, which only ever reports too much, where no sample agreed.
  double seconds() const { return agreed_ < never ? agreed_ : wall_; }

 private:
  static constexpr double never = 1e300;
  double wall_ = never, agreed_ = never;
};

}  // namespace

Instant now() { return {read_clock(CLOCK_THREAD_CPUTIME_ID), read_clock(CLOCK_MONOTONIC)}; }

std::vector<double> contest(const std::vector<std::function<void()>>& candidates,
                            std::chrono::duration<double> budget) {
  std::vector<int64_t> repetitions;
  for (const auto& candidate : candidates) repetitions.push_back(repetitions_of(candidate));
  std::vector<Best> best(candidates.size());
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937 random(1);
  const double start = now().wall;
  for (int round = 0; round < most_rounds; ++round) {
    if (round >= fewest_rounds && now().wall - start > budget.count()) break;
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t i : order) {
      best[i].add(time_calls(candidates[i], repetitions[i]));
    }
  }
  std::vector<double> seconds;
  for (const Best& least : best) seconds.push_back(least.seconds());
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
