// Targets by name, and the instruction sets that follow from their fields.
#include "target/target.hpp"

#include <gtest/gtest.h>

#include <string>

#include "target/features.hpp"

namespace restride {
namespace {

TEST(Target, NamesAreKnown) {
  for (const Target& target : known_targets())
    EXPECT_EQ(find_target(target.name)->name, target.name);
  const Result<Target> unknown = find_target("z80");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "target = 'z80': must be one of host, sse2, avx2, avx512, avx512_vbmi, neon, sve128, "
            "sve256");
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
  EXPECT_EQ(set_of("sve128"), InstructionSet::sve128);
  EXPECT_EQ(set_of("sve256"), InstructionSet::sve256);
  Target narrow = *find_target("avx512");
  narrow.vector_bytes = 16;
  EXPECT_EQ(instruction_set(narrow), InstructionSet::avx512);
  // Permutes across lanes need more than those within them.
  Target lanes = *find_target("sse2"), across = *find_target("avx2");
  lanes.permute_width = 1;
  lanes.permute_bytes = 16;
  across.permute_bytes = 32;
  EXPECT_EQ(instruction_set(lanes), InstructionSet::avx2);
  EXPECT_EQ(instruction_set(across), InstructionSet::avx512_vbmi);
  across.permute_width = 2;
  EXPECT_EQ(instruction_set(across), InstructionSet::avx512);
}

TEST(Target, NeedsFeaturesWithNames) {
  const auto needs = [](const char* name) {
    return to_string_of_features(required_features(*find_target(name)));
  };
  EXPECT_EQ(needs("sse2"), "x86_64");
  EXPECT_EQ(needs("avx512_vbmi"),
            "x86_64, avx2, avx512f, avx512bw, avx512dq, avx512vl, avx512vbmi, avx512vbmi2");
  EXPECT_EQ(needs("neon"), "aarch64, neon");
  // Code for one length of the registers is wrong on any other, longer or shorter.
  EXPECT_EQ(needs("sve128"), "aarch64, neon, sve, sve registers of 128 bits");
  EXPECT_EQ(needs("sve256"), "aarch64, neon, sve, sve registers of 256 bits");
  EXPECT_EQ(to_string_of_features(Features{1} << 63), "bit 63");
}

TEST(Target, LeavesFillsInFarCachesOnlyByWholeLines) {
  // Half a line is read before it is written.
  const Target narrow = *find_target("avx2");
  EXPECT_LT(narrow.vector_bytes, narrow.line_bytes);
  EXPECT_EQ(narrow.streaming_fill_bytes, narrow.imaging_bytes);
}

TEST(Target, RunsOnOneArchitecture) {
#if defined(__x86_64__)
  const Architecture here = Architecture::x86_64;
#else
  const Architecture here = Architecture::aarch64;
#endif
  for (const Target& target : known_targets()) {
    if (target.architecture != here) {
      EXPECT_FALSE(runs_here(target)) << target.name;
    }
  }
  EXPECT_FALSE(runs_here(*find_target("sve128")) && runs_here(*find_target("sve256")));
  EXPECT_TRUE(runs_here(*find_target(here == Architecture::x86_64 ? "sse2" : "neon")));
}

}  // namespace
}  // namespace restride
