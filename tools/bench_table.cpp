#include "bench_table.hpp"

#include <cstdio>
#include <cstring>

namespace restride::tools {
namespace {

/// A figure, or a dash where there is none.
std::string figure(const char* format, double value) {
  if (value == 0) return "-";
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

double bytes_of(const CaseResult& result) { return static_cast<double>(result.traffic.total()); }

void print_candidate(const CaseResult& result, const CandidateResult& candidate) {
  std::printf("  %-22s", candidate.name.c_str());
  if (candidate.status != Status::timed) {
    const char* verdict = candidate.status == Status::wrong ? "WRONG: " : "";
    std::printf(" %s%s\n", verdict, candidate.reason.c_str());
    return;
  }
  const double seconds = candidate.timing.least;
  std::printf(" %12.3f %7.1f %8.2f %11.2f %10.2f %11s %8s %7s\n", seconds * 1e6,
              (candidate.timing.median / seconds - 1) * 100,
              gigabytes_per_second(result.traffic.total(), seconds),
              share(fastest(result, Role::reference), &candidate),
              share(library_reference(result), &candidate),
              figure("%.1f", candidate.prepare_seconds * 1e6).c_str(),
              figure("%.0f", candidate.cache_hit_seconds * 1e9).c_str(),
              figure("%.0f", static_cast<double>(candidate.code_bytes)).c_str());
}

/// The one of ours that a row is about: the fastest, or else the one that was not timed.
const CandidateResult* our_result(const CaseResult& result) {
  const CandidateResult* best = fastest(result, Role::ours);
  for (const CandidateResult& candidate : result.candidates)
    if (best == nullptr && candidate.role == Role::ours) best = &candidate;
  return best;
}

/// `OpenBLAS .61`, or the wrong ones if there is none.
std::string best_peer(const CaseResult& result) {
  std::string text;
  if (const CandidateResult* peer = fastest(result, Role::peer)) {
    const double of_ceiling = share(fastest(result, Role::reference), peer);
    text = peer->name + figure(" %.2f", of_ceiling);
  }
  for (const CandidateResult& candidate : result.candidates) {
    if (candidate.role == Role::peer && candidate.status == Status::wrong)
      text += (text.empty() ? "" : "; ") + candidate.name + " WRONG";
  }
  return text.empty() ? "-" : text;
}

}  // namespace

void print_description(const RunDescription& description) {
  const Machine& machine = description.machine;
  std::printf("%s, %d processors,", machine.processor.c_str(), machine.processors);
  for (const CacheSize& cache : machine.caches)
    std::printf(" %s %lld KiB", cache.name.c_str(), static_cast<long long>(cache.bytes / 1024));
  std::printf(
      "; %s\nrestride %s, %s; %s; target %s, threads %d, pages %s (huge pages: %s), "
      "offset %lld, %.2g s a case;",
      machine.system.c_str(), description.version.c_str(), machine.build.c_str(),
      machine.compiler.c_str(), description.settings.target.c_str(), description.settings.threads,
      to_string(description.settings.pages).c_str(), machine.huge_pages.c_str(),
      static_cast<long long>(description.settings.offset), description.settings.budget.count());
  std::printf(" peers:");
  for (const bench::Peer* peer : description.settings.peers)
    std::printf(" %s %s", peer->name, peer->version);
  std::printf("%s\n\n", description.settings.peers.empty() ? " none" : "");
}

void print_details(const CaseResult& result) {
  const CandidateResult* library = library_reference(result);
  const std::string of_library = "of " + (library == nullptr ? "memcpy" : library->name);
  std::printf("%s\n  %-22s %12s %7s %8s %11s %10s %11s %8s %7s\n", result.problem.c_str(),
              figure("%.3f MB", bytes_of(result) * 1e-6).c_str(), "us", "spread%", "GB/s",
              "of ceiling", of_library.c_str(), "prepare us", "hit ns", "code B");
  for (const CandidateResult& candidate : result.candidates) print_candidate(result, candidate);
}

void print_header(const SuiteResult& suite) {
  std::printf("%s: %s\n", suite.name.c_str(), suite.about.c_str());
  std::printf("%-32s %9s %12s %8s %8s %8s %7s %9s %7s %7s  %s\n", "case", "MB", "us", "GB/s",
              "ceiling", "libc", "spread%", "plan us", "hit ns", "code B", "best peer");
}

void print_row(const CaseResult& result) {
  std::printf("%-32s %9.3f", result.name.c_str(), bytes_of(result) * 1e-6);
  const CandidateResult* ours = our_result(result);
  if (ours == nullptr || ours->status != Status::timed) {
    const bool wrong = ours != nullptr && ours->status == Status::wrong;
    std::printf(" %s%s\n",
                wrong ? "WRONG: " : "refused: ", ours == nullptr ? "" : ours->reason.c_str());
    return;
  }
  const double seconds = ours->timing.least;
  std::printf(" %12.3f %8.2f %8.3f %8.3f %7.1f %9.1f %7.0f %7lld  %s\n", seconds * 1e6,
              gigabytes_per_second(result.traffic.total(), seconds),
              share(fastest(result, Role::reference), ours), share(library_reference(result), ours),
              (ours->timing.median / seconds - 1) * 100, ours->prepare_seconds * 1e6,
              ours->cache_hit_seconds * 1e9, static_cast<long long>(ours->code_bytes),
              best_peer(result).c_str());
}

void print_summary(const SuiteResult& suite) {
  const Summary summary = summarize(suite);
  std::printf("%s: %lld of %lld cases timed", suite.name.c_str(),
              static_cast<long long>(summary.timed), static_cast<long long>(summary.cases));
  if (summary.timed > 0) {
    std::printf("; of ceiling: geometric mean %.3f, minimum %.3f (%s); of libc: %.3f",
                summary.mean_of_ceiling, summary.least_of_ceiling, summary.least_case.c_str(),
                summary.mean_of_library);
  }
  if (summary.best_peer_mean_of_ceiling > 0)
    std::printf("; best peer of each case: %.3f of ceiling", summary.best_peer_mean_of_ceiling);
  std::printf("\n");
  if (summary.wrong > 0)
    std::printf("  WRONG results: %lld\n", static_cast<long long>(summary.wrong));
  for (const std::string& lost : summary.lost_cases)
    std::printf("  a peer is faster: %s\n", lost.c_str());
  std::printf("\n");
}

}  // namespace restride::tools
