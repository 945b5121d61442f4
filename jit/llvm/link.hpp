// Object -> Kernel, through ORC.
#pragma once

#include "llvm_component.hpp"

namespace restride::llvm_jit {

/// Generates code for a verified Program and links it into memory that can run. Errors:
/// `unsupported` (this LLVM lacks the architecture), `compile_failed` (also where there is no
/// executable memory). Any thread. Code for other machines is linked too; it must not be run.
Result<Kernel> compile(const Program& program, const Target& target, const CodeMemory& memory);

}  // namespace restride::llvm_jit
