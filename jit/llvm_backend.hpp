// The LLVM backend: every Program, for x86-64 and AArch64, in milliseconds.
//
//     Program ── component ──► object ── link ──► CodeArena ──► Kernel
//
// Here is what asks the component; the work is done in llvm/.
#pragma once

#include "backend/backend.hpp"
#include "code_arena.hpp"

namespace restride {

class LlvmBackend final : public Backend {
 public:
  /// `arena` is not owned.
  explicit LlvmBackend(CodeArena& arena) : arena_(arena) {}

  std::string_view name() const override { return "llvm"; }
  bool compiles_at_once() const override { return false; }

  /// Loads the component at its first call. Errors: `unsupported` where the component is missing,
  /// `compile_failed` where code cannot be made or placed. LLVM itself ends the process where
  /// ordinary memory runs out.
  Result<Kernel> compile(const Program& program, const Target& target) const override;

  Result<std::vector<uint8_t>> emit_object(const Program& program, const Target& target,
                                           std::string_view symbol,
                                           std::span<const uint8_t> description) const override;

  Result<std::string> disassemble(std::span<const uint8_t> code,
                                  const Target& target) const override;

 private:
  CodeArena& arena_;
};

/// The backend over CodeArena::process_wide().
const Backend& llvm_backend();

}  // namespace restride
