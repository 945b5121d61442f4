// Zydis for x86-64, so that LLVM need not be loaded; the library, which has LLVM's, for the rest.
#include "disassembly.hpp"

#include <algorithm>
#include <cstdio>

#if RESTRIDE_HAS_ZYDIS
#include <Zydis/Zydis.h>
#endif

#include "restride/explain.hpp"
#include "target/target.hpp"

namespace restride::tools {
namespace {

std::string offset_text(size_t offset) {
  char text[24];
  std::snprintf(text, sizeof text, "%6zx  ", offset);
  return text;
}

std::string bytes_text(std::span<const uint8_t> code, size_t first) {
  std::string text;
  for (size_t line = first; line < code.size(); line += 16) {
    text += offset_text(line) + ".byte";
    for (size_t i = line; i < std::min(line + 16, code.size()); ++i) {
      char digits[8];
      std::snprintf(digits, sizeof digits, " %02x", code[i]);
      text += digits;
    }
    text += '\n';
  }
  return text;
}

#if RESTRIDE_HAS_ZYDIS
/// Where a direct jump goes, or 0.
size_t jump_target(const ZydisDisassembledInstruction& instruction, size_t offset) {
  const bool jumps = instruction.info.meta.category == ZYDIS_CATEGORY_COND_BR ||
                     instruction.info.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
  if (!jumps || instruction.operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return 0;
  ZyanU64 target = 0;
  ZydisCalcAbsoluteAddress(&instruction.info, &instruction.operands[0], offset, &target);
  return static_cast<size_t>(target);
}

/// The code ends at a return that no earlier jump leads past; what follows are constants.
std::string instructions_text(std::span<const uint8_t> code) {
  std::string text;
  size_t offset = 0, furthest_jump = 0;
  while (offset < code.size()) {
    ZydisDisassembledInstruction instruction;
    const ZyanStatus status =
        ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, offset, code.data() + offset,
                              code.size() - offset, &instruction);
    if (!ZYAN_SUCCESS(status)) break;
    text += offset_text(offset) + instruction.text + '\n';
    furthest_jump = std::max(furthest_jump, jump_target(instruction, offset));
    offset += instruction.info.length;
    if (instruction.info.meta.category == ZYDIS_CATEGORY_RET && furthest_jump < offset) break;
  }
  return text + bytes_text(code, offset);
}
#endif

}  // namespace

std::string disassembly(std::span<const uint8_t> code, const std::string& target) {
  if (code.empty()) return {};
#if RESTRIDE_HAS_ZYDIS
  const Result<Target> machine = find_target(target);
  if (machine && machine->architecture == Architecture::x86_64) return instructions_text(code);
#endif
  const Result<std::string> text = disassemble(code, target);
  return text ? *text : bytes_text(code, 0);
}

}  // namespace restride::tools
