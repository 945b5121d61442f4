// What xbyak converts, against the definition of one element: all values of types up to 16 bits,
// and of wider ones the edges of every format and random ones. Also what it refuses: nothing else
// falls back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "element/element_math.hpp"
#include "plan/planner.hpp"
#include "program/program.hpp"
#include "support/computed_arrays.hpp"
#include "support/coverage.hpp"
#include "support/scheduled.hpp"

namespace restride {
namespace {

using namespace program;
using enum ElementType;
using testing::Bytes;
using testing::compiled;
using testing::load;
using testing::Machine;
using testing::machines;
using testing::name_of;
using testing::run;
using testing::same_elements;
using testing::sources_of;
using testing::store;
using testing::walk_over;
using testing::xbyak_converts;

/// Converts all of an array: registers of the narrower type from or into pieces of one register.
Program conversion(ElementType from, ElementType to, int vector_bytes, int64_t source_bytes) {
  const int64_t from_width = storage_bytes(from), to_width = storage_bytes(to);
  const int64_t v = vector_bytes,
                piece = v * std::min(from_width, to_width) / std::max(from_width, to_width);
  Block block;
  Reg next = 0;
  const int64_t in = from_width > to_width ? v * v / piece : v;
  const int64_t out = from_width < to_width ? v * v / piece : v;
  Op convert{.code = Code::convert, .type = to, .from = from};
  for (int64_t k = 0; k < v / piece; ++k) {
    if (k == 0 || in > v) block.push_back(load(1, k * v, vector_bytes, next++));
    convert.at = uint8_t(from_width == to_width ? 0 : k * piece);
    convert.a = in > v ? Reg(next - 1) : Reg(0);
    convert.b = k > 0 && in > v ? convert.to : none;
    convert.to = next++;
    block.push_back(convert);
    if (out > v || k == v / piece - 1) {
      block.push_back(store(out > v ? k * v : 0, vector_bytes, convert.to));
    }
  }
  return walk_over(vector_bytes, std::move(block), source_bytes / in, {out, in});
}

TEST(XbyakConversion, ConvertsAsDefined) {
  const std::vector<ElementType> types = testing::converted_types();
  for (const ElementType from : types) {
    const Bytes source = sources_of(from);
    const size_t width = size_t(storage_bytes(from)), count = source.size() / width;
    for (const ElementType to : types) {
      if (element_converter(from, to) == nullptr) continue;  // complex to real
      const size_t to_width = size_t(storage_bytes(to));
      Bytes expected(count * to_width);
      for (size_t k = 0; k < count; ++k) {
        element_converter(from, to)(&source[k * width], &expected[k * to_width]);
      }
      for (const Machine& machine : machines()) {
        const std::string what = std::string(to_string(from)) + " -> " +
                                 std::string(to_string(to)) + " on " + name_of(machine);
        const Program program = conversion(from, to, machine.vector_bytes, int64_t(source.size()));
        const Result<Kernel> kernel = compiled(program, machine.target);
        if (!xbyak_converts(from, to, machine.target)) {
          EXPECT_FALSE(kernel) << what;
          EXPECT_EQ(kernel.error().code, ErrorCode::unsupported) << what;
          continue;
        }
        ASSERT_TRUE(kernel) << what << ": " << kernel.error().message;
        ASSERT_TRUE(
            same_elements(expected, run(program, *kernel, source, {}), int64_t(to_width), what));
      }
    }
  }
}

TEST(XbyakConversion, NamesTheOperationItRefuses) {
  const Program program = conversion(s64, bf16, 16, 64);
  const Result<Kernel> kernel = compiled(program, *find_target("avx2"));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().message.find("xbyak: not translated for avx2: "), 0u)
      << kernel.error().message;
  EXPECT_NE(kernel.error().message.find("bf16"), std::string::npos) << kernel.error().message;
}

/// A conversion between floats of 8 bits takes some 1200 bytes of code a register: rows of them
/// loop over fewer registers than others. With AVX2 the first of these takes 17 KB.
TEST(XbyakConversion, OfNarrowFloatsTakesNoMoreCodeThanOthers) {
  for (const char* text : {"convert(f8e4m3[300,207]) -> f8e5m2[300,207]{0,1}",
                           "convert(f8e4m3fn[65536]) -> f8e5m2[65536]",
                           "add(f8e5m2[65536], f8e5m2[65536]) -> f8e5m2[65536]"}) {
    for (const Machine& machine : machines()) {
      std::ptrdiff_t bytes = 0;
      for (const Program& program :
           plan_programs(testing::simplified_space(text), machine.target)) {
        const Result<Kernel> kernel = compiled(program, machine.target);
        ASSERT_TRUE(kernel) << kernel.error().message;
        bytes = std::max(bytes, std::ssize(kernel->machine_code));
      }
      EXPECT_LE(bytes, 18 * 1024) << text << " on " << name_of(machine);
    }
  }
}

TEST(XbyakConversion, IsRefusedWithSse2) {
  const Result<Kernel> kernel = compiled(conversion(u8, f32, 16, 64), *find_target("sse2"));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace restride
