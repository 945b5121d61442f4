#include "results_text.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace restride::tools {
namespace {

using Json = nlohmann::ordered_json;

/// The layout of the file; readers refuse another one.
constexpr int format = 1;

Json json_of(const Machine& machine) {
  Json caches = Json::object();
  for (const CacheSize& cache : machine.caches) caches[cache.name] = cache.bytes;
  return {{"processor", machine.processor},
          {"processors", machine.processors},
          {"caches", caches},
          {"system", machine.system},
          {"compiler", machine.compiler},
          {"build", machine.build},
          {"huge_pages", machine.huge_pages}};
}

Json json_of(const RunSettings& settings) {
  Json peers = Json::object();
  for (const bench::Peer* peer : settings.peers) peers[peer->name] = peer->version;
  return {{"budget_seconds", settings.budget.count()},
          {"threads", settings.threads},
          {"target", settings.target},
          {"pages", to_string(settings.pages)},
          {"offset", settings.offset},
          {"peers", peers}};
}

/// The problem as plain loops, for peers of other languages; null where it is none.
Json json_of(const std::optional<bench::Work>& work) {
  if (!work) return nullptr;
  Json dimensions = Json::array();
  for (const bench::Dimension& dimension : work->dimensions)
    dimensions.push_back({dimension.extent, dimension.source_stride, dimension.target_stride});
  return {{"element_bytes", work->element_bytes},
          {"source_bytes", work->source_bytes},
          {"target_bytes", work->target_bytes},
          {"dimensions", dimensions}};
}

Json json_of(const CandidateResult& candidate, const CaseResult& result) {
  Json json = {{"name", candidate.name},
               {"role", to_string(candidate.role)},
               {"status", to_string(candidate.status)}};
  if (!candidate.reason.empty()) json["reason"] = candidate.reason;
  if (candidate.status == Status::timed) {
    json["seconds"] = candidate.timing.least;
    json["median_seconds"] = candidate.timing.median;
    json["rounds"] = candidate.timing.rounds;
    json["share_of_ceiling"] = share(fastest(result, Role::reference), &candidate);
    json["share_of_library"] = share(library_reference(result), &candidate);
  }
  if (candidate.status != Status::not_applicable && candidate.role != Role::reference)
    json["prepare_seconds"] = candidate.prepare_seconds;
  if (candidate.status != Status::not_applicable && candidate.role == Role::ours) {
    json["cache_hit_seconds"] = candidate.cache_hit_seconds;
    json["code_bytes"] = candidate.code_bytes;
    json["operations"] = candidate.operations;
  }
  return json;
}

Json json_of(const CaseResult& result) {
  Json json = {{"name", result.name},
               {"problem", result.problem},
               {"read_bytes", result.traffic.read_bytes},
               {"written_bytes", result.traffic.written_bytes},
               {"loops", json_of(result.work)},
               {"candidates", Json::array()}};
  for (const CandidateResult& candidate : result.candidates)
    json["candidates"].push_back(json_of(candidate, result));
  return json;
}

Json json_of(const Summary& summary) {
  return {{"cases", summary.cases},
          {"timed", summary.timed},
          {"wrong", summary.wrong},
          {"mean_of_ceiling", summary.mean_of_ceiling},
          {"mean_of_library", summary.mean_of_library},
          {"best_peer_mean_of_ceiling", summary.best_peer_mean_of_ceiling},
          {"least_of_ceiling", summary.least_of_ceiling},
          {"least_case", summary.least_case},
          {"lost_cases", summary.lost_cases}};
}

/// Quoted where it must be; quotes are doubled.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string to_string(Pages pages) {
  switch (pages) {
    case Pages::small:
      return "4k";
    case Pages::huge:
      return "2m";
    case Pages::unspecified:
      break;
  }
  return "unspecified";
}

std::string to_json(const RunDescription& description, const std::vector<SuiteResult>& suites) {
  Json json = {{"format", format},
               {"restride", description.version},
               {"machine", json_of(description.machine)},
               {"settings", json_of(description.settings)},
               {"suites", Json::array()}};
  for (const SuiteResult& suite : suites) {
    Json cases = Json::array();
    for (const CaseResult& result : suite.cases) cases.push_back(json_of(result));
    json["suites"].push_back({{"name", suite.name},
                              {"about", suite.about},
                              {"summary", json_of(summarize(suite))},
                              {"cases", std::move(cases)}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string to_csv(const std::vector<SuiteResult>& suites) {
  std::string text =
      "suite,case,problem,candidate,role,status,bytes,seconds,median_seconds,"
      "share_of_ceiling,share_of_library,prepare_seconds,cache_hit_seconds,code_bytes,reason\n";
  for (const SuiteResult& suite : suites) {
    for (const CaseResult& result : suite.cases) {
      for (const CandidateResult& candidate : result.candidates) {
        const double of_ceiling = share(fastest(result, Role::reference), &candidate);
        char figures[200];
        std::snprintf(figures, sizeof figures, "%lld,%.9g,%.9g,%.4f,%.4f,%.9g,%.9g,%lld",
                      static_cast<long long>(result.traffic.total()), candidate.timing.least,
                      candidate.timing.median, of_ceiling,
                      share(library_reference(result), &candidate), candidate.prepare_seconds,
                      candidate.cache_hit_seconds, static_cast<long long>(candidate.code_bytes));
        for (const std::string& field :
             {csv_field(suite.name), csv_field(result.name), csv_field(result.problem),
              csv_field(candidate.name), std::string(to_string(candidate.role)),
              std::string(to_string(candidate.status)), std::string(figures)})
          text += field + ',';
        text += csv_field(candidate.reason) + '\n';
      }
    }
  }
  return text;
}

}  // namespace restride::tools
