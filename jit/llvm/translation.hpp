// Program -> LLVM IR, one to one.
//
//     Program ── translate ──► llvm::Module ── object, link
//
// One function with the calling convention of Entry. Every loop is a phi and a conditional jump;
// every stream is its operand's pointer plus a pure function of the loop counters. No pass is run
// on the IR: blocking, order and prefetching are in the Program already, and the code generator
// keeps the order of memory accesses.
//
// Not here: machines and features (machine.hpp), bytes (object.hpp), executable memory (link.hpp).
#pragma once

#include <llvm/IR/Module.h>

#include <string_view>

#include "program/program.hpp"
#include "target/target.hpp"

namespace restride::llvm_jit {

/// Adds the function `symbol` to a module that has its triple and data layout. Precondition:
/// verify(program, target). Errors: `unsupported` names an operation that has no translation.
Result<void> translate(const Program& program, const Target& target, std::string_view symbol,
                       llvm::Module& module);

}  // namespace restride::llvm_jit
