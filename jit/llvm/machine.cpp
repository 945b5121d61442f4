#include "llvm/machine.hpp"

#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>

namespace restride::llvm_jit {
namespace {

constexpr const char* x86_64_linux = "x86_64-unknown-linux-gnu";
constexpr const char* aarch64_linux = "aarch64-unknown-linux-gnu";

/// Registers the two architectures, once.
void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86Disassembler();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64Disassembler();
  });
}

}  // namespace

/// Processors without prfchw take its hint for no operation.
MachineName machine_name(const Target& target) {
  switch (instruction_set(target)) {
    case InstructionSet::sse2:
      return {x86_64_linux, "x86-64", "+sse2,+prfchw"};
    case InstructionSet::avx2:
      return {x86_64_linux, "x86-64", "+avx2,+f16c,+prfchw"};
    case InstructionSet::avx512:
      return {x86_64_linux, "x86-64", "+avx512f,+avx512bw,+avx512vl,+avx512dq,+prfchw"};
    case InstructionSet::avx512_vbmi:
      return {x86_64_linux, "x86-64",
              "+avx512f,+avx512bw,+avx512vl,+avx512dq,+avx512vbmi,+avx512vbmi2,+prfchw"};
    case InstructionSet::neon:
      break;
    case InstructionSet::sve128:
    case InstructionSet::sve256:
      return {aarch64_linux, "generic", "+neon,+sve"};
  }
  return {aarch64_linux, "generic", "+neon"};
}

Result<const llvm::Target*> find_machine(const MachineName& name) {
  initialize();
  std::string reason;
  const llvm::Target* const found =
      llvm::TargetRegistry::lookupTarget(llvm::Triple(name.triple), reason);
  if (found != nullptr) return found;
  return Error{ErrorCode::unsupported, reason};
}

Result<std::unique_ptr<llvm::TargetMachine>> make_machine(const Program&, const Target& target) {
  const MachineName name = machine_name(target);
  const Result<const llvm::Target*> found = find_machine(name);
  if (!found) return found.error();
  llvm::TargetOptions options;
  constexpr unsigned intel_syntax = 1;
  if (target.architecture == Architecture::x86_64)
    options.MCOptions.OutputAsmVariant = intel_syntax;
  std::unique_ptr<llvm::TargetMachine> machine((*found)->createTargetMachine(
      llvm::Triple(name.triple), name.processor, name.features, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (machine != nullptr) return machine;
  return Error{ErrorCode::unsupported, std::string("no code generator for ") + name.triple};
}

}  // namespace restride::llvm_jit
