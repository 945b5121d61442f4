// Where linked code goes: the code arena, seen as a memory manager of JITLink.
//
// All segments of an object, instructions first, lie in one block of the arena: constants are near
// the code that reads them, and many kernels share a mapping. They are linked in ordinary memory,
// for the address that was reserved, and copied there once.
#pragma once

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>

#include "llvm_component.hpp"

namespace restride::llvm_jit {

/// For one object and one thread.
class ArenaMemory final : public llvm::jitlink::JITLinkMemoryManager {
 public:
  /// `memory` is not owned.
  explicit ArenaMemory(const CodeMemory& memory) : memory_(memory) {}

  void allocate(const llvm::jitlink::JITLinkDylib* library, llvm::jitlink::LinkGraph& graph,
                OnAllocatedFunction on_allocated) override;
  void deallocate(std::vector<FinalizedAlloc> allocations,
                  OnDeallocatedFunction on_deallocated) override;

  /// The code, once it is linked; or why there is no memory that it could run in.
  const Result<CodeBlock>& block() const { return block_; }

 private:
  class Allocation;

  llvm::Error lay_out(llvm::jitlink::LinkGraph& graph);

  const CodeMemory& memory_;
  std::vector<char> contents_;  ///< of the block, while it is linked
  Result<CodeBlock> block_ = CodeBlock{};
};

}  // namespace restride::llvm_jit
