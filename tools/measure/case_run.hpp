// One case of a benchmark: ours, plain copies and peers on the same two buffers, checked and then
// timed in one contest.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "memory.hpp"
#include "restride/plan.hpp"
#include "results.hpp"
#include "suite.hpp"

namespace restride::tools {

struct RunSettings {
  std::chrono::duration<double> budget{1.0};  ///< for the contest of one case
  int threads = 1;
  Pages pages = Pages::unspecified;
  int64_t offset = 0;  ///< bytes from the begin of a page to where source and target begin
  /// Those of ours to time; what a backend refuses is left out if another one does it.
  std::vector<BackendChoice> backends = {BackendChoice::automatic};
  std::string target = "host";  ///< what ours are planned for, as in PlanOptions
  /// Of our plans, made and found again: 0 in the results where left out.
  enum class Prices { measured, left_out } prices = Prices::measured;
  std::vector<const bench::Peer*> peers;
};

/// One who may be timed.
struct Call {
  size_t candidate;  ///< its place among the results
  std::function<void()> run;
};

/// A case with everything checked and nothing timed.
struct PreparedCase {
  CaseResult result;
  std::vector<Call> calls;                ///< ours, peers and references, all on the same buffers
  std::shared_ptr<const void> resources;  ///< what the calls use
};

/// What a candidate cannot do or does wrong is its result, not an error. Errors: the buffers do not
/// fit the memory; nothing is moved; byte strides.
Result<PreparedCase> prepare_case(const Case& measured, const RunSettings& settings);

/// The same, and one contest.
Result<CaseResult> run_case(const Case& measured, const RunSettings& settings);

}  // namespace restride::tools
