#include "llvm_backend.hpp"

#include "llvm_component.hpp"

namespace restride {
namespace {

/// Where the system refuses to run anything, LLVM need not be loaded to find out.
Result<void> try_memory(CodeArena& arena) {
  constexpr uint8_t anything[] = {0};
  const Result<CodeBlock> block = arena.place(anything);
  if (!block) return Error{ErrorCode::compile_failed, block.error().message};
  return {};
}

}  // namespace

Result<Kernel> LlvmBackend::compile(const Program& program, const Target& target) const {
  if (const Result<void> possible = try_memory(arena_); !possible) return possible.error();
  const Result<const LlvmComponent*> component = llvm_component();
  if (!component) return component.error();
  const CodeMemory memory = {
      .arena = arena_,
      .reserve = [](CodeArena& arena, int64_t bytes) { return arena.reserve(bytes); },
      .fill = [](CodeArena& arena, const CodeBlock& block,
                 std::span<const uint8_t> code) { return arena.fill(block, code); }};
  return (*component)->compile(program, target, memory);
}

Result<std::vector<uint8_t>> LlvmBackend::emit_object(const Program& program, const Target& target,
                                                      std::string_view symbol,
                                                      std::span<const uint8_t> description) const {
  const Result<const LlvmComponent*> component = llvm_component();
  if (!component) return component.error();
  return (*component)->emit_object(program, target, symbol, description);
}

Result<std::string> LlvmBackend::disassemble(std::span<const uint8_t> code,
                                             const Target& target) const {
  const Result<const LlvmComponent*> component = llvm_component();
  if (!component) return component.error();
  return (*component)->disassemble(code, target);
}

const Backend& llvm_backend() {
  static const LlvmBackend backend(CodeArena::process_wide());
  return backend;
}

}  // namespace restride
