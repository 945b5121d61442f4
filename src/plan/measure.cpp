// See measure.hpp.
#include "plan/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

namespace restride {
namespace {

using Clock = std::chrono::steady_clock;

// Enough calls for the clock to tell, enough rounds for a quiet one to be among them.
constexpr double shortest_sample_seconds = 20e-6;
constexpr int most_calls = 1 << 16;
constexpr int most_rounds = 20, fewest_rounds = 2;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Memory as a problem sees it: index 0 lies `-range.begin` bytes in. Zeroed, and so in place.
class Scratch {
 public:
  explicit Scratch(const ByteRange& range) : begin_(range.begin) {
    constexpr size_t page = 4096;
    const size_t bytes = (static_cast<size_t>(range.end - range.begin) + page) / page * page;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(page, bytes)));
    if (memory_ != nullptr) std::memset(memory_.get(), 0, bytes);
  }

  bool exists() const { return memory_ != nullptr; }
  std::byte* pointer() const { return memory_.get() - begin_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  int64_t begin_;
  std::unique_ptr<std::byte, Free> memory_;
};

/// One candidate and its least time for a call.
struct Runner {
  Plan::State plan;
  int calls = 1;
  double seconds = std::numeric_limits<double>::infinity();

  double sample(std::span<const void* const> sources, void* target) const {
    const Clock::time_point start = Clock::now();
    for (int call = 0; call < calls; ++call) run_plan(plan, sources, target);
    return seconds_since(start);
  }
};

}  // namespace

size_t fastest(std::span<const std::shared_ptr<KernelSet>> candidates, const Plan::State& plan,
               double seconds) {
  const Clock::time_point start = Clock::now();
  const Scratch target(plan.target);
  std::vector<Scratch> scratches;
  std::vector<const void*> sources;
  bool memory = target.exists();
  for (int k = 0; k < plan.source_count && memory; ++k) {
    scratches.emplace_back(plan.sources[static_cast<size_t>(k)]);
    memory = scratches.back().exists();
    sources.push_back(scratches.back().pointer());
  }
  if (!memory) return 0;

  std::vector<Runner> runners;
  for (const std::shared_ptr<KernelSet>& kernels : candidates) {
    runners.push_back({plan});
    runners.back().plan.kernels = kernels;
  }
  for (int round = 0; round < most_rounds; ++round) {
    for (Runner& runner : runners) {
      if (seconds_since(start) > seconds) {
        if (round < fewest_rounds) return 0;
        break;
      }
      double sample = runner.sample(sources, target.pointer());
      // The first round warms up, and finds out how often to call.
      while (round == 0 && sample < shortest_sample_seconds && runner.calls < most_calls) {
        runner.calls *= 2;
        sample = runner.sample(sources, target.pointer());
      }
      if (round > 0) runner.seconds = std::min(runner.seconds, sample / runner.calls);
    }
  }
  const auto best =
      std::min_element(runners.begin(), runners.end(),
                       [](const Runner& a, const Runner& b) { return a.seconds < b.seconds; });
  return static_cast<size_t>(best - runners.begin());
}

}  // namespace restride
