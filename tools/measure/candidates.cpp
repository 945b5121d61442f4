#include "candidates.hpp"

#include <algorithm>
#include <utility>

#include "restride/explain.hpp"
#include "source_places.hpp"

namespace restride::tools {
namespace {

constexpr int cold_plans = 3;
/// Beyond this the interpreter, an operation at a time, would take up the whole contest.
constexpr int64_t interpreter_limit_bytes = 1 << 20;

CandidateResult refused(std::string name, Role role, const Error& error) {
  return {.name = std::move(name),
          .role = role,
          .status = Status::not_applicable,
          .reason = error.message};
}

/// The least of a few, each into a cache that is empty.
double cold_plan_seconds(const Problem& problem, PlanOptions options) {
  double least = 1e300;
  for (int i = 0; i < cold_plans; ++i) {
    KernelCache cache;
    options.cache = &cache;
    const double start = now().wall;
    const Result<Plan> plan = Plan::create(problem, options);
    least = std::min(least, now().wall - start);
  }
  return least;
}

double cache_hit_seconds(const Problem& problem, const PlanOptions& options) {
  const auto look_up = [&] {
    const Result<Plan> plan = Plan::create(problem, options);
    asm volatile("" : : "r"(&plan) : "memory");
  };
  return contest({look_up}, std::chrono::duration<double>(1e-3)).front().least;
}

void add_prices(CandidateResult& result, const Problem& problem, const PlanOptions& options) {
  result.prepare_seconds = cold_plan_seconds(problem, options);
  result.cache_hit_seconds = cache_hit_seconds(problem, options);
  const Result<Explanation> explanation = explain(problem, options);
  if (explanation) result.operations = explanation->operations;
}

Candidate our_candidate(const Problem& problem, const Plan& plan, Executor* executor) {
  Candidate candidate;
  candidate.result = {.name = "restride " + std::string(plan.backend()),
                      .role = Role::ours,
                      .code_bytes = plan.code_bytes()};
  const Result<std::vector<SourcePlace>> places = place_sources(problem);
  const int64_t second = places && places->size() > 1 ? places->back().begin : 0;
  const auto count = static_cast<size_t>(plan.source_count());
  candidate.move = [plan, executor, second, count](const std::byte* source, std::byte* target) {
    const void* const both[] = {source, source + second};
    const std::span<const void* const> sources(both, count);
    if (executor == nullptr) return plan.execute_sources(sources, target);
    plan.execute_sources(sources, target, *executor);
  };
  return candidate;
}

}  // namespace

std::vector<Candidate> our_candidates(const Problem& problem, const RunSettings& settings,
                                      Executor* executor) {
  std::vector<Candidate> candidates;
  Error failure{};
  for (const BackendChoice backend : settings.backends) {
    const PlanOptions options = {.backend = backend, .target = settings.target};
    const Result<Plan> plan = Plan::create(problem, options);
    if (!plan) {
      failure = plan.error();
      continue;
    }
    const bool too_slow =
        plan->backend() == "interpreter" && plan->target_bytes() > interpreter_limit_bytes / 2;
    if (too_slow && !candidates.empty()) continue;
    candidates.push_back(our_candidate(problem, *plan, executor));
    if (settings.prices == RunSettings::Prices::measured)
      add_prices(candidates.back().result, problem, options);
  }
  if (candidates.empty()) candidates.push_back({refused("restride", Role::ours, failure), {}});
  return candidates;
}

std::vector<Candidate> peer_candidates(const Result<bench::Work>& work,
                                       const RunSettings& settings) {
  std::vector<Candidate> candidates;
  for (const bench::Peer* peer : settings.peers) {
    if (!work) {
      candidates.push_back({refused(peer->name, Role::peer, work.error()), {}});
      continue;
    }
    const double start = now().wall;
    Result<bench::Move> move = peer->prepare(*work);
    const double seconds = now().wall - start;
    if (!move) {
      candidates.push_back({refused(peer->name, Role::peer, move.error()), {}});
      continue;
    }
    candidates.push_back(
        {{.name = peer->name, .role = Role::peer, .prepare_seconds = seconds}, *std::move(move)});
  }
  return candidates;
}

}  // namespace restride::tools
