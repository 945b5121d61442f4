// Who takes part in a case: our plans by backend and the peers, each ready to run.
#pragma once

#include <memory>
#include <vector>

#include "case_run.hpp"
#include "restride/executor.hpp"

namespace restride::tools {

/// One who takes part. `move` is empty for those that do not apply.
struct Candidate {
  CandidateResult result;
  bench::Move move;
};

/// Our plans. Each was planned and compiled several times into an empty cache for its price, and
/// looked up many times. Where no backend does the problem there is one result that says why.
/// `executor` may be null and must outlive the candidates.
std::vector<Candidate> our_candidates(const Problem& problem, const RunSettings& settings,
                                      Executor* executor);

/// The peers of the settings. `work`: none where the problem has no such form.
std::vector<Candidate> peer_candidates(const Result<bench::Work>& work,
                                       const RunSettings& settings);

}  // namespace restride::tools
