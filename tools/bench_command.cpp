// restride bench: which cases, in which form the results go out. The measuring is in measure/.
#include <unistd.h>

#include <cstdio>

#include "atomic_file.hpp"
#include "bench_table.hpp"
#include "case_run.hpp"
#include "cliff_map.hpp"
#include "commands.hpp"
#include "peers.hpp"
#include "results_text.hpp"

namespace restride::tools {
namespace {

constexpr double quick_part = 0.2;
/// A case of a cliff map gets this part of the time of a case: there are ten thousands of them.
constexpr double cliff_map_parts = 200;

/// A line on the terminal that the next one overwrites. Nothing where stderr is no terminal.
class Progress {
 public:
  void show(const std::string& suite, size_t done, size_t cases, const std::string& name) const {
    if (shown_) {
      std::fprintf(stderr, "\r\x1b[K%s %zu/%zu %s", suite.c_str(), done + 1, cases, name.c_str());
    }
  }
  void clear() const {
    if (shown_) std::fprintf(stderr, "\r\x1b[K");
  }

 private:
  bool shown_ = isatty(STDERR_FILENO) == 1;
};

/// Problems of the command line are a suite too.
Result<Suite> suite_of(const std::vector<std::string>& problems) {
  Suite suite = {.name = "problems", .about = "from the command line"};
  for (const std::string& text : problems) {
    Result<Problem> problem = parse_problem(text);
    if (!problem) return problem.error();
    std::string name = to_string(*problem);
    suite.cases.push_back({std::move(name), *std::move(problem)});
  }
  return suite;
}

Result<std::vector<Suite>> find_suites(const BenchRequest& request) {
  std::vector<Suite> suites;
  for (const std::string& name : request.suites) {
    Result<Suite> suite = load_suite(name);
    if (!suite) return suite.error();
    suites.push_back(*std::move(suite));
  }
  if (!request.problems.empty()) {
    Result<Suite> suite = suite_of(request.problems);
    if (!suite) return suite.error();
    suites.push_back(*std::move(suite));
  }
  if (!request.cliff_map.empty()) suites.push_back(cliff_map_suite(request.length));
  size_t cases = 0;
  for (Suite& suite : suites) {
    if (request.filter.empty()) break;
    if (Result<void> kept = keep_matching(suite, request.filter); !kept) return kept.error();
  }
  for (const Suite& suite : suites) cases += suite.cases.size();
  if (cases == 0) {
    return Error{ErrorCode::invalid_argument, suites.empty()
                                                  ? "bench needs a problem, --suite or --cliff-map"
                                                  : request.filter + ": no case matches"};
  }
  return suites;
}

/// Errors: there is no such target, or this machine does not run its code.
Result<void> check_target(const std::string& target) {
  const Shape byte = {
      .element_type = ElementType::u8, .dimensions = {1}, .layout = make_layout({0})};
  const Result<Plan> plan =
      Plan::create({.sources = {{.shape = byte}}, .target = byte}, {.target = target});
  if (!plan) return plan.error();
  return {};
}

Result<RunSettings> make_settings(const BenchRequest& request) {
  if (Result<void> checked = check_target(request.target); !checked) return checked.error();
  const bool is_quick = request.length == BenchRequest::Length::quick;
  RunSettings settings = {
      .budget = std::chrono::duration<double>(request.seconds * (is_quick ? quick_part : 1)),
      .threads = request.threads,
      .pages = request.pages,
      .offset = request.offset,
      .target = request.target};
  if (request.suites.empty() && request.cliff_map.empty())
    settings.backends = {BackendChoice::xbyak, BackendChoice::llvm, BackendChoice::interpreter};
  if (!request.cliff_map.empty()) {
    settings.budget /= cliff_map_parts;
    settings.prices = RunSettings::Prices::left_out;
  }
  if (request.peers == BenchRequest::Peers::none || !request.cliff_map.empty()) return settings;
  const PeerList found = find_peers(request.peer_files);
  for (const std::string& failure : found.failures)
    return Error{ErrorCode::invalid_argument, failure};
  settings.peers = found.peers;
  return settings;
}

/// Cases of a suite that cannot be run at all are results too.
CaseResult not_run(const Case& measured, const Error& error) {
  CaseResult result = {.name = measured.name, .problem = to_string(measured.problem)};
  result.candidates.push_back({.name = "restride",
                               .role = Role::ours,
                               .status = Status::not_applicable,
                               .reason = error.message});
  return result;
}

/// Problems of the command line get a table each, suites a line a case.
void print_case(const BenchRequest& request, const CaseResult& result) {
  if (!request.cliff_map.empty()) return;
  if (request.suites.empty()) {
    print_details(result);
  } else {
    print_row(result);
  }
  std::fflush(stdout);
}

Result<SuiteResult> run_suite(const Suite& suite, const BenchRequest& request,
                              const RunSettings& settings) {
  SuiteResult results = {.name = suite.name, .about = suite.about};
  const Progress progress;
  if (!request.suites.empty()) print_header(results);
  for (size_t i = 0; i < suite.cases.size(); ++i) {
    progress.show(suite.name, i, suite.cases.size(), suite.cases[i].name);
    Result<CaseResult> result = run_case(suite.cases[i], settings);
    progress.clear();
    if (!result && request.suites.empty()) return result.error();
    results.cases.push_back(result ? *std::move(result) : not_run(suite.cases[i], result.error()));
    const CandidateResult& ours = results.cases.back().candidates.front();
    if (request.suites.empty() && ours.status == Status::not_applicable)
      return Error{ErrorCode::unsupported, ours.reason};
    print_case(request, results.cases.back());
  }
  if (!request.suites.empty() || !request.cliff_map.empty()) print_summary(results);
  return results;
}

Result<void> write_files(const BenchRequest& request, const RunDescription& description,
                         const std::vector<SuiteResult>& results) {
  const auto write = [](const std::string& path, const std::string& text) -> Result<void> {
    if (path.empty()) return {};
    return write_atomically(path, {}, std::as_bytes(std::span(text)));
  };
  const std::string json = to_json(description, results);
  if (Result<void> written = write(request.json, json); !written) return written;
  if (Result<void> written = write(request.cliff_map, json); !written) return written;
  return write(request.csv, to_csv(results));
}

bool ours_is_wrong(const std::vector<SuiteResult>& results) {
  for (const SuiteResult& suite : results)
    for (const CaseResult& result : suite.cases)
      for (const CandidateResult& candidate : result.candidates)
        if (candidate.role == Role::ours && candidate.status == Status::wrong) return true;
  return false;
}

}  // namespace

ExitCode bench_command(const BenchRequest& request) {
  const Result<std::vector<Suite>> suites = find_suites(request);
  if (!suites) return refuse(suites.error().message);
  const Result<RunSettings> settings = make_settings(request);
  if (!settings) return refuse(settings.error().message);
  const RunDescription description = {RESTRIDE_VERSION, describe_machine(), *settings};
  if (!request.suites.empty()) print_description(description);
  std::vector<SuiteResult> results;
  for (const Suite& suite : *suites) {
    Result<SuiteResult> result = run_suite(suite, request, *settings);
    if (!result) return refuse(result.error().message);
    results.push_back(*std::move(result));
  }
  if (Result<void> written = write_files(request, description, results); !written)
    return refuse(written.error().message);
  return ours_is_wrong(results) ? ExitCode::wrong_result : ExitCode::success;
}

}  // namespace restride::tools
