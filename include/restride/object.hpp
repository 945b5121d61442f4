// Kernels compiled ahead of time: a problem as a relocatable object for any machine, from any
// machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "restride/object.h"
#include "restride/problem.hpp"
#include "restride/result.hpp"

namespace restride {

struct ObjectOptions {
  std::string_view target = "host";  ///< a known target: `neon`, `sve128`, `avx2`, ...
  /// The function; its description is called the same with `_object` behind it. A C identifier.
  std::string_view symbol = "restride_kernel";
};

struct Object {
  std::vector<uint8_t> bytes;  ///< relocatable ELF; refers to no other symbols
  std::string header;  ///< C: declares both symbols, explains how to call the function, names the
                       ///< required features
  std::string target;  ///< the machine compiled for
  std::string required_features;  ///< `aarch64, neon`
};

/// Plans and compiles. The kernel demands nothing of its pointers. The lists of an affine
/// conversion (scale, then zero point or bias) are sources behind the others: arrays of f32, of f64
/// where the conversion computes in that. Errors: what validate(problem) says; `invalid_argument`
/// (an unknown target: the message lists the known ones; a symbol that is none; a problem that
/// writes nothing); `unsupported` (what cannot be planned; a build without a backend that writes
/// objects); `compile_failed`.
Result<Object> emit_object(const Problem& problem, const ObjectOptions& options = {});

}  // namespace restride
