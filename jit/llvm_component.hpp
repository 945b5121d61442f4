// The LLVM component: a shared object that is loaded when LLVM is asked for, and not before.
//
//     library ── llvm_component() ──► dlopen ──► table of functions ──► jit/llvm
//
// LLVM takes milliseconds and tens of megabytes as soon as it is mapped. So nothing links it but
// the component, and the library knows the component by this table only. It is looked for, in
// order:
//   1. where the environment variable RESTRIDE_LLVM_COMPONENT says, and then nowhere else;
//   2. beside the file that holds this library, and in the library folder that belongs to it;
//   3. where the build said (RESTRIDE_LLVM_COMPONENT_PATH).
// Library and component exchange C++ values: they must come from one build. Each carries a stamp of
// what they share, and a component with another stamp is refused.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "code_arena.hpp"
#include "program/program.hpp"
#include "restride/result.hpp"
#include "target/target.hpp"

namespace restride {

/// The arena that linked code goes to. Functions of the library: the component has no code arena.
struct CodeMemory {
  CodeArena& arena;
  Result<CodeBlock> (*reserve)(CodeArena& arena, int64_t bytes);
  Result<void> (*fill)(CodeArena& arena, const CodeBlock& block, std::span<const uint8_t> code);
};

/// What the component does. All functions are safe from any thread and expect verified Programs.
struct LlvmComponent {
  /// Code in memory that can run. A kernel for another machine can be looked at, not run. Errors:
  /// `unsupported`, `compile_failed`.
  Result<Kernel> (*compile)(const Program& program, const Target& target, const CodeMemory& memory);

  /// A relocatable ELF object that defines one function, `symbol`, with the calling convention of
  /// Entry, and refers to no other; unless `description` is empty also its description, as
  /// Backend::emit_object says. For any target on any host. Errors: `unsupported`,
  /// `compile_failed`.
  Result<std::vector<uint8_t>> (*emit_object)(const Program& program, const Target& target,
                                              std::string_view symbol,
                                              std::span<const uint8_t> description);

  /// The same as assembly text; Intel's syntax on x86-64.
  Result<std::string> (*emit_assembly)(const Program& program, const Target& target,
                                       std::string_view symbol);

  /// Machine code for `target` as text, one instruction a line behind its offset. Constants behind
  /// the last instruction, and what is no instruction, are shown as bytes. Errors: `unsupported`.
  Result<std::string> (*disassemble)(std::span<const uint8_t> code, const Target& target);
};

/// The component, loaded by the first call and never unloaded. Errors: `unsupported`, with what was
/// tried and why it failed; the same at every call. Safe from any thread.
Result<const LlvmComponent*> llvm_component();

}  // namespace restride
