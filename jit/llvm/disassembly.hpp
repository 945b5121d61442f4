// Machine code -> text, through LLVM MC.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "restride/result.hpp"
#include "target/target.hpp"

namespace restride::llvm_jit {

/// One instruction a line, behind its offset; what follows the last instruction, and what is none,
/// as bytes, 16 a line. Errors: `unsupported` where this LLVM lacks the architecture. Any thread.
Result<std::string> disassemble(std::span<const uint8_t> code, const Target& target);

}  // namespace restride::llvm_jit
