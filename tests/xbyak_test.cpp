// What only xbyak promises; what every backend must do is in generated_code_test.cpp.
#include <gtest/gtest.h>

#include "support/program_cases.hpp"
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

TEST(Xbyak, RefusesOtherArchitectures) {
  const Result<Kernel> kernel =
      xbyak_backend().compile(testing::loop_cases()[0].program, *find_target("neon"));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::unsupported);
}

TEST(Xbyak, IsTheFirstBackend) { EXPECT_EQ(backends().front(), &xbyak_backend()); }

}  // namespace
}  // namespace restride
