#include "results.hpp"

#include <cmath>
#include <cstdio>
#include <numeric>

namespace restride::tools {
namespace {

/// Timings closer than this are no difference: repeated runs of one case on an idle machine agree
/// about as well.
constexpr double noticeable = 1.03;

std::string lost_case(const CaseResult& result, const CandidateResult& peer, double factor) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", factor);
  return result.name + " (" + peer.name + ", by " + text + ")";
}

}  // namespace

std::string_view to_string(Role role) {
  constexpr std::string_view names[] = {"ours", "reference", "peer"};
  return names[static_cast<int>(role)];
}

std::string_view to_string(Status status) {
  constexpr std::string_view names[] = {"timed", "wrong", "not applicable"};
  return names[static_cast<int>(status)];
}

const CandidateResult* fastest(const CaseResult& result, Role role) {
  const CandidateResult* best = nullptr;
  for (const CandidateResult& candidate : result.candidates) {
    if (candidate.role != role || candidate.status != Status::timed) continue;
    if (best == nullptr || candidate.timing.least < best->timing.least) best = &candidate;
  }
  return best;
}

const CandidateResult* library_reference(const CaseResult& result) {
  for (const CandidateResult& candidate : result.candidates)
    if (candidate.role == Role::reference) return &candidate;
  return nullptr;
}

double share(const CandidateResult* reference, const CandidateResult* candidate) {
  for (const CandidateResult* each : {reference, candidate})
    if (each == nullptr || each->status != Status::timed) return 0;
  return reference->timing.least / candidate->timing.least;
}

double geometric_mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

Summary summarize(const SuiteResult& suite) {
  Summary summary = {.cases = std::ssize(suite.cases)};
  std::vector<double> of_ceiling, of_library, best_peers;
  for (const CaseResult& result : suite.cases) {
    for (const CandidateResult& candidate : result.candidates)
      summary.wrong += candidate.status == Status::wrong;
    const CandidateResult* ours = fastest(result, Role::ours);
    const CandidateResult* ceiling = fastest(result, Role::reference);
    const CandidateResult* peer = fastest(result, Role::peer);
    if (peer != nullptr) best_peers.push_back(share(ceiling, peer));
    if (ours == nullptr) continue;
    ++summary.timed;
    of_ceiling.push_back(share(ceiling, ours));
    of_library.push_back(share(library_reference(result), ours));
    if (summary.least_case.empty() || of_ceiling.back() < summary.least_of_ceiling) {
      summary.least_of_ceiling = of_ceiling.back();
      summary.least_case = result.name;
    }
    if (const double factor = share(ours, peer); factor > noticeable)
      summary.lost_cases.push_back(lost_case(result, *peer, factor));
  }
  summary.mean_of_ceiling = geometric_mean(of_ceiling);
  summary.mean_of_library = geometric_mean(of_library);
  summary.best_peer_mean_of_ceiling = geometric_mean(best_peers);
  return summary;
}

}  // namespace restride::tools
