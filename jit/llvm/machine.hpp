// Target -> llvm::TargetMachine: which machine code is made for.
//
// Features follow from what the library knows about the target (instruction_set), and are all
// spelled out. LLVM is never asked what the host is: under emulators its answer is wrong.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "program/program.hpp"
#include "restride/result.hpp"
#include "target/target.hpp"

namespace restride::llvm_jit {

/// What LLVM calls a target.
struct MachineName {
  const char* triple;
  const char* processor;  ///< the least of its architecture: it promises nothing beside `features`
  const char* features;
};

MachineName machine_name(const Target& target);

/// What LLVM knows about an architecture. Errors: `unsupported` where this LLVM lacks it. Any
/// thread.
Result<const llvm::Target*> find_machine(const MachineName& name);

/// Generates code for `program`: how much the code generator tries depends on its size. Errors as
/// find_machine. Any thread; the machine itself is for one thread at a time.
Result<std::unique_ptr<llvm::TargetMachine>> make_machine(const Program& program,
                                                          const Target& target);

}  // namespace restride::llvm_jit
