// The code arena: never writable and executable, reuse, budget, threads, forks, and systems that
// refuse.
#include "code_arena.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "backend/backend.hpp"
#include "support/child_process.hpp"

namespace restride {
namespace {

using testing::deny_executable_memory;
using testing::in_child;

#if defined(__x86_64__)
/// mov eax, n; ret
std::vector<uint8_t> code_returning(uint32_t n) {
  return {0xb8, uint8_t(n), uint8_t(n >> 8), uint8_t(n >> 16), uint8_t(n >> 24), 0xc3};
}
#else
/// movz w0, n; ret
std::vector<uint8_t> code_returning(uint32_t n) {
  const uint32_t words[] = {0x52800000 | n << 5, 0xd65f03c0};
  std::vector<uint8_t> code(sizeof words);
  std::memcpy(code.data(), words, sizeof words);
  return code;
}
#endif

uint32_t run(const CodeBlock& block) {
  using Function = uint32_t (*)();
  return reinterpret_cast<Function>(reinterpret_cast<uintptr_t>(block.bytes.data()))();
}

/// The permissions of the mapping that holds an address, as `rw-p`; and whether any is writable and
/// executable.
struct Mappings {
  std::string of_address;
  bool any_writable_and_executable = false;
};

Mappings mappings(const void* address) {
  Mappings found;
  FILE* const file = std::fopen("/proc/self/maps", "r");
  char line[512], permissions[8];
  unsigned long begin, end;
  while (file && std::fgets(line, sizeof line, file)) {
    if (std::sscanf(line, "%lx-%lx %7s", &begin, &end, permissions) != 3) continue;
    const uintptr_t wanted = reinterpret_cast<uintptr_t>(address);
    if (begin <= wanted && wanted < end) found.of_address = permissions;
    found.any_writable_and_executable |= permissions[1] == 'w' && permissions[2] == 'x';
  }
  if (file) std::fclose(file);
  return found;
}

/// Those that work here; emulators may not see what is written through another view.
std::vector<CodeMapping> mapping_kinds() {
  std::vector<CodeMapping> kinds = {CodeMapping::automatic};
  for (const CodeMapping kind : {CodeMapping::dual, CodeMapping::flipped}) {
    if (CodeArena({.mapping = kind}).place(code_returning(1))) kinds.push_back(kind);
  }
  return kinds;
}

TEST(CodeArena, MapsInBothWays) {
#if defined(__x86_64__)
  EXPECT_EQ(mapping_kinds().size(), 3u);
#else
  EXPECT_GE(mapping_kinds().size(), 2u);  // and nothing more under an emulator
#endif
}

TEST(CodeArena, RunsWhatItIsGiven) {
  for (const CodeMapping mapping : mapping_kinds()) {
    CodeArena arena({.mapping = mapping});
    std::vector<CodeBlock> blocks;
    for (uint32_t n = 0; n < 300; ++n) blocks.push_back(*arena.place(code_returning(n)));
    for (uint32_t n = 0; n < 300; ++n) {
      EXPECT_EQ(run(blocks[n]), n);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks[n].bytes.data()) % 64, 0u);
    }
  }
}

TEST(CodeArena, IsNeverWritableAndExecutable) {
  for (const CodeMapping mapping : mapping_kinds()) {
    CodeArena arena({.mapping = mapping});
    std::vector<CodeBlock> blocks;
    for (uint32_t n = 0; n < 20; ++n) {
      blocks.push_back(*arena.place(code_returning(n)));
      const Mappings now = mappings(blocks.back().bytes.data());
      EXPECT_EQ(now.of_address.substr(0, 3), "r-x");
      EXPECT_FALSE(now.any_writable_and_executable);
    }
  }
}

TEST(CodeArena, UsesMemoryAgainAndOverwritesIt) {
  for (const CodeMapping mapping : mapping_kinds()) {
    CodeArena arena({.mapping = mapping});
    const CodeBlock stays = *arena.place(code_returning(1));
    CodeBlock goes = *arena.place(code_returning(2));
    const uint8_t* const where = goes.bytes.data();
    const int64_t used = arena.statistics().used_bytes;
    goes = {};
    EXPECT_LT(arena.statistics().used_bytes, used);
    // Freed pages that are flipped have no access at all.
    EXPECT_TRUE(mapping != CodeMapping::dual || where[0] == 0xcc);
    const CodeBlock next = *arena.place(code_returning(3));
    EXPECT_EQ(next.bytes.data(), where);
    EXPECT_EQ(run(next), 3u);
    EXPECT_EQ(run(stays), 1u);
    EXPECT_EQ(arena.statistics().used_bytes, used);
  }
}

TEST(CodeArena, JoinsFreeNeighbours) {
  for (const CodeMapping mapping : mapping_kinds()) {
    const int64_t budget = 16 * 4096;
    CodeArena arena({.budget_bytes = budget, .mapping = mapping});
    std::vector<CodeBlock> blocks;
    for (uint32_t n = 0; n < 16; ++n)
      blocks.push_back(*arena.place(std::vector<uint8_t>(4096, 0x90)));
    EXPECT_FALSE(arena.place(code_returning(0)));
    for (const size_t k : {3u, 5u, 4u}) blocks[k] = {};  // the last one joins both
    EXPECT_FALSE(arena.place(std::vector<uint8_t>(3 * 4096 + 1, 0x90)));
    EXPECT_TRUE(arena.place(std::vector<uint8_t>(3 * 4096, 0x90)));
  }
}

