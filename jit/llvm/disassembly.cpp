// The code ends at a return that no earlier jump leads past; what follows are constants.
#include "llvm/disassembly.hpp"

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <memory>

#include "llvm/machine.hpp"

namespace restride::llvm_jit {
namespace {

/// Everything MC wants to know before it reads the first instruction; members in the order in which
/// they depend on each other.
class Disassembler {
 public:
  Disassembler(const llvm::Target& machine, const MachineName& name, unsigned dialect)
      : triple_(name.triple),
        registers_(machine.createMCRegInfo(triple_)),
        assembler_(machine.createMCAsmInfo(*registers_, triple_, options_)),
        subtarget_(machine.createMCSubtargetInfo(triple_, name.processor, name.features)),
        instructions_(machine.createMCInstrInfo()),
        context_(triple_, assembler_.get(), registers_.get(), subtarget_.get()),
        decoder_(machine.createMCDisassembler(*subtarget_, context_)),
        analysis_(machine.createMCInstrAnalysis(instructions_.get())),
        printer_(machine.createMCInstPrinter(triple_, dialect, *assembler_, *instructions_,
                                             *registers_)) {
    printer_->setPrintImmHex(true);
  }

  /// Appends instructions and returns where they end.
  uint64_t print(llvm::ArrayRef<uint8_t> code, llvm::raw_ostream& out) {
    uint64_t at = 0, furthest_jump = 0;
    while (at < code.size()) {
      llvm::MCInst instruction;
      uint64_t bytes = 0;
      const auto status =
          decoder_->getInstruction(instruction, bytes, code.slice(at), at, llvm::nulls());
      if (status != llvm::MCDisassembler::Success || bytes == 0) return at;
      out << llvm::format("%6llx", static_cast<unsigned long long>(at));
      printer_->printInst(&instruction, at, "", *subtarget_, out);
      out << '\n';
      uint64_t target = 0;
      if (analysis_->isBranch(instruction) &&
          analysis_->evaluateBranch(instruction, at, bytes, target)) {
        furthest_jump = std::max(furthest_jump, target);
      }
      at += bytes;
      if (analysis_->isReturn(instruction) && furthest_jump < at) return at;
    }
    return at;
  }

 private:
  const llvm::Triple triple_;
  const llvm::MCTargetOptions options_;
  const std::unique_ptr<const llvm::MCRegisterInfo> registers_;
  const std::unique_ptr<const llvm::MCAsmInfo> assembler_;
  const std::unique_ptr<const llvm::MCSubtargetInfo> subtarget_;
  const std::unique_ptr<const llvm::MCInstrInfo> instructions_;
  llvm::MCContext context_;
  const std::unique_ptr<const llvm::MCDisassembler> decoder_;
  const std::unique_ptr<const llvm::MCInstrAnalysis> analysis_;
  const std::unique_ptr<llvm::MCInstPrinter> printer_;
};

void print_bytes(llvm::ArrayRef<uint8_t> bytes, uint64_t first, llvm::raw_ostream& out) {
  constexpr size_t in_line = 16;
  for (size_t line = 0; line < bytes.size(); line += in_line) {
    out << llvm::format("%6llx", static_cast<unsigned long long>(first + line)) << "\t.byte";
    for (const uint8_t byte : bytes.slice(line, std::min(in_line, bytes.size() - line))) {
      out << llvm::format(" %02x", byte);
    }
    out << '\n';
  }
}

}  // namespace

Result<std::string> disassemble(std::span<const uint8_t> code, const Target& target) {
  const MachineName name = machine_name(target);
  const Result<const llvm::Target*> machine = find_machine(name);
  if (!machine) return machine.error();
  const unsigned intel_or_only = target.architecture == Architecture::x86_64 ? 1 : 0;
  const llvm::ArrayRef<uint8_t> bytes(code.data(), code.size());
  std::string text;
  llvm::raw_string_ostream out(text);
  const uint64_t end = Disassembler(**machine, name, intel_or_only).print(bytes, out);
  print_bytes(bytes.drop_front(end), end, out);
  return text;
}

}  // namespace restride::llvm_jit
