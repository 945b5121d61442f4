#include "stopwatch.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace restride::tools {
namespace {

constexpr double shortest_round = 50e-6;  // seconds; a thousand times what reading the clock costs
constexpr int fewest_rounds = 3, usual_rounds = 7;
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

/// How many calls fill a round, and how long one takes. The first call warms up.
struct Round {
  int64_t repetitions = 1;
  double call_seconds = 0;
  Instant first;  ///< the first call
};

Round measure_round(const std::function<void()>& call) {
  Round round = {.first = time_calls(call, 1)};
  round.call_seconds = round.first.wall;
  // A first call as long as this was no matter of cold caches.
  if (round.call_seconds > 20 * shortest_round) return round;
  while (true) {
    round.call_seconds = time_calls(call, round.repetitions).wall;
    if (round.call_seconds * static_cast<double>(round.repetitions) >= shortest_round) return round;
    round.repetitions *= 2;
  }
}

/// The samples of one candidate.
class Samples {
 public:
  explicit Samples(Clock clock) : clock_(clock) {}

  void add(const Instant& sample) {
    wall_.push_back(sample.wall);
    const bool agree = std::abs(sample.processor - sample.wall) <= 0.05 * sample.wall;
    if (clock_ == Clock::processor && agree) agreed_.push_back(sample.processor);
  }

  int64_t count() const { return std::ssize(wall_); }

  /// The processor clock leaves out what other programs took, but now and then it loses part of a
  /// sample, and a minimum would pick just those: a sample counts only where both clocks agree.
  /// The wall clock, which only ever reports too much, counts where none does.
  Timing timing() {
    std::vector<double>& samples = agreed_.empty() ? wall_ : agreed_;
    std::sort(samples.begin(), samples.end());
    return {samples.front(), samples[samples.size() / 2], static_cast<int>(wall_.size())};
  }

 private:
  Clock clock_;
  std::vector<double> wall_, agreed_;
};

/// A candidate in a contest.
struct Runner {
  Round round;
  Samples samples;
  double spent_seconds = 0;

  /// The slow get by with few samples, so that one of them cannot take all the time there is.
  bool has_enough(double budget) const {
    if (round.call_seconds > budget) return samples.count() >= 1;
    return samples.count() >= (round.call_seconds > budget / 20 ? fewest_rounds : usual_rounds);
  }
};

}  // namespace

Instant now() { return {read_clock(CLOCK_THREAD_CPUTIME_ID), read_clock(CLOCK_MONOTONIC)}; }

std::vector<Timing> contest(const std::vector<std::function<void()>>& candidates,
                            std::chrono::duration<double> budget, Clock clock) {
  std::vector<Runner> runners;
  for (const auto& candidate : candidates) {
    Runner runner = {measure_round(candidate), Samples(clock)};
    // Caches do not matter to a call as long as that: it need not run again.
    if (runner.round.call_seconds > budget.count()) runner.samples.add(runner.round.first);
    runners.push_back(std::move(runner));
  }
  const double share = budget.count() / static_cast<double>(std::max<size_t>(1, runners.size()));
  std::vector<size_t> order(candidates.size());
  std::mt19937 random(1);
  const double start = now().wall;
  for (int round = 0; round < most_rounds; ++round) {
    const bool time_left = now().wall - start < budget.count();
    order.clear();
    for (size_t i = 0; i < runners.size(); ++i) {
      const bool enough = runners[i].has_enough(budget.count());
      if (!enough || (time_left && runners[i].spent_seconds < 2 * share)) order.push_back(i);
    }
    if (order.empty()) break;
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t i : order) {
      Runner& runner = runners[i];
      const Instant sample = time_calls(candidates[i], runner.round.repetitions);
      runner.samples.add(sample);
      runner.spent_seconds += sample.wall * static_cast<double>(runner.round.repetitions);
    }
  }
  std::vector<Timing> timings;
  for (Runner& runner : runners) timings.push_back(runner.samples.timing());
  return timings;
}

double median_wall_seconds(const std::function<void()>& call,
                           std::chrono::duration<double> budget) {
  const int64_t repetitions = measure_round(call).repetitions;
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
