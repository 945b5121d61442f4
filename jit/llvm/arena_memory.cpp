#include "llvm/arena_memory.hpp"

#include <llvm/ExecutionEngine/JITLink/JITLink.h>

namespace restride::llvm_jit {

using llvm::jitlink::BasicLayout;
using llvm::orc::ExecutorAddr;
using llvm::orc::MemProt;

namespace {

// What blocks of the arena are aligned to; no constant needs more.
constexpr size_t block_alignment = 64;

bool has(MemProt protection, MemProt wanted) {
  return (static_cast<int>(protection) & static_cast<int>(wanted)) != 0;
}

llvm::Error error(const std::string& what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

}  // namespace

/// What ArenaMemory holds, until it is copied to the arena.
class ArenaMemory::Allocation final : public InFlightAlloc {
 public:
  explicit Allocation(ArenaMemory& owner) : owner_(owner) {}

  void finalize(OnFinalizedFunction on_finalized) override {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(owner_.contents_.data());
    const Result<void> filled =
        owner_.memory_.fill(owner_.memory_.arena, *owner_.block_, {bytes, owner_.contents_.size()});
    if (!filled) {
      owner_.block_ = filled.error();
      return on_finalized(error(filled.error().message));
    }
    on_finalized(FinalizedAlloc(ExecutorAddr::fromPtr(owner_.block_->bytes.data())));
  }

  void abandon(OnAbandonedFunction on_abandoned) override { on_abandoned(llvm::Error::success()); }

 private:
  ArenaMemory& owner_;
};

llvm::Error ArenaMemory::lay_out(llvm::jitlink::LinkGraph& graph) {
  BasicLayout layout(graph);
  size_t bytes = 0;
  std::vector<std::pair<BasicLayout::Segment*, size_t>> places;
  for (const bool executable : {true, false}) {
    for (auto& [group, segment] : layout.segments()) {
      if (has(group.getMemProt(), MemProt::Exec) != executable) continue;
      if (has(group.getMemProt(), MemProt::Write)) return error("code with data to be written");
      if (segment.Alignment.value() > block_alignment) return error("an alignment beyond 64");
      bytes = llvm::alignTo(bytes, segment.Alignment);
      places.emplace_back(&segment, bytes);
      bytes += segment.ContentSize + segment.ZeroFillSize;
    }
  }
  block_ = memory_.reserve(memory_.arena, int64_t(bytes));
  if (!block_) return error(block_.error().message);
  contents_.assign(bytes, 0);
  for (const auto& [segment, offset] : places) {
    segment->Addr = ExecutorAddr::fromPtr(block_->bytes.data() + offset);
    segment->WorkingMem = contents_.data() + offset;
  }
  return layout.apply();
}

void ArenaMemory::allocate(const llvm::jitlink::JITLinkDylib*, llvm::jitlink::LinkGraph& graph,
                           OnAllocatedFunction on_allocated) {
  if (llvm::Error error = lay_out(graph)) return on_allocated(std::move(error));
  on_allocated(std::make_unique<Allocation>(*this));
}

/// The block belongs to the kernel: it goes when its last owner lets go.
void ArenaMemory::deallocate(std::vector<FinalizedAlloc> allocations,
                             OnDeallocatedFunction on_deallocated) {
  for (FinalizedAlloc& allocation : allocations) allocation.release();
  on_deallocated(llvm::Error::success());
}

}  // namespace restride::llvm_jit
