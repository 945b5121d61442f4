// Arrays of the values worth a test, programs that compute all of them, and xbyak's kernels of
// those.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "program/program.hpp"
#include "target/target.hpp"

namespace restride::testing {

using Bytes = std::vector<uint8_t>;

/// What vectors compute in.
constexpr ElementType computed_types[] = {
    ElementType::pred, ElementType::s8,  ElementType::s16, ElementType::s32, ElementType::s64,
    ElementType::u8,   ElementType::u16, ElementType::u32, ElementType::u64, ElementType::f16,
    ElementType::bf16, ElementType::f32, ElementType::f64};

/// These, complex numbers, and the floats of 8 and 4 bits, which are converted, and computed as
/// f32.
std::vector<ElementType> converted_types();

/// A target and a width of vectors that it has.
struct Machine {
  Target target;
  int vector_bytes;
};

std::vector<Machine> machines();

std::string name_of(const Machine& machine);

/// Elements of all values, or of many, one after another; as many as fill whole vectors.
Bytes sources_of(ElementType type);

program::Op load(int stream, int64_t offset, int bytes, program::Reg to);
program::Op store(int64_t offset, int bytes, program::Reg a);

/// A program whose only loop walks over whole operands.
Program walk_over(int vector_bytes, program::Block block, int64_t units,
                  std::vector<int64_t> strides);

Result<Kernel> compiled(const Program& program, const Target& target);

Bytes run(const Program& program, const Kernel& kernel, const Bytes& a, const Bytes& b);

::testing::AssertionResult same_elements(const Bytes& expected, const Bytes& actual, int64_t width,
                                         const std::string& what);

}  // namespace restride::testing
