// A case through the public face, by every way that Plan offers.
#include "support/run_case.hpp"

#include <utility>

#include "support/random.hpp"
#include "support/run_buffers.hpp"

namespace restride::testing {
namespace {

/// Runs the tasks one after another in random order, and says it has a random number of threads.
class ShuffledExecutor : public Executor {
 public:
  explicit ShuffledExecutor(uint64_t seed)
      : random_(seed), concurrency_(static_cast<int>(random_.between(1, 7))) {}

  int concurrency() const noexcept override { return concurrency_; }
  void parallel_for(int64_t n, Task task, void* context) noexcept override {
    std::vector<int64_t> order(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) order[static_cast<size_t>(i)] = i;
    random_.shuffle(order);
    for (const int64_t index : order) task(context, index);
  }

 private:
  Random random_;
  int concurrency_;
};

std::string reproducer(const PreparedCase& prepared, BackendChoice backend,
                       std::string_view target) {
  return to_string(prepared.problem()) + " | backend " + std::string(to_string(backend)) +
         " | target " + std::string(target) + " | seed " + std::to_string(prepared.seed());
}

/// What plan.execute does wrong in one setting; nothing where all is right.
std::optional<std::string> execute_everywhere(const Plan& plan, const PreparedCase& prepared,
                                              const Setting& setting) {
  RunBuffers buffers(prepared, setting);
  const std::vector<const void*> sources = buffers.sources();
  plan.execute_sources(sources, buffers.target());
  if (auto wrong = buffers.difference()) return "execute: " + *wrong;
  buffers.reset();
  ShuffledExecutor executor(setting.poison_seed);
  plan.execute_sources(sources, buffers.target(), executor);
  if (auto wrong = buffers.difference()) {
    return "executor of " + std::to_string(executor.concurrency()) + ": " + *wrong;
  }
  buffers.reset();
  const Result<void> checked = plan.execute_sources(buffers.source_bytes(), buffers.target_bytes());
  if (!checked) return "execute with sizes: " + checked.error().message;
  if (auto wrong = buffers.difference()) return "execute with sizes: " + *wrong;
  return {};
}

template <class Float>
std::vector<std::byte> as_bytes(const std::vector<double>& numbers) {
  const std::vector<Float> values(numbers.begin(), numbers.end());
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// Numbers in the type that an affine conversion computes in.
std::vector<std::byte> as_factors(const std::vector<double>& numbers, const Problem& problem) {
  const bool wide = problem.sources[0].shape.element_type == ElementType::f64 ||
                    problem.target.element_type == ElementType::f64;
  return wide ? as_bytes<double>(numbers) : as_bytes<float>(numbers);
}

}  // namespace

PreparedCase::PreparedCase(Problem problem, uint64_t seed)
    : problem_(std::move(problem)), seed_(seed), target_extent_(testing::target_extent(problem_)) {
  Random random(seed);
  std::vector<std::span<const std::byte>> spans;
  for (size_t k = 0; k < problem_.sources.size(); ++k) {
    source_extents_.push_back(testing::source_extent(problem_, static_cast<int>(k)));
    sources_.emplace_back(static_cast<size_t>(source_extents_.back().bytes()));
    random.fill(sources_.back());
  }
  spans.assign(sources_.begin(), sources_.end());
  expectation_ = expect(problem_, spans);
  const Affine& affine = problem_.affine;
  for (const std::vector<double>* numbers : {&affine.scale, &affine.zero_point, &affine.bias}) {
    if (!numbers->empty()) factors_.push_back(as_factors(*numbers, problem_));
  }
}

Report run_plan(const PreparedCase& prepared, BackendChoice backend, std::string_view target,
                PlanEffort effort) {
  const std::string who = reproducer(prepared, backend, target);
  KernelCache cache;
  const Result<Plan> plan = Plan::create(prepared.problem(), {.backend = backend,
                                                              .target = target,
                                                              .cache = &cache,
                                                              .effort = effort,
                                                              .measure_seconds = 0.02});
  if (!plan) {
    const bool refused = plan.error().code == ErrorCode::unsupported;
    return {refused ? Outcome::unsupported : Outcome::failed, who + " | " + plan.error().message};
  }
  Setting aligned;
  aligned.source_alignment = aligned.target_alignment = 64;
  aligned.poison_seed = prepared.seed();
  Random random(prepared.seed() + 1);
  Setting misaligned = aligned;
  misaligned.source_misalignment = random.between(1, 63);
  misaligned.target_misalignment = random.between(0, 63);
  Setting exact;
  exact.poison_seed = prepared.seed() + 2;
  std::vector<Setting> settings = both_ends(exact);
  settings.push_back(aligned);
  settings.push_back(misaligned);
  for (const Setting& setting : settings) {
    if (auto wrong = execute_everywhere(*plan, prepared, setting)) {
      return {Outcome::failed, who + " | " + *wrong};
    }
  }
  return {};
}

}  // namespace restride::testing
