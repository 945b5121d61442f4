// Program -> Kernel: which backend is asked, and in what order. Backends themselves are in jit/ and
// interpreter.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "program/program.hpp"
#include "restride/plan.hpp"
#include "target/target.hpp"

namespace restride {

/// The choice to go by: `asked`, or where that is automatic, what the environment variable
/// RESTRIDE_BACKEND names. An unknown name there is an `invalid_argument` that lists the known
/// ones; an empty one counts as unset.
Result<BackendChoice> effective_backend(BackendChoice asked);

/// Programs turned into kernels by one backend.
struct Compiled {
  std::string_view backend;     ///< name; lives as long as the process
  std::vector<Kernel> kernels;  ///< one per program, in their order
  bool postponed = false;       ///< a backend that comes before this one was not asked
};

/// What `automatic` may wait for.
enum class Patience : uint8_t {
  for_best,  ///< the first backend that can
  for_none,  ///< the first of those that compile at once
};

/// Verifies all programs, then has one backend compile them all: the one chosen, or for `automatic`
/// the first that can. Errors: a backend that this build lacks (`unsupported`), what verify says,
/// what the last backend says.
Result<Compiled> compile(std::span<const Program> programs, const Target& target,
                         BackendChoice choice, Patience patience = Patience::for_best);

}  // namespace restride
