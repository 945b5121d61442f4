// CodeArena: where generated code lives, for all backends. Never writable and executable in one
// mapping.
//
// Code is copied here once, from wherever it was emitted: by `place`, or where its address must be
// known before its bytes are, by `reserve` and `fill`. Blocks are freed when the last owner lets
// go, and their memory is used again. The arena may be gone by then: its blocks keep what they
// need.
//
// After a fork both processes run on the same pages of a dual mapping. Neither may write to them
// any more, so what was mapped before a fork is never reused; it is unmapped once all its blocks
// are free.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "restride/result.hpp"

namespace restride {

/// How code becomes executable.
enum class CodeMapping : uint8_t {
  automatic,  ///< the first of dual and flipped that works here
  dual,       ///< the same memory mapped twice: a view to write, a view to execute
  flipped,    ///< whole pages, written first and made executable then
  refused,    ///< not at all: as on a system that denies executable memory
};

struct CodeArenaOptions {
  int64_t budget_bytes = int64_t{256} << 20;  ///< of address space for code
  CodeMapping mapping = CodeMapping::automatic;
};

/// Code that can be run. Copies share it.
struct CodeBlock {
  std::shared_ptr<const void> owner;  ///< keeps `bytes` alive; points to their first
  std::span<const uint8_t> bytes;     ///< begins at a multiple of 64
};

struct CodeArenaStatistics {
  int64_t reserved_bytes = 0;  ///< address space mapped now; never more than the budget
  int64_t used_bytes = 0;      ///< of blocks alive, rounded up to what they occupy
};

/// Safe from any thread.
class CodeArena {
 public:
  explicit CodeArena(const CodeArenaOptions& options = {});
  ~CodeArena();
  CodeArena(const CodeArena&) = delete;
  CodeArena& operator=(const CodeArena&) = delete;

  /// Copies code to where it can run. Errors: `resource_exhausted` where the budget is spent or the
  /// system refuses executable memory.
  Result<CodeBlock> place(std::span<const uint8_t> code);

  /// Room for `bytes` of code at an address that is final. It must not run before it is filled.
  /// Errors as place.
  Result<CodeBlock> reserve(int64_t bytes);

  /// Writes the code of a block of this arena that was reserved, from its first byte on, once.
  /// Errors: `resource_exhausted` where the system refuses executable memory, or the process has
  /// forked since. Precondition: no more bytes than were reserved.
  Result<void> fill(const CodeBlock& block, std::span<const uint8_t> code);

  CodeArenaStatistics statistics() const;

  /// The arena of all backends. Made at first use, never destroyed.
  static CodeArena& process_wide();

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace restride
