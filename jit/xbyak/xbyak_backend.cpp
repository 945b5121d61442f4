// Emits into memory of its own, then hands the bytes to the arena: nothing here is ever writable
// and executable.
#include "xbyak/xbyak_backend.hpp"

#include <memory>
#include <new>

#include "xbyak/survey.hpp"
#include "xbyak/translator.hpp"

namespace restride {

size_t emit_xbyak(const Program& program, const Target& target, std::span<uint8_t> memory) {
  const xbyak::Survey survey = xbyak::survey(program, target);
  return xbyak::Translator(program, target, survey, memory.data(), memory.size()).run();
}

size_t emission_bound(const Program& program, const Target& target) {
  return xbyak::survey(program, target).code_bound;
}

Result<Kernel> XbyakBackend::compile(const Program& program, const Target& target) const {
  if (target.architecture != Architecture::x86_64) {
    return Error{ErrorCode::unsupported, "xbyak: target " + target.name + " is no x86-64"};
  }
  const xbyak::Survey survey = xbyak::survey(program, target);
  if (survey.refused != nullptr) {
    return Error{ErrorCode::unsupported,
                 "xbyak: not translated for " + target.name + ": " + to_string(*survey.refused)};
  }
  const std::unique_ptr<uint8_t[]> memory(new (std::nothrow) uint8_t[survey.code_bound]);
  if (!memory) return Error{ErrorCode::resource_exhausted, "xbyak: no memory to emit into"};
  const size_t bytes =
      xbyak::Translator(program, target, survey, memory.get(), survey.code_bound).run();
  if (bytes == 0) return Error{ErrorCode::compile_failed, "xbyak: the code does not fit"};
  Result<CodeBlock> block = arena_.place({memory.get(), bytes});
  if (!block) return block.error();
  const auto entry = reinterpret_cast<Entry>(reinterpret_cast<uintptr_t>(block->bytes.data()));
  return Kernel{entry, std::move(block->owner), block->bytes};
}

const Backend& xbyak_backend() {
  static const XbyakBackend backend(CodeArena::process_wide());
  return backend;
}

}  // namespace restride
