// Machine code as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace restride::tools {

/// One instruction a line, behind its offset. Constant tables behind the last instruction, and
/// everything where this build has no disassembler for the target, are shown as bytes, 16 a line.
std::string disassembly(std::span<const uint8_t> code, const std::string& target);

}  // namespace restride::tools
