// What the shared object exports: the stamp and the table. Everything else in it is hidden.
#include "llvm/disassembly.hpp"
#include "llvm/link.hpp"
#include "llvm/object.hpp"
#include "llvm_component.hpp"

namespace restride::llvm_jit {
namespace {

template <class Bytes>
Result<Bytes> emitted(const Program& program, const Target& target, std::string_view symbol,
                      Form form, std::span<const uint8_t> description) {
  const auto bytes = emit(program, target, symbol, form, description);
  if (!bytes) return bytes.error();
  return Bytes(bytes->begin(), bytes->end());
}

Result<std::vector<uint8_t>> emit_object(const Program& program, const Target& target,
                                         std::string_view symbol,
                                         std::span<const uint8_t> description) {
  return emitted<std::vector<uint8_t>>(program, target, symbol, Form::object, description);
}

Result<std::string> emit_assembly(const Program& program, const Target& target,
                                  std::string_view symbol) {
  return emitted<std::string>(program, target, symbol, Form::assembly, {});
}

}  // namespace
}  // namespace restride::llvm_jit

#define RESTRIDE_EXPORT extern "C" __attribute__((visibility("default"), used))

RESTRIDE_EXPORT const char restride_llvm_stamp[] = RESTRIDE_LLVM_STAMP;

RESTRIDE_EXPORT const restride::LlvmComponent restride_llvm_component = {
    .compile = restride::llvm_jit::compile,
    .emit_object = restride::llvm_jit::emit_object,
    .emit_assembly = restride::llvm_jit::emit_assembly,
    .disassemble = restride::llvm_jit::disassemble,
};
