// Machine code as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace restride::tools {

/// One instruction a line, behind its offset. Constant tables behind the last instruction, and
/// everything where this build has no disassembler for the code, are shown as bytes, 16 a line.
std::string disassemble(std::span<const uint8_t> code);

}  // namespace restride::tools
