// Program -> a relocatable object, or its assembly text, for any target on any host.
#pragma once

#include <llvm/ADT/SmallVector.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "program/program.hpp"
#include "restride/result.hpp"
#include "target/target.hpp"

namespace restride::llvm_jit {

/// What leaves the code generator.
enum class Form : uint8_t { object, assembly };

/// A pure function: any thread, any host. The object defines one function, `symbol`, with the
/// calling convention of Entry, and needs no others; unless `description` is empty also the
/// constant `symbol` + "_object": the description, and behind it the function's address. Errors:
/// `unsupported` (this LLVM lacks the architecture), `compile_failed`. Precondition:
/// verify(program, target).
Result<llvm::SmallVector<char, 0>> emit(const Program& program, const Target& target,
                                        std::string_view symbol, Form form,
                                        std::span<const uint8_t> description = {});

}  // namespace restride::llvm_jit
