// Every kernel has a session of its own, which ends when it is linked. So threads share nothing,
// nothing grows with the number of kernels, and the code outlives the session in its block.
#include "llvm/link.hpp"

#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h>

#include "llvm/arena_memory.hpp"
#include "llvm/machine.hpp"
#include "llvm/object.hpp"

namespace restride::llvm_jit {
namespace {

using namespace llvm::orc;

constexpr const char* symbol = "kernel";

/// One object, one symbol, one thread.
class Session {
 public:
  Session(const MachineName& name, llvm::jitlink::JITLinkMemoryManager& memory)
      : session_(std::make_unique<SelfExecutorProcessControl>(
            std::make_shared<SymbolStringPool>(), std::make_unique<InPlaceTaskDispatcher>(),
            llvm::Triple(name.triple), page_bytes, std::make_unique<NoMemory>())),
        layer_(session_, memory) {
    // What goes wrong is in the answer to lookup; it need not be printed besides.
    session_.setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });
  }

  ~Session() { llvm::consumeError(session_.endSession()); }

  llvm::Expected<ExecutorAddr> link(std::unique_ptr<llvm::MemoryBuffer> object) {
    JITDylib& library = session_.createBareJITDylib("kernel");
    if (llvm::Error error = layer_.add(library, std::move(object))) return error;
    llvm::Expected<ExecutorSymbolDef> found = session_.lookup({&library}, symbol);
    if (!found) return found.takeError();
    return found->getAddress();
  }

 private:
  /// A session wants a memory manager of its own; ours is the layer's.
  class NoMemory final : public llvm::jitlink::JITLinkMemoryManager {
   public:
    void allocate(const llvm::jitlink::JITLinkDylib*, llvm::jitlink::LinkGraph&,
                  OnAllocatedFunction on_allocated) override {
      on_allocated(llvm::createStringError(llvm::inconvertibleErrorCode(), "not this memory"));
    }
    void deallocate(std::vector<FinalizedAlloc>, OnDeallocatedFunction done) override {
      done(llvm::Error::success());
    }
  };

  static constexpr unsigned page_bytes = 4096;  // asked for by those who map pages: nobody here

  ExecutionSession session_;
  ObjectLinkingLayer layer_;
};

Error failed(const std::string& why) { return {ErrorCode::compile_failed, why}; }

}  // namespace

Result<Kernel> compile(const Program& program, const Target& target, const CodeMemory& memory) {
  const auto object = emit(program, target, symbol, Form::object);
  if (!object) return object.error();
  ArenaMemory arena(memory);
  Session session(machine_name(target), arena);
  llvm::Expected<ExecutorAddr> address = session.link(llvm::MemoryBuffer::getMemBuffer(
      llvm::StringRef(object->data(), object->size()), symbol, /*RequiresNullTerminator=*/false));
  if (!address) {
    const std::string why = llvm::toString(address.takeError());
    return failed(arena.block() ? why : arena.block().error().message);
  }
  const CodeBlock& block = *arena.block();
  return Kernel{address->toPtr<Entry>(), block.owner, block.bytes};
}

}  // namespace restride::llvm_jit
