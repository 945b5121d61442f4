// The cases of suites as Google Benchmarks, for those who work with its output and its options:
//
//     restride_bench [SUITE...] [--peer=FILE.so] [--benchmark_...]
//
// Same candidates, buffers and checks as `restride bench`, one thread. Google Benchmark times one
// candidate after the other: for ratios `restride bench`, which shuffles them, is the better one.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "case_run.hpp"
#include "peers.hpp"
#include "suite.hpp"

namespace {

using namespace restride::tools;  // NOLINT: a program of one file
using restride::Result;

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "restride_bench: %s\n", message.c_str());
  std::exit(2);
}

/// A case is prepared when its first candidate runs and kept until the next case begins.
const PreparedCase& prepared(const Case& measured, const RunSettings& settings) {
  static std::string name;
  static PreparedCase current;
  const std::string wanted = measured.name + to_string(measured.problem);
  if (name == wanted) return current;
  current = {};
  Result<PreparedCase> next = prepare_case(measured, settings);
  if (!next) fail(measured.name + ": " + next.error().message);
  name = wanted;
  current = *std::move(next);
  return current;
}

/// Copies or fills, whichever a case is held against, in the order of yardstick.hpp.
constexpr const char* references[] = {"libc", "vector", "non-temporal"};

/// What a candidate is called here.
std::vector<std::string> names_of(const std::vector<CandidateResult>& candidates) {
  std::vector<std::string> names;
  size_t reference = 0;
  for (const CandidateResult& candidate : candidates) {
    const bool is_reference = candidate.role == Role::reference;
    names.push_back(is_reference                   ? references[reference++]
                    : candidate.role == Role::ours ? "restride"
                                                   : candidate.name);
  }
  return names;
}

/// One candidate of a case by its name; a case has fewer where one does not apply.
void run(benchmark::State& state, const Case& measured, const RunSettings& settings,
         const std::string& candidate) {
  const PreparedCase& current = prepared(measured, settings);
  const std::vector<std::string> names = names_of(current.result.candidates);
  for (const Call& call : current.calls) {
    if (names[call.candidate] != candidate) continue;
    for (auto _ : state) call.run();
    state.SetBytesProcessed(state.iterations() * current.result.traffic.total());
    state.SetLabel(current.result.candidates[call.candidate].name);
    return;
  }
  std::string reason = "not among the candidates";
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == candidate) reason = current.result.candidates[i].reason;
  state.SkipWithError(reason.c_str());
}

void register_suite(const Suite& suite, const RunSettings& settings) {
  std::vector<std::string> candidates = {"restride"};
  candidates.insert(candidates.end(), std::begin(references), std::end(references));
  for (const auto* peer : settings.peers) candidates.push_back(peer->name);
  for (const Case& measured : suite.cases) {
    for (const std::string& candidate : candidates) {
      const std::string name = suite.name + "/" + measured.name + "/" + candidate;
      benchmark::RegisterBenchmark(name.c_str(), [measured, settings, candidate](auto& state) {
        run(state, measured, settings, candidate);
      });
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<std::string> suites, peer_files;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--peer=")) peer_files.push_back(argument.substr(7));
    if (argument.starts_with("--") && !argument.starts_with("--peer="))
      fail(argument + ": unknown");
    if (!argument.starts_with("--")) suites.push_back(argument);
  }
  if (suites.empty()) suites = {"dl", "matrix", "small", "layout"};
  const PeerList found = find_peers(peer_files);
  for (const std::string& failure : found.failures) fail(failure);
  RunSettings settings;
  settings.peers = found.peers;
  for (const std::string& name : suites) {
    const Result<Suite> suite = load_suite(name);
    if (!suite) fail(suite.error().message);
    register_suite(*suite, settings);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
