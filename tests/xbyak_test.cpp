// What only xbyak promises; what every backend must do is in generated_code_test.cpp.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "plan/planner.hpp"
#include "support/program_cases.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"
#include "xbyak/xbyak_backend.hpp"

namespace restride {
namespace {

using testing::ProgramCase;

/// No memory is written beyond the span, and a span too short is an answer, not a crash.
class EmittingXbyak : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Vectors, EmittingXbyak, ::testing::Values(16, 32, 64),
                         ::testing::PrintToStringParamName());

TEST_P(EmittingXbyak, FillsExactlyAsMuchMemoryAsTheCodeHas) {
  const Target target = *find_target("avx512_vbmi");
  for (const ProgramCase& test : testing::operation_cases(GetParam())) {
    if (!verify(test.program, target)) continue;
    std::vector<uint8_t> memory(emission_bound(test.program, target) + 8, 0x55);
    const size_t bytes = emit_xbyak(test.program, target, memory);
    ASSERT_GT(bytes, 0u);
    std::vector<uint8_t> exact(bytes + 8, 0x55), shorter(bytes + 8, 0x55);
    EXPECT_EQ(emit_xbyak(test.program, target, std::span(exact).first(bytes)), bytes);
    EXPECT_TRUE(std::equal(exact.begin(), exact.begin() + int64_t(bytes), memory.begin()));
    EXPECT_EQ(emit_xbyak(test.program, target, std::span(shorter).first(bytes / 2)), 0u);
    for (size_t k = bytes; k < exact.size(); ++k) EXPECT_EQ(exact[k], 0x55);
    for (size_t k = bytes / 2; k < shorter.size(); ++k) EXPECT_EQ(shorter[k], 0x55) << test.name;
  }
}

constexpr size_t most_kernel_bytes = 16 * 1024;

/// The code of each program of a problem, bytes.
std::vector<size_t> planned_code_bytes(const char* text, const Target& target) {
  const IterationSpace space = testing::simplified_space(text);
  std::vector<size_t> sizes;
  for (const Program& program : plan_programs(space, target)) {
    std::vector<uint8_t> memory(emission_bound(program, target));
    sizes.push_back(emit_xbyak(program, target, memory));
  }
  return sizes;
}

/// Rests of several axes, whose code has all that is inside of them.
TEST(Xbyak, EmitsNoLongCodeForTilesThatManyBoundsCut) {
  for (const char* text :
       {"u8[63,33,143,20]{3,2,1,0:T(4)} -> u8[63,33,143,20]{1,0,3,2:T(32,8)}",
        "f32[25,380,255]{2,0,1:T(16,128)} -> f32[25,380,255]{2,1,0:T(8,8,1)}",
        "f32[140,64,7,30]{0,2,3,1:T(4,32)(2,1)} -> "
        "f32[140,64,7,30]{3,2,1,0:T(4,8)(2,1)}",
        "f32[312,4095]{0,1:T(2,1)} -> f32[312,4095]{1,0:PAD(312,4095;zero)}",
        "u8[32,16,39,45]{3,2,1,0:T(8,4)(4,1)} -> "
        "u8[32,16,39,45]{3,2,1,0:T(16,4,1,1)}",
        "u8[17,19,31,39]{1,3,0,2:T(16,64)(4,1)} -> u8[17,19,31,39]",
        "bf16[55,110,9,63]{3,2,1,0:T(16,128)(4,1)} -> "
        "bf16[55,110,9,63]{3,2,1,0:T(4,16,1,1)}",
        "u8[408,257,63]{2,1,0:T(8,128)} -> u8[408,257,63]{0,1,2}",
        "u8[184,513,160]{1,0,2} -> u8[184,513,160]{0,1,2:T(4,1,1)}",
        "u8[10,90,112,88] -> u8[10,90,112,88]{1,2,3,0}",
        "u8[65,96,25,88]{0,3,1,2:T(2,1,1,1)} -> u8[65,96,25,88]{3,2,1,0:T(2)}"}) {
    for (const testing::Caches caches :
         {testing::Caches::hold_everything, testing::Caches::hold_nothing}) {
      const Target target = testing::target_of({"avx512_vbmi", caches});
      for (const size_t bytes : planned_code_bytes(text, target)) {
        EXPECT_GT(bytes, 0u);
        EXPECT_LE(bytes, most_kernel_bytes)
            << text << ' ' << testing::name_of({"avx512_vbmi", caches});
      }
    }
  }
}

TEST(Xbyak, EmitsNoLongCodeForTargetsOnLinesAndOthersTogether) {
  const Target target = testing::target_of({"avx512_vbmi", testing::Caches::hold_nothing});
  for (const char* text :
       {"u8[4095,1945] -> u8[4095,1945]{0,1}", "f32[8191,565] -> f32[8191,565]{0,1}",
        "f32[4100,2080] -> f32[4100,2080]{0,1}",
        "bf16[216,213,346]{2,1,0:PAD(224,224,346;zero)} -> bf16[216,213,346]"}) {
    const std::vector<size_t> sizes = planned_code_bytes(text, target);
    EXPECT_LE(std::accumulate(sizes.begin(), sizes.end(), size_t{0}), most_kernel_bytes) << text;
  }
}

TEST(Xbyak, RefusesOtherArchitectures) {
  const Result<Kernel> kernel =
      xbyak_backend().compile(testing::loop_cases()[0].program, *find_target("neon"));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::unsupported);
}

TEST(Xbyak, IsTheFirstBackend) { EXPECT_EQ(backends().front(), &xbyak_backend()); }

}  // namespace
}  // namespace restride
