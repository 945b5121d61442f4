// Program -> Kernel: verify, then ask the backends in order of preference.
//
// Only `automatic` falls back. A backend that was named, by option or by RESTRIDE_BACKEND, does the
// problem or the error is returned. Encoding is the work of the backends, not of this file.
#include "plan/compile.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

namespace restride {
namespace {

constexpr std::array<std::pair<std::string_view, BackendChoice>, 4> choices = {{
    {"automatic", BackendChoice::automatic},
    {"interpreter", BackendChoice::interpreter},
    {"xbyak", BackendChoice::xbyak},
    {"llvm", BackendChoice::llvm},
}};

Result<BackendChoice> choice_named(std::string_view text, std::string_view field) {
  for (const auto& [name, choice] : choices) {
    if (name == text) return choice;
  }
  std::string names;
  for (size_t i = 0; i < choices.size(); ++i) {
    names += i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ";
    names += choices[i].first;
  }
  return Error{
      ErrorCode::invalid_argument,
      std::string(field) + " = \"" + std::string(text.substr(0, 64)) + "\": must be " + names};
}

/// The backends to ask, in order.
Result<std::span<const Backend* const>> candidates(BackendChoice choice) {
  const std::span<const Backend* const> all = backends();
  if (choice == BackendChoice::automatic) return all;
  const std::string_view wanted = to_string(choice);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i]->name() == wanted) return all.subspan(i, 1);
  }
  std::string available;
  for (const Backend* backend : all) {
    available += (available.empty() ? "" : ", ") + std::string(backend->name());
  }
  return Error{ErrorCode::unsupported,
               "backend " + std::string(wanted) + " is not in this build, which has: " + available};
}

Result<Compiled> compile_all(std::span<const Program> programs, const Target& target,
                             const Backend& backend) {
  Compiled compiled{backend.name(), {}};
  compiled.kernels.reserve(programs.size());
  for (const Program& program : programs) {
    Result<Kernel> kernel = backend.compile(program, target);
    if (!kernel) return kernel.error();
    compiled.kernels.push_back(*std::move(kernel));
  }
  return compiled;
}

}  // namespace

std::string_view to_string(BackendChoice backend) {
  for (const auto& [name, choice] : choices) {
    if (choice == backend) return name;
  }
  return "?";
}

Result<BackendChoice> parse_backend(std::string_view text) { return choice_named(text, "backend"); }

Result<BackendChoice> effective_backend(BackendChoice asked) {
  if (asked != BackendChoice::automatic) return asked;
  const char* const forced = std::getenv("RESTRIDE_BACKEND");
  if (forced == nullptr || *forced == '\0') return asked;
  return choice_named(forced, "RESTRIDE_BACKEND");
}

Result<Compiled> compile(std::span<const Program> programs, const Target& target,
                         BackendChoice choice, Patience patience) {
  const Result<std::span<const Backend* const>> asked = candidates(choice);
  if (!asked) return asked.error();
  for (const Program& program : programs) {
    if (Result<void> verified = verify(program, target); !verified) return verified.error();
  }
  Error last{ErrorCode::unsupported, "this build has no backend"};
  bool postponed = false;
  for (const Backend* backend : *asked) {
    const bool named = choice != BackendChoice::automatic;
    if (patience == Patience::for_none && !named && !backend->compiles_at_once()) {
      postponed = true;
      continue;
    }
    Result<Compiled> compiled = compile_all(programs, target, *backend);
    if (compiled) {
      compiled->postponed = postponed;
      return compiled;
    }
    last = compiled.error();
    last.message = std::string(backend->name()) + ": " + last.message;
  }
  return last;
}

}  // namespace restride
