// That what computes is vector code: no conversion and no operation takes elements one by one, with
// AVX2, AVX-512 or NEON. Read off the assembly of Programs of one operation each.
//
// Not here: power and remainder of floats, which no backend but the interpreter has.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "element/element_math.hpp"
#include "llvm_component.hpp"
#include "program/program.hpp"

namespace restride {
namespace {

using namespace program;

std::vector<ElementType> all_types() {
  std::vector<ElementType> types;
  for (int k = 1; k < 64; ++k) {
    if (is_element_type(static_cast<ElementType>(k))) types.push_back(static_cast<ElementType>(k));
  }
  return types;
}

/// One of each kind of instructions.
std::vector<Target> targets() {
  return {*find_target("avx2"), *find_target("avx512"), *find_target("neon")};
}

/// A loop around one operation on whole vectors.
Program program_of(Op op, const Target& target) {
  const int vector = target.vector_bytes;
  op.to = 2;
  op.a = 0;
  if (op.code == Code::compute) op.b = 1;
  Program program{.vector_bytes = vector};
  program.operands = {
      {Role::target, 0, 8 * vector}, {Role::source, 0, 8 * vector}, {Role::source, 0, 8 * vector}};
  program.streams = {0, 1, 2};
  const auto bytes = static_cast<uint8_t>(vector);
  const Block block = {{.code = Code::load, .stream = 1, .bytes = bytes, .to = 0},
                       {.code = Code::load, .stream = 2, .bytes = bytes, .to = 1},
                       op,
                       {.code = Code::store, .bytes = bytes, .a = 2}};
  program.root.push_back(For{8, {{0, vector}, {1, vector}, {2, vector}}, {block}});
  return program;
}

/// Whether an instruction of x86-64 computes with one element, or takes one out of a vector.
bool is_scalar_x86(std::string_view name, std::string_view) {
  for (const char* prefix : {"idiv", "div", "imul", "mul", "vpextr", "vpinsr", "vcvtsi2",
                             "vcvtusi2", "call", "vcvttss2", "vcvttsd2", "vcvtss2", "vcvtsd2"}) {
    if (name.starts_with(prefix)) return true;
  }
  const bool of_one_float = name.ends_with("ss") || name.ends_with("sd");
  const bool moves = name.starts_with("vmov") || name.starts_with("vbroadcast");
  return name.starts_with("v") && of_one_float && !moves;
}

/// The same of AArch64, but for moves of lanes: pieces of registers of less than 8 bytes are put
/// together of those.
bool is_scalar_arm(std::string_view name, std::string_view arguments) {
  const char kind = arguments.empty() ? ' ' : arguments[0];
  const bool number = arguments.size() > 1 && arguments[1] >= '0' && arguments[1] <= '9';
  const bool whole = number && (kind == 'w' || kind == 'x');
  const bool floating = number && (kind == 's' || kind == 'd' || kind == 'h');
  if (name == "bl") return true;
  for (const char* product : {"sdiv", "udiv", "mul", "madd", "msub"}) {
    if (name == product && whole) return true;
  }
  return floating && name.starts_with("f") && name != "fmov";
}

/// The instructions of an assembly text that take elements one by one.
std::vector<std::string> scalar_instructions(const std::string& assembly, const Target& target) {
  std::vector<std::string> found;
  std::istringstream lines(assembly);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('\t') || line.starts_with("\t.")) continue;
    const size_t end = std::min(line.find('\t', 1), line.size());
    const std::string_view name = std::string_view(line).substr(1, end - 1);
    const std::string_view arguments =
        end < line.size() ? std::string_view(line).substr(end + 1) : std::string_view();
    const bool arm = target.architecture == Architecture::aarch64;
    if (arm ? is_scalar_arm(name, arguments) : is_scalar_x86(name, arguments))
      found.push_back(line);
  }
  return found;
}

class VectorCode : public ::testing::TestWithParam<Target> {};

INSTANTIATE_TEST_SUITE_P(Every, VectorCode, ::testing::ValuesIn(targets()),
                         [](const auto& info) { return info.param.name; });

/// Elements that the operation takes at once.
int64_t elements(const Op& op, const Target& target) {
  const int64_t from = op.code == Code::convert ? storage_bytes(op.from) : 0;
  return target.vector_bytes / std::max(from, storage_bytes(op.type));
}

/// A register may come from two or have an end put in place, so some lanes may be moved; elements
/// that are taken one by one are at least as many instructions.
void expect_vectors(const Op& op, const Target& target) {
  if (elements(op, target) == 1) return;
  const Program program = program_of(op, target);
  ASSERT_TRUE(verify(program, target)) << verify(program, target).error().message;
  const auto text = (*llvm_component())->emit_assembly(program, target, "kernel");
  ASSERT_TRUE(text) << text.error().message;
  const std::vector<std::string> found = scalar_instructions(*text, target);
  EXPECT_LT(int64_t(found.size()), std::max<int64_t>(4, elements(op, target)))
      << to_string(op) << ", first" << found.front() << "\n"
      << *text;
}

TEST_P(VectorCode, Converts) {
  for (const ElementType from : all_types()) {
    for (const ElementType to : all_types()) {
      if (element_converter(from, to) == nullptr) continue;
      expect_vectors({.code = Code::convert, .type = to, .from = from}, GetParam());
    }
  }
}

TEST_P(VectorCode, Computes) {
  for (const ElementType type : all_types()) {
    for (int k = 0; k <= int(Operation::greater_equal); ++k) {
      const auto operation = static_cast<Operation>(k);
      const bool is_function = operation == Operation::remainder || operation == Operation::power;
      if (element_operation(operation, type) == nullptr) continue;
      if (is_function && !is_integer(type) && type != ElementType::pred) continue;
      expect_vectors({.code = Code::compute, .select = uint8_t(k), .type = type}, GetParam());
    }
  }
}

TEST_P(VectorCode, SpreadsAndPacks) {
  for (const uint8_t bits : {1, 2, 4}) {
    for (const Code code : {Code::spread, Code::pack}) {
      expect_vectors({.code = code, .width = bits, .at = 0, .select = 0}, GetParam());
      expect_vectors({.code = code, .width = bits, .at = 0, .select = 1}, GetParam());
    }
  }
}

TEST_P(VectorCode, MixesBits) {
  for (const uint8_t bits : {1, 2, 4}) {
    expect_vectors({.code = Code::mix_low, .width = bits, .b = 1}, GetParam());
    expect_vectors({.code = Code::mix_high, .width = bits, .b = 1}, GetParam());
  }
}

TEST_P(VectorCode, Rounds) {
  for (const ElementType type : {ElementType::f32, ElementType::f64}) {
    expect_vectors({.code = Code::round, .type = type}, GetParam());
  }
}

}  // namespace
}  // namespace restride
