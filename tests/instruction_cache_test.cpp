// Arm's instruction caches do not see what is written to memory: all code must be flushed out to
// them before it runs. An emulator does not show when that is forgotten, so the calls are counted;
// the linker sends them here (--wrap).
#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "code_arena.hpp"

namespace {

/// [begin, end) of every call, in their order.
std::vector<std::pair<const char*, const char*>> flushed;

}  // namespace

extern "C" void __real___clear_cache(void* begin, void* end);
extern "C" void __wrap___clear_cache(void* begin, void* end) {
  flushed.emplace_back(static_cast<const char*>(begin), static_cast<const char*>(end));
  __real___clear_cache(begin, end);
}

namespace restride {
namespace {

/// Calls that cover all bytes.
int flushes_of(std::span<const uint8_t> bytes) {
  int count = 0;
  const auto* const begin = reinterpret_cast<const char*>(bytes.data());
  for (const auto& [from, to] : flushed) count += from <= begin && begin + bytes.size() <= to;
  return count;
}

TEST(InstructionCache, IsFlushedOncePerBlockThatIsPlaced) {
  constexpr uint32_t ret = 0xd65f03c0;
  std::vector<uint8_t> code(4000);
  for (size_t k = 0; k < code.size(); k += sizeof ret) std::memcpy(&code[k], &ret, sizeof ret);
  for (const CodeMapping mapping : {CodeMapping::automatic, CodeMapping::flipped}) {
    CodeArena arena({.mapping = mapping});
    const CodeBlock warm = *arena.place(code);
    for (int round = 0; round < 10; ++round) {
      flushed.clear();
      const CodeBlock block = *arena.place(code);
      EXPECT_EQ(flushed.size(), 1u);
      EXPECT_EQ(flushes_of(block.bytes), 1);
    }
  }
}

TEST(InstructionCache, IsFlushedForEveryKernelOfABackend) {
  for (const Backend* backend : backends()) {
    Program program{.vector_bytes = 16};
    program.operands = {{program::Role::target, 0, 16}, {program::Role::source, 0, 16}};
    program.streams = {0, 1};
    program.root.push_back(
        program::Block{{.code = program::Code::load, .stream = 1, .bytes = 16, .to = 0},
                       {.code = program::Code::store, .stream = 0, .bytes = 16, .a = 0}});
    flushed.clear();
    const Result<Kernel> kernel = backend->compile(program, host_target());
    ASSERT_TRUE(kernel) << backend->name() << ": " << kernel.error().message;
    if (kernel->machine_code.empty()) continue;
    EXPECT_GE(flushes_of(kernel->machine_code), 1) << backend->name();
  }
}

}  // namespace
}  // namespace restride
