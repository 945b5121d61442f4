// Plan::create: the only file that sees the whole road. It calls every arrow of the picture and
// does none of their work; running a plan is in execute.cpp.
#include "restride/plan.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "microkernel/formula.hpp"
#include "plan/compile.hpp"
#include "plan/kernel_cache_state.hpp"
#include "plan/kernel_variant.hpp"
#include "plan/measure.hpp"
#include "plan/plan_buffers.hpp"
#include "plan/plan_state.hpp"
#include "plan/planner.hpp"
#include "space/iteration_space.hpp"
#include "target/target.hpp"

namespace restride {
namespace {

bool empty(const ByteRange& range) { return range.begin == range.end; }

bool within(const ByteRange& inner, const ByteRange& outer) {
  return empty(inner) || (inner.begin >= outer.begin && inner.end <= outer.end);
}

Error unplannable(const std::string& what) {
  return Error{ErrorCode::unsupported, "program: " + what};
}

/// What kernels are made of.
struct Recipe {
  IterationSpace space;  ///< simplified
  std::string signature;
  Target target;
  BackendChoice choice;
};

/// IterationSpace -> Kernels. A space that touches nothing needs none.
Result<std::shared_ptr<KernelSet>> make_kernels(const Recipe& recipe, Patience patience,
                                                bool& postponed) {
  const auto& [space, signature, target, choice] = recipe;
  const auto start = std::chrono::steady_clock::now();
  std::vector<Program> programs;
  if (!empty(touched_bytes(space, 0))) {
    programs = plan_programs(space, target);
    if (programs.empty()) return unplannable("none was planned for " + signature);
  }
  Result<Compiled> compiled = compile(programs, target, choice, patience);
  if (!compiled) return compiled.error();
  postponed = compiled->postponed;

  auto kernels = std::make_shared<KernelSet>();
  kernels->signature = signature;
  kernels->target = target.name;
  kernels->backend = compiled->backend;
  kernels->computes_floats = computes_floats(space.op);
  for (size_t i = 0; i < programs.size(); ++i) {
    Result<KernelVariant> variant = make_variant(programs[i].operands, unit_count(programs[i]),
                                                 std::move(compiled->kernels[i]), *kernels);
    if (!variant) return variant.error();
    kernels->code_bytes += static_cast<int64_t>(variant->kernel.machine_code.size());
    kernels->variants.push_back(*std::move(variant));
  }
  if (!programs.empty() &&
      (kernels->variants.back().source_mask | kernels->variants.back().target_mask)) {
    return unplannable("the last one demands aligned pointers");
  }
  kernels->compile_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return kernels;
}

/// The fastest of what the target and its rivals give; that of the target where rivals fail.
Result<std::shared_ptr<KernelSet>> make_measured(const Recipe& recipe, const Plan::State& buffers,
                                                 double seconds) {
  bool postponed = false;
  std::vector<std::shared_ptr<KernelSet>> candidates;
  Result<std::shared_ptr<KernelSet>> first = make_kernels(recipe, Patience::for_best, postponed);
  if (!first || (*first)->variants.empty()) return first;
  candidates.push_back(*std::move(first));
  for (const Target& rival : rivals(recipe.space, recipe.target)) {
    Recipe other = recipe;
    other.target = rival;
    auto made = make_kernels(other, Patience::for_best, postponed);
    if (made && (*made)->backend == candidates.front()->backend) {
      candidates.push_back(*std::move(made));
    }
  }
  return candidates[fastest(candidates, buffers, seconds)];
}

/// What the backends that were not waited for make of the recipe.
std::shared_ptr<LaterKernels> make_later(const Recipe& recipe, const KernelSet& now,
                                         const std::string& key,
                                         const std::weak_ptr<KernelCache::State>& cache) {
  return std::make_shared<LaterKernels>([recipe, key, cache, backend = now.backend,
                                         ranges = std::pair(now.source_ranges, now.target_range)] {
    std::shared_ptr<const KernelSet> better;
    bool postponed = false;
    const auto made = make_kernels(recipe, Patience::for_best, postponed);
    const bool usable = made && (*made)->backend != backend &&
                        std::pair((*made)->source_ranges, (*made)->target_range) == ranges;
    if (!usable) return better;
    better = *made;
    if (const auto state = cache.lock()) state->add_code(key, better->code_bytes);
    return better;
  });
}

/// Hands the work to the background, which may outlive everything else.
void start(const Background& background, std::shared_ptr<LaterKernels> later) {
  const auto task = [](void* argument) {
    const std::unique_ptr<std::shared_ptr<LaterKernels>> work(
        static_cast<std::shared_ptr<LaterKernels>*>(argument));
    (*work)->finish();
  };
  background.run(background.context, task, new std::shared_ptr(std::move(later)));
}

/// A target that was named has to run on this machine.
Result<Target> usable_target(std::string_view name) {
  Result<Target> target = find_target(name);
  if (target && !runs_here(*target)) {
    return Error{
        ErrorCode::unsupported,
        "target " + target->name + " does not run on this machine (" + host_target().name + ")"};
  }
  return target;
}

/// The identity of an entry of the cache.
std::string cache_key(const Recipe& recipe, PlanEffort effort) {
  return recipe.signature + '\n' + recipe.target.name + '\n' +
         std::string(to_string(recipe.choice)) +
         (effort == PlanEffort::measure ? "\nmeasured" : "");
}

/// The last of the proofs: verify() has shown that the kernels stay within their operands; here the
/// operands stay within the buffers of this problem.
Result<void> check_bounds(const KernelSet& kernels, const Plan::State& plan) {
  bool inside = within(kernels.target_range, plan.target);
  for (size_t k = 0; k < max_sources; ++k) {
    inside = inside && within(kernels.source_ranges[k], plan.sources[k]);
  }
  if (inside) return {};
  return unplannable("reaches beyond the buffers of the problem: " + kernels.signature);
}

/// The whole road, for a problem that has not been seen before.
Result<std::shared_ptr<const Plan::State>> make_plan(
    const ProblemView& view, const std::shared_ptr<KernelCache::State>& cache,
    const Background& background, double measure_seconds) {
  const Problem& problem = view.problem;
  if (Result<void> valid = validate(problem); !valid) return valid.error();
  const Result<Target> target = usable_target(view.target);
  if (!target) return target.error();
  Result<IterationSpace> space = iteration_space(problem);
  if (!space) return space.error();
  simplify(*space);
  const Recipe recipe{*space, signature(*space), *target, view.backend};
  Result<Plan::State> described = describe_buffers(problem, space->op);
  if (!described) return described.error();
  const std::string key = cache_key(recipe, view.effort);
  std::shared_ptr<LaterKernels> later;
  const std::shared_ptr<KernelCache::State::Entry> entry = cache->find_or_make(key, [&] {
    if (view.effort == PlanEffort::measure) {
      auto made = make_measured(recipe, *described, measure_seconds);
      return made ? Outcome(*std::move(made)) : Outcome(made.error());
    }
    bool postponed = false;
    const Patience patience = background.run != nullptr ? Patience::for_none : Patience::for_best;
    Result<std::shared_ptr<KernelSet>> made = make_kernels(recipe, patience, postponed);
    if (!made) return Outcome(made.error());
    if (postponed) later = (*made)->later = make_later(recipe, **made, key, cache);
    return Outcome(std::shared_ptr<const KernelSet>(*std::move(made)));
  });
  if (!entry->outcome) return entry->outcome.error();

  described->kernels = *entry->outcome;
  auto plan = std::make_shared<Plan::State>(*std::move(described));
  if (Result<void> bound = check_bounds(*plan->kernels, *plan); !bound) return bound.error();
  cache->remember(entry, view, plan);
  if (later != nullptr) start(background, std::move(later));
  return std::shared_ptr<const Plan::State>(std::move(plan));
}

}  // namespace

Result<Plan> Plan::create(const Problem& problem, const PlanOptions& options) {
  const Result<BackendChoice> backend = effective_backend(options.backend);
  if (!backend) return backend.error();
  if (!(options.measure_seconds >= 0)) {
    return Error{
        ErrorCode::invalid_argument,
        "measure_seconds = " + std::to_string(options.measure_seconds) + ": must not be negative"};
  }
  const std::shared_ptr<KernelCache::State>& cache =
      (options.cache != nullptr ? *options.cache : KernelCache::process_wide()).state();
  const ProblemView view(problem, *backend, options.effort,
                         options.target.empty() ? "host" : options.target);
  std::shared_ptr<const State> plan = cache->find(view);
  if (plan == nullptr) {
    Result<std::shared_ptr<const State>> made =
        make_plan(view, cache, options.background, options.measure_seconds);
    if (!made) return made.error();
    plan = *std::move(made);
  }
  // Who lends no background gets the best kernels now.
  if (options.background.run == nullptr && plan->kernels->later) plan->kernels->later->finish();
  return Plan(std::move(plan));
}

int Plan::source_count() const { return state_->source_count; }

int64_t Plan::source_bytes(int source) const {
  if (source < 0 || source >= state_->source_count) return 0;
  const ByteRange& bytes = state_->sources[static_cast<size_t>(source)];
  return bytes.end - bytes.begin;
}

int64_t Plan::target_bytes() const { return state_->target.end - state_->target.begin; }
std::string_view Plan::signature() const { return state_->kernels->signature; }
std::string_view Plan::backend() const { return serving(*state_->kernels).backend; }
std::string_view Plan::target() const { return serving(*state_->kernels).target; }
int64_t Plan::code_bytes() const { return serving(*state_->kernels).code_bytes; }
double Plan::compile_seconds() const { return serving(*state_->kernels).compile_seconds; }

int64_t Plan::unit_count() const {
  const std::vector<KernelVariant>& variants = serving(*state_->kernels).variants;
  const auto on_lines =
      std::find_if(variants.begin(), variants.end(), [](const KernelVariant& variant) {
        return (variant.source_bits | variant.target_bits) == 0;
      });
  return on_lines == variants.end() ? 0 : on_lines->units;
}

}  // namespace restride
