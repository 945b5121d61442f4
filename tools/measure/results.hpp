// What a run of benchmarks found out, and the arithmetic on it. Plain data; how it is measured is
// the business of case_run, how it is written of results_json and the command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "peer.hpp"
#include "stopwatch.hpp"
#include "traffic.hpp"

namespace restride::tools {

enum class Role { ours, reference, peer };
enum class Status {
  timed,
  wrong,          ///< gave other bytes than the specification says: not timed
  not_applicable  ///< does not do this problem
};

std::string_view to_string(Role role);
std::string_view to_string(Status status);

struct CandidateResult {
  std::string name;
  Role role = Role::peer;
  Status status = Status::timed;
  std::string reason = {};       ///< why it was not timed
  Timing timing = {};            ///< where it was timed
  double prepare_seconds = 0;    ///< planning and compiling, once a problem
  double cache_hit_seconds = 0;  ///< ours: making the same plan again
  int64_t code_bytes = 0;        ///< ours: generated code
  int64_t operations = 0;        ///< ours: in the text of the Program
};

struct CaseResult {
  std::string name;
  std::string problem;
  Traffic traffic;
  std::optional<bench::Work> work;  ///< none where the problem is not plain loops
  std::vector<CandidateResult> candidates;
};

struct SuiteResult {
  std::string name;
  std::string about;
  std::vector<CaseResult> cases;
};

/// The fastest candidate of a role that was timed; null if none was.
const CandidateResult* fastest(const CaseResult& result, Role role);
/// The reference of the C library: memcpy, or memset where the problem mostly writes.
const CandidateResult* library_reference(const CaseResult& result);

/// `reference` time divided by `candidate` time: 1 is as fast. 0 where either was not timed.
double share(const CandidateResult* reference, const CandidateResult* candidate);

/// 0 for none. Precondition: all are positive.
double geometric_mean(const std::vector<double>& values);

/// One suite in figures: ours against the fastest reference. Cases where ours was not timed do not
/// count.
struct Summary {
  int64_t cases = 0, timed = 0, wrong = 0;
  double mean_of_ceiling = 0, mean_of_library = 0;  ///< geometric
  double best_peer_mean_of_ceiling = 0;             ///< where a peer was timed
  double least_of_ceiling = 0;
  std::string least_case;
  std::vector<std::string> lost_cases;  ///< where a peer is faster, `name (peer, by 1.20)`
};
Summary summarize(const SuiteResult& suite);

}  // namespace restride::tools
