// The xbyak backend: every Program of moves and fills to x86-64, in microseconds.
//
//     Program ── emit ──► bytes ── CodeArena::place ──► Kernel
#pragma once

#include <cstdint>
#include <span>

#include "backend/backend.hpp"
#include "code_arena.hpp"

namespace restride {

/// Writes code for a verified Program into `memory` and returns how many bytes; 0 where they do not
/// fit. The code is position-independent and has its tables behind it. A pure function: any thread,
/// any host. Precondition: target.architecture is x86_64.
size_t emit_xbyak(const Program& program, const Target& target, std::span<uint8_t> memory);

/// As much memory as emit_xbyak can need for a Program.
size_t emission_bound(const Program& program, const Target& target);

class XbyakBackend final : public Backend {
 public:
  /// `arena` is not owned.
  explicit XbyakBackend(CodeArena& arena) : arena_(arena) {}

  std::string_view name() const override { return "xbyak"; }
  Result<Kernel> compile(const Program& program, const Target& target) const override;

 private:
  CodeArena& arena_;
};

/// The backend over CodeArena::process_wide().
const Backend& xbyak_backend();

}  // namespace restride