TEST(CodeArena, KeepsToItsBudget) {
  CodeArena arena({.budget_bytes = 3 << 20});
  std::vector<CodeBlock> blocks;
  Result<CodeBlock> block = arena.place(std::vector<uint8_t>(100000, 0x90));
  while (block) {
    blocks.push_back(*block);
    ASSERT_LE(arena.statistics().reserved_bytes, 3 << 20);
    block = arena.place(std::vector<uint8_t>(100000, 0x90));
  }
  EXPECT_EQ(block.error().code, ErrorCode::resource_exhausted);
  EXPECT_NE(block.error().message.find("budget of 3145728"), std::string::npos)
      << block.error().message;
  EXPECT_GT(blocks.size(), 25u);
  blocks.clear();
  EXPECT_TRUE(arena.place(std::vector<uint8_t>(100000, 0x90)));
}

TEST(CodeArena, RefusesTheEmptyAndTheNegative) {
  CodeArena arena;
  EXPECT_FALSE(arena.place({}));
  CodeArena broke({.budget_bytes = -1});
  EXPECT_FALSE(broke.place(code_returning(1)));
}

TEST(CodeArena, BlocksOutliveIt) {
  CodeBlock block;
  {
    CodeArena arena;
    block = *arena.place(code_returning(7));
  }
  EXPECT_EQ(run(block), 7u);
}

TEST(CodeArena, ServesThreads) {
  for (const CodeMapping mapping : mapping_kinds()) {
    CodeArena arena({.mapping = mapping});
    std::vector<std::thread> threads;
    std::vector<int> wrong(4, 0);
    for (uint32_t t = 0; t < 4; ++t) {
      threads.emplace_back([&arena, &wrong, t] {
        std::vector<CodeBlock> blocks(16);
        for (uint32_t n = 0; n < 500; ++n) {
          CodeBlock& block = blocks[(n * 7) % 16];
          block = *arena.place(code_returning(t * 1000 + n));
          wrong[t] += run(block) != t * 1000 + n;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(4, 0));
    EXPECT_EQ(arena.statistics().used_bytes, 0);
  }
}

TEST(CodeArena, NeitherSideOfAForkDisturbsTheOther) {
  for (const CodeMapping mapping : mapping_kinds()) {
    CodeArena arena({.mapping = mapping});
    CodeBlock before = *arena.place(code_returning(1));
    const uint8_t* const where = before.bytes.data();
    const int status = in_child([&] {
      before = {};
      const CodeBlock mine = *arena.place(code_returning(2));
      return run(mine) == 2 ? 0 : 1;
    });
    EXPECT_EQ(status, 0);
    EXPECT_EQ(run(before), 1u);
    const CodeBlock after = *arena.place(code_returning(3));
    EXPECT_NE(after.bytes.data(), where);
    EXPECT_EQ(run(after), 3u);
    EXPECT_EQ(run(before), 1u);
  }
}

TEST(CodeArena, UnmapsWhatAForkMadeUseless) {
  const std::vector<CodeMapping> kinds = mapping_kinds();
  if (std::ranges::find(kinds, CodeMapping::dual) == kinds.end()) GTEST_SKIP() << "no dual views";
  CodeArena arena({.mapping = CodeMapping::dual});
  CodeBlock before = *arena.place(code_returning(1));
  const int64_t reserved = arena.statistics().reserved_bytes;
  EXPECT_EQ(in_child([] { return 0; }), 0);
  const CodeBlock after = *arena.place(code_returning(2));
  EXPECT_GT(arena.statistics().reserved_bytes, reserved);
  before = {};
  EXPECT_EQ(arena.statistics().reserved_bytes, reserved);
}

TEST(CodeArena, CanBeToldToRefuse) {
  CodeArena arena({.mapping = CodeMapping::refused});
  const Result<CodeBlock> block = arena.place(code_returning(1));
  ASSERT_FALSE(block);
  EXPECT_EQ(block.error().code, ErrorCode::resource_exhausted);
}

#if defined(__x86_64__)

TEST(CodeArena, FallsBackToTheInterpreterWhereTheSystemRefuses) {
  enum { fell_back = 0, not_denied, placed, wrong_error, wrong_result, no_filter };
  const int status = in_child([] {
    if (!deny_executable_memory()) return int(no_filter);
    if (memfd_create("x", 0) >= 0 || errno != EPERM) return int(not_denied);
    CodeArena arena;
    const Result<CodeBlock> block = arena.place(code_returning(1));
    if (block) return int(placed);
    if (block.error().code != ErrorCode::resource_exhausted) return int(wrong_error);
    // What the plan does: the first backend that can.
    Program program{.vector_bytes = 16};
    program.operands = {{program::Role::target, 0, 1}, {program::Role::source, 0, 1}};
    program.streams = {0, 1};
    program.root.push_back(
        program::Block{{.code = program::Code::load, .stream = 1, .bytes = 1, .to = 0},
                       {.code = program::Code::store, .stream = 0, .bytes = 1, .a = 0}});
    uint8_t source = 42, target = 0;
    void* const operands[] = {&target, &source};
    for (const Backend* backend : backends()) {
      const Result<Kernel> kernel = backend->compile(program, host_target());
      if (!kernel) continue;
      kernel->entry(kernel->code.get(), operands, 0, 1);
      return backend->name() == "interpreter" && target == 42 ? int(fell_back) : int(wrong_result);
    }
    return int(wrong_result);
  });
  if (status == no_filter) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(status, fell_back);
}

#endif

}  // namespace
}  // namespace restride
