// Backend: what turns a verified Program into a Kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.hpp"
#include "restride/result.hpp"
#include "target/target.hpp"

namespace restride {

/// One calling convention for interpreter and generated code. `operands` holds the pointers in the
/// order of Program::operands; units [first_unit, last_unit) are run; disjoint ranges may run at
/// the same time. Never fails: everything was proved before.
using Entry = void (*)(const void* code, void* const* operands, int64_t first_unit,
                       int64_t last_unit);

/// Immutable; may be run from any thread as long as `code` is alive.
struct Kernel {
  Entry entry = nullptr;
  std::shared_ptr<const void> code;       ///< the first argument of `entry`; what keeps it alive
  std::span<const uint8_t> machine_code;  ///< empty for the interpreter; alive as long as `code`
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// Whether compiling takes microseconds rather than milliseconds.
  virtual bool compiles_at_once() const { return true; }
  /// Precondition: verify(program, target). Errors: `unsupported` (the next backend is asked),
  /// `compile_failed`, `resource_exhausted`. Safe from any thread.
  virtual Result<Kernel> compile(const Program& program, const Target& target) const = 0;
  /// A relocatable ELF object for any target, on any host. It defines the function `symbol`, which
  /// is an Entry and needs no other symbol, and the constant `symbol` + "_object": `description`
  /// and behind it the address of the function. Preconditions: verify(program, target); whole
  /// pointers of description. Errors as compile. Safe from any thread.
  virtual Result<std::vector<uint8_t>> emit_object(const Program& program, const Target& target,
                                                   std::string_view symbol,
                                                   std::span<const uint8_t> description) const;
  /// Machine code for any target as text: one instruction a line behind its offset, constants
  /// behind the last as bytes. Errors: `unsupported`. Safe from any thread.
  virtual Result<std::string> disassemble(std::span<const uint8_t> code,
                                          const Target& target) const;
};

/// The backends of this build in order of preference; the interpreter is the last.
std::span<const Backend* const> backends();

}  // namespace restride
