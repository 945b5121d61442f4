// restride explain: every stage between a problem and its code, as text or JSON.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "commands.hpp"
#include "disassembly.hpp"
#include "restride/explain.hpp"

namespace restride::tools {
namespace {

using Stages = std::vector<std::pair<std::string, std::string>>;

Stages stages_of(const Explanation& explanation) {
  return {{"space", explanation.space},
          {"schedule", explanation.schedule},
          {"nest", explanation.nest},
          {"program", explanation.program},
          {"asm", disassembly(explanation.code, explanation.target)}};
}

void print_line(const char* name, const std::string& value) {
  std::printf("%-13s %s\n", name, value.c_str());
}

void print_summary(const Explanation& explanation) {
  print_line("problem", explanation.problem);
  print_line("signature", explanation.signature);
  print_line("target", explanation.target);
  print_line("backend", explanation.backend);
  if (!explanation.slow_path.empty()) print_line("slow path", explanation.slow_path);
  for (const std::string& microkernel : explanation.microkernels)
    print_line("microkernel", microkernel);
  print_line("bytes read", std::to_string(explanation.bytes_read));
  print_line("bytes written", std::to_string(explanation.bytes_written));
  print_line("operations", std::to_string(explanation.operations));
  print_line("code bytes", std::to_string(explanation.code.size()));
}

void print_stage(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (!text.ends_with('\n')) std::fputc('\n', stdout);
}

void print_text(const Explanation& explanation, const std::string& wanted) {
  if (wanted == "all") print_summary(explanation);
  for (const auto& [name, text] : stages_of(explanation)) {
    if (wanted == "all" && !text.empty()) std::printf("\n%s\n", name.c_str());
    if (wanted == "all" || wanted == name) print_stage(text);
  }
}

void print_json(const Explanation& explanation, const std::string& wanted) {
  nlohmann::ordered_json json = {
      {"problem", explanation.problem},       {"signature", explanation.signature},
      {"target", explanation.target},         {"backend", explanation.backend},
      {"slow_path", explanation.slow_path},   {"microkernels", explanation.microkernels},
      {"bytes_read", explanation.bytes_read}, {"bytes_written", explanation.bytes_written},
      {"operations", explanation.operations}, {"code_bytes", explanation.code.size()}};
  for (const auto& [name, text] : stages_of(explanation)) {
    if (wanted == "all" || wanted == name) json[name] = text;
  }
  constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
  std::printf("%s\n", json.dump(2, ' ', false, replace).c_str());
}

}  // namespace

ExitCode explain_command(const ExplainRequest& request) {
  const Result<Problem> problem = parse_problem(request.problem);
  if (!problem) return refuse(problem.error().message);
  const PlanOptions options = {.backend = request.backend, .target = request.target};
  const Result<Explanation> explanation = explain(*problem, options);
  if (!explanation) return refuse(explanation.error().message);
  if (request.format == ExplainRequest::Format::json) {
    print_json(*explanation, request.stage);
  } else {
    print_text(*explanation, request.stage);
  }
  return ExitCode::success;
}

}  // namespace restride::tools
