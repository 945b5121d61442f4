// explain: the road of plan.cpp once more, keeping what every stage looks like. Made for people: it
// plans and compiles afresh, knows no cache and runs nothing.
#include "restride/explain.hpp"

#include <utility>
#include <variant>

#include "backend/backend.hpp"
#include "plan/compile.hpp"
#include "plan/planner.hpp"
#include "program/program.hpp"
#include "space/iteration_space.hpp"
#include "target/target.hpp"

namespace restride {
namespace {

int64_t count_operations(const program::Body& body) {
  int64_t count = 0;
  for (const auto& item : body) {
    const auto* const block = std::get_if<program::Block>(&item);
    count += block != nullptr ? static_cast<int64_t>(block->size())
                              : count_operations(std::get_if<program::For>(&item)->body);
  }
  return count;
}

/// Bytes of all elements of an array, each counted once; a dimension with stride 0 repeats its
/// elements.
Result<int64_t> element_bytes(Shape shape, const std::vector<int64_t>& byte_strides) {
  for (size_t i = 0; i < byte_strides.size(); ++i) {
    if (byte_strides[i] == 0 && shape.dimensions[i] > 1) shape.dimensions[i] = 1;
  }
  const Result<int64_t> count = element_count(shape);
  if (!count) return count.error();
  const int64_t packed = shape.layout.element_size_in_bits;
  return packed == 0 ? *count * storage_bytes(shape.element_type) : (*count * packed + 7) / 8;
}

/// Without strides and unless padding is to be left alone, the whole buffer is written.
Result<int64_t> written_bytes(const Problem& problem) {
  const bool whole = problem.target_byte_strides.empty() &&
                     problem.target.layout.padding_value != PaddingValue::unknown;
  return whole ? buffer_bytes(problem.target)
               : element_bytes(problem.target, problem.target_byte_strides);
}

Result<void> count_bytes(const Problem& problem, Explanation& explanation) {
  const Result<int64_t> written = written_bytes(problem);
  if (!written) return written.error();
  explanation.bytes_written = *written;
  if (is_zero_element(problem.target)) return {};
  for (const Source& source : problem.sources) {
    const Result<int64_t> read = element_bytes(source.shape, source.byte_strides);
    if (!read) return read.error();
    explanation.bytes_read += *read;
  }
  return {};
}

/// From the simplified space on.
Result<void> explain_program(const IterationSpace& space, const Target& target,
                             BackendChoice backend, Explanation& explanation) {
  std::vector<Program> programs;
  if (touched_bytes(space, 0) != ByteRange{}) {
    StageTexts stages = explain_stages(space, target);
    explanation.schedule = std::move(stages.schedule);
    explanation.nest = std::move(stages.nest);
    explanation.microkernels = std::move(stages.microkernels);
    const std::vector<Program> planned = plan_programs(space, target);
    programs.push_back(on_lines(planned));
  }
  const Result<Compiled> compiled = compile(programs, target, backend);
  if (!compiled) return compiled.error();
  explanation.backend = compiled->backend;
  for (const Program& program : programs) {
    explanation.program = to_string(program);
    explanation.operations = count_operations(program.root);
    const std::span<const uint8_t> code = compiled->kernels.front().machine_code;
    explanation.code.assign(code.begin(), code.end());
  }
  return {};
}

/// Operations without vector code: functions of the C library, element by element.
std::string slow_path(const Problem& problem) {
  const ElementType type = problem.sources[0].shape.element_type;
  const bool is_function =
      problem.operation == Operation::remainder || problem.operation == Operation::power;
  if (!is_function || is_integer(type) || type == ElementType::pred) return {};
  return std::string(to_string(problem.operation)) + " of " + std::string(to_string(type)) +
         ": a library function for every element";
}

}  // namespace

Result<Explanation> explain(const Problem& problem, const PlanOptions& options) {
  const Result<BackendChoice> backend = effective_backend(options.backend);
  if (!backend) return backend.error();
  if (Result<void> valid = validate(problem); !valid) return valid.error();
  const Result<Target> target = find_target(options.target.empty() ? "host" : options.target);
  if (!target) return target.error();
  Result<IterationSpace> space = iteration_space(problem);
  if (!space) return space.error();

  Explanation explanation;
  explanation.problem = to_string(problem);
  explanation.target = target->name;
  explanation.slow_path = slow_path(problem);
  explanation.space = to_string(*space);
  simplify(*space);
  explanation.space += "\nsimplified\n" + to_string(*space);
  explanation.signature = signature(*space);
  if (Result<void> counted = count_bytes(problem, explanation); !counted) return counted.error();
  Result<void> explained = explain_program(*space, *target, *backend, explanation);
  if (!explained) return explained.error();
  return explanation;
}

Result<std::string> Backend::disassemble(std::span<const uint8_t>, const Target&) const {
  return Error{ErrorCode::unsupported, "has no disassembler"};
}

Result<std::string> disassemble(std::span<const uint8_t> code, std::string_view target) {
  const Result<Target> found = find_target(target);
  if (!found) return found.error();
  std::string reasons;
  for (const Backend* backend : backends()) {
    Result<std::string> text = backend->disassemble(code, *found);
    if (text) return text;
    reasons +=
        (reasons.empty() ? "" : "; ") + std::string(backend->name()) + ": " + text.error().message;
  }
  return Error{ErrorCode::unsupported, reasons};
}

}  // namespace restride
