// Targets by name, and the instruction sets that follow from their fields.
#include "target.hpp"

#include <gtest/gtest.h>

namespace restride {
namespace {

TEST(Target, NamesAreKnown) {
  for (const Target& target : known_targets())
    EXPECT_EQ(find_target(target.name)->name, target.name);
  const Result<Target> unknown = find_target("z80");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "target = 'z80': must be one of host, sse2, avx2, avx512, avx512_vbmi, neon");
  EXPECT_EQ(find_target("host")->name, host_target().name);
  EXPECT_TRUE(runs_here(host_target()));
}

TEST(Target, InstructionSetsFollowFromFields) {
  const auto set_of = [](const char* name) { return instruction_set(*find_target(name)); };
  EXPECT_EQ(set_of("sse2"), InstructionSet::sse2);
  EXPECT_EQ(set_of("avx2"), InstructionSet::avx2);
  EXPECT_EQ(set_of("avx512"), InstructionSet::avx512);
  EXPECT_EQ(set_of("avx512_vbmi"), InstructionSet::avx512_vbmi);
  EXPECT_EQ(set_of("neon"), InstructionSet::neon);
  Target narrow = *find_target("avx512");
  narrow.vector_bytes = 16;
  EXPECT_EQ(instruction_set(narrow), InstructionSet::avx512);
}

}  // namespace
}  // namespace restride
