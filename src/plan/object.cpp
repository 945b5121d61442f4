// emit_object: the road of plan.cpp up to a Program, then into a file instead of memory.
//
//     Problem ── ... ──► Program ── Backend::emit_object ──► bytes of a relocatable object, and its
//     header
//
// Loading such an object is in object_load.cpp.
#include "restride/object.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "backend/backend.hpp"
#include "microkernel/formula.hpp"
#include "plan/object_header.hpp"
#include "plan/plan_buffers.hpp"
#include "plan/planner.hpp"
#include "space/iteration_space.hpp"
#include "target/features.hpp"
#include "target/target.hpp"

namespace restride {

Result<std::vector<uint8_t>> Backend::emit_object(const Program&, const Target&, std::string_view,
                                                  std::span<const uint8_t>) const {
  return Error{ErrorCode::unsupported, "writes no objects"};
}

namespace {

constexpr size_t most_symbol_bytes = 128;

Result<void> check_symbol(std::string_view symbol) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool valid =
      !symbol.empty() && symbol.size() <= most_symbol_bytes && !digit(symbol.front()) &&
      std::all_of(symbol.begin(), symbol.end(), [&](char c) { return letter(c) || digit(c); });
  if (valid) return {};
  return Error{ErrorCode::invalid_argument, "symbol = '" +
                                                std::string(symbol.substr(0, most_symbol_bytes)) +
                                                "': must be an identifier of C of at most " +
                                                std::to_string(most_symbol_bytes) + " characters"};
}

/// A problem on its way into an object.
struct Planned {
  IterationSpace space;
  Program program;
  Plan::State buffers;
};

Result<Planned> plan(const Problem& problem, const Target& target) {
  Result<IterationSpace> space = iteration_space(problem);
  if (!space) return space.error();
  simplify(*space);
  if (touched_bytes(*space, 0) == ByteRange{}) {
    return Error{ErrorCode::invalid_argument, "the problem writes nothing"};
  }
  Result<Plan::State> buffers = describe_buffers(problem, space->op);
  if (!buffers) return buffers.error();
  // The last one demands nothing of its pointers.
  std::vector<Program> programs = plan_programs(*space, target);
  if (programs.empty()) return Error{ErrorCode::unsupported, "program: none was planned"};
  if (Result<void> valid = verify(programs.back(), target); !valid) return valid.error();
  return Planned{*std::move(space), std::move(programs.back()), *std::move(buffers)};
}

template <size_t n>
void copy_text(std::string_view text, char (&to)[n]) {
  std::memcpy(to, text.data(), std::min(text.size(), n - 1));
}

restride_object describe(const Planned& planned, const Target& target) {
  restride_object object{};
  std::memcpy(object.magic, RESTRIDE_OBJECT_MAGIC, sizeof object.magic);
  object.version = RESTRIDE_OBJECT_VERSION;
  object.required_features = required_features(target);
  object.unit_count = unit_count(planned.program);
  object.computes_floats = computes_floats(planned.space.op) ? 1 : 0;
  size_t source = 0;
  for (const program::Operand& operand : planned.program.operands) {
    ByteRange bytes{operand.begin, operand.end};
    if (operand.role == program::Role::target) bytes = planned.buffers.target;
    if (operand.role == program::Role::source) bytes = planned.buffers.sources[source++];
    object.operands[object.operand_count++] = {static_cast<int64_t>(operand.role), bytes.begin,
                                               bytes.end, operand.alignment};
  }
  copy_text(target.name, object.target);
  copy_text(signature(planned.space), object.signature);
  return object;
}

/// The backend that can, in order of preference.
Result<std::vector<uint8_t>> emit(const Program& program, const Target& target,
                                  std::string_view symbol, std::span<const uint8_t> description) {
  Error refused{ErrorCode::unsupported, ""};
  for (const Backend* backend : backends()) {
    Result<std::vector<uint8_t>> bytes = backend->emit_object(program, target, symbol, description);
    if (bytes) return bytes;
    const Error& error = bytes.error();
    if (refused.code == ErrorCode::unsupported) refused.code = error.code;
    refused.message +=
        (refused.message.empty() ? "" : "; ") + std::string(backend->name()) + ": " + error.message;
  }
  return refused;
}

}  // namespace

Result<Object> emit_object(const Problem& problem, const ObjectOptions& options) {
  if (Result<void> valid = check_symbol(options.symbol); !valid) return valid.error();
  if (Result<void> valid = validate(problem); !valid) return valid.error();
  const Result<Target> target = find_target(options.target);
  if (!target) return target.error();
  const Result<Planned> planned = plan(problem, *target);
  if (!planned) return planned.error();
  const restride_object object = describe(*planned, *target);
  const auto* const first = reinterpret_cast<const uint8_t*>(&object);
  Result<std::vector<uint8_t>> bytes =
      emit(planned->program, *target, options.symbol, {first, offsetof(restride_object, entry)});
  if (!bytes) return bytes.error();
  return Object{*std::move(bytes), object_header(problem, object, options.symbol), target->name,
                to_string_of_features(object.required_features)};
}

}  // namespace restride
