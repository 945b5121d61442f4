// What xbyak computes, against the definition of one element: all pairs of 8 bits, and of wider
// types the edges of every format and random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "backend/interpreter.hpp"
#include "element/element_math.hpp"
#include "program/program.hpp"
#include "support/computed_arrays.hpp"
#include "support/coverage.hpp"
#include "support/random.hpp"

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
using testing::Random;
using testing::run;
using testing::same_elements;
using testing::sources_of;
using testing::store;
using testing::walk_over;
using testing::xbyak_computes;
using testing::xbyak_converts;

/// a op b, b op a with both done with, a op a.
Program computation(Operation operation, ElementType type, int vector_bytes, int64_t source_bytes) {
  const Op op{.code = Code::compute, .select = uint8_t(operation), .type = type};
  Op ab = op, ba = op, aa = op;
  ab.to = 2, ab.a = 0, ab.b = 1;
  aa.to = 3, aa.a = 0, aa.b = 0;
  ba.to = 4, ba.a = 1, ba.b = 0;
  const int64_t v = vector_bytes;
  return walk_over(
      vector_bytes,
      {load(1, 0, vector_bytes, 0), load(2, 0, vector_bytes, 1), ab, aa, ba,
       store(0, vector_bytes, 2), store(v, vector_bytes, 4), store(2 * v, vector_bytes, 3)},
      source_bytes / v, {3 * v, v, v});
}

/// All pairs of 8 bits, else pairs of edges and random ones, some of them near each other.
std::pair<Bytes, Bytes> pairs_of(ElementType type) {
  if (is_complex(type)) return pairs_of(type == c64 ? f32 : f64);
  const size_t width = size_t(storage_bytes(type));
  std::vector<uint64_t> edges;
  for (int bit = 0; bit < int(8 * width); ++bit) {
    const uint64_t power = uint64_t{1} << bit, sign = uint64_t{1} << (8 * width - 1);
    edges.insert(edges.end(), {power, power - 1, 0 - power, power | sign, (power - 1) | sign});
  }
  const uint64_t infinity = width == 4 ? 0x7f800000 : 0x7ff0000000000000;
  for (const uint64_t near : {0, 1, -1, 1 << 20, -(1 << 20)}) edges.push_back(infinity + near);
  std::vector<uint64_t> a, b;
  for (uint64_t k = 0; width == 1 && k < 65536; ++k) {
    a.push_back(k & 255);
    b.push_back(k >> 8);
  }
  for (const uint64_t x : edges) {
    for (const uint64_t y : edges) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  Random random(9);
  for (int k = 0; k < 50000; ++k) {
    a.push_back(random.next());
    b.push_back(random.one_in(2) ? random.next() : a.back() + uint64_t(random.between(-2, 2)));
  }
  while (a.size() % 64 != 0) {
    a.push_back(a.size());
    b.push_back(a.size());
  }
  std::pair<Bytes, Bytes> bytes{Bytes(a.size() * width), Bytes(a.size() * width)};
  for (size_t k = 0; k < a.size(); ++k) {
    std::memcpy(&bytes.first[k * width], &a[k], width);
    std::memcpy(&bytes.second[k * width], &b[k], width);
  }
  return bytes;
}

/// What computation() must leave: three vectors a unit.
Bytes expected_of(Operation operation, ElementType type, int vector_bytes, const Bytes& a,
                  const Bytes& b) {
  const size_t width = size_t(storage_bytes(type)), v = size_t(vector_bytes);
  const BinaryElement compute = element_operation(operation, type);
  Bytes expected(3 * a.size());
  for (size_t k = 0; k < a.size(); k += width) {
    uint8_t* const to = &expected[k / v * 3 * v + k % v];
    compute(&a[k], &b[k], to);
    compute(&b[k], &a[k], to + v);
    compute(&a[k], &a[k], to + 2 * v);
    if (!is_complex(type) || !is_comparison(operation)) continue;
    for (uint8_t* const result : {to, to + v, to + 2 * v})
      element_converter(pred, type)(result, result);
  }
  return expected;
}

TEST(XbyakArithmetic, ComputesAsDefined) {
  std::vector<ElementType> types(std::begin(testing::computed_types),
                                 std::end(testing::computed_types));
  types.insert(types.end(), {c64, c128});
  for (const ElementType type : types) {
    const auto [a, b] = pairs_of(type);
    for (Operation operation = Operation::add; operation <= Operation::greater_equal;
         operation = Operation(int(operation) + 1)) {
      if (element_operation(operation, type) == nullptr) continue;
      for (const Machine& machine : machines()) {
        const std::string what = std::string(to_string(operation)) + " of " +
                                 std::string(to_string(type)) + " on " + name_of(machine);
        const Program program =
            computation(operation, type, machine.vector_bytes, int64_t(a.size()));
        const Result<Kernel> kernel = compiled(program, machine.target);
        if (!xbyak_computes(operation, type)) {
          EXPECT_FALSE(kernel) << what;
          EXPECT_EQ(kernel.error().code, ErrorCode::unsupported) << what;
          continue;
        }
        ASSERT_TRUE(kernel) << what << ": " << kernel.error().message;
        ASSERT_TRUE(same_elements(expected_of(operation, type, machine.vector_bytes, a, b),
                                  run(program, *kernel, a, b), storage_bytes(type), what));
      }
    }
  }
}

/// The results of each vector as bytes at its begin, and zeros.
Bytes into_bytes(const Bytes& results, size_t vector_bytes, size_t width) {
  Bytes bytes(results.size(), 0);
  for (size_t at = 0; at < results.size(); at += vector_bytes) {
    for (size_t k = 0; k < vector_bytes / width; ++k) bytes[at + k] = results[at + k * width];
  }
  return bytes;
}

TEST(XbyakArithmetic, ComparesIntoBytesAsDefined) {
  for (const ElementType type : testing::computed_types) {
    const auto width = size_t(storage_bytes(type));
    if (width == 1) continue;
    const auto [a, b] = pairs_of(type);
    for (Operation operation = Operation::equal; operation <= Operation::greater_equal;
         operation = Operation(int(operation) + 1)) {
      for (const Machine& machine : machines()) {
        if (!machine.target.byte_masks || !xbyak_computes(operation, type)) continue;
        const int v = machine.vector_bytes;
        Program program = computation(operation, type, v, int64_t(a.size()));
        for (Op& op : std::get<Block>(std::get<For>(program.root.front()).body.front())) {
          if (op.code == Code::compute) op.width = 1;
        }
        const Result<Kernel> kernel = compiled(program, machine.target);
        ASSERT_TRUE(kernel) << kernel.error().message;
        const Bytes expected = into_bytes(expected_of(operation, type, v, a, b), size_t(v), width);
        ASSERT_TRUE(same_elements(expected, run(program, *kernel, a, b), 1,
                                  std::string(to_string(operation)) + " of " +
                                      std::string(to_string(type)) + " on " + name_of(machine)));
      }
    }
  }
}

template <class Float>
void expect_rounded(ElementType type) {
  const Bytes source = sources_of(type);
  Bytes expected(source.size());
  for (size_t k = 0; k < source.size(); k += sizeof(Float)) {
    Float value;
    std::memcpy(&value, &source[k], sizeof value);
    value = std::nearbyint(value);
    std::memcpy(&expected[k], &value, sizeof value);
  }
  for (const Machine& machine : machines()) {
    const int v = machine.vector_bytes;
    const Program program = walk_over(
        v, {load(1, 0, v, 0), {.code = Code::round, .type = type, .to = 1, .a = 0}, store(0, v, 1)},
        int64_t(source.size()) / v, {v, v});
    const Result<Kernel> kernel = compiled(program, machine.target);
    ASSERT_TRUE(kernel) << kernel.error().message;
    EXPECT_TRUE(same_elements(expected, run(program, *kernel, source, {}), int64_t(sizeof(Float)),
                              name_of(machine)));
  }
}

TEST(XbyakArithmetic, RoundsToNearestEven) {
  expect_rounded<float>(f32);
  expect_rounded<double>(f64);
}

/// Every operation of two arguments 0 and 1, or of 0 alone.
std::vector<Op> all_operations(int vector_bytes) {
  std::vector<Op> ops = {{.code = Code::round, .type = f32, .a = 0},
                         {.code = Code::round, .type = f64, .a = 0}};
  for (const ElementType type : testing::converted_types()) {
    for (int operation = 0; operation <= int(Operation::greater_equal); ++operation) {
      if (element_operation(Operation(operation), type) == nullptr) continue;
      if (!xbyak_computes(Operation(operation), type)) continue;
      ops.push_back(
          {.code = Code::compute, .select = uint8_t(operation), .type = type, .a = 0, .b = 1});
    }
    for (const ElementType to : testing::converted_types()) {
      const int64_t from_width = storage_bytes(type), to_width = storage_bytes(to);
      Op op{.code = Code::convert, .type = to, .from = type, .a = 0};
      if (from_width > to_width) op.b = 1;
      if (from_width != to_width) {
        op.at =
            uint8_t(vector_bytes * std::min(from_width, to_width) / std::max(from_width, to_width));
      }
      ops.push_back(op);
    }
  }
  return ops;
}

/// Loads as many registers as a target promises and stores all of them behind the operation; `done`
/// with argument a or not.
Program crowded(Op op, const Machine& machine, bool a_is_done) {
  const int v = machine.vector_bytes, registers = machine.target.registers;
  const int loaded = a_is_done ? registers : registers - 1;
  Block block;
  for (Reg r = 0; r < loaded; ++r) block.push_back(load(1, r * v, v, r));
  op.to = Reg(loaded);
  block.push_back(op);
  for (Reg r = a_is_done ? 1 : 0; r <= loaded; ++r) block.push_back(store(r * v, v, r));
  return walk_over(v, std::move(block), 1, {(loaded + 1) * v, loaded * v});
}

TEST(XbyakArithmetic, KeepsWhatLivesInAllOtherRegisters) {
  Random random(11);
  for (const Machine& machine : machines()) {
    for (const Op& op : all_operations(machine.vector_bytes)) {
      if (op.code == Code::convert && !xbyak_converts(op.from, op.type, machine.target)) continue;
      for (const bool a_is_done : {false, true}) {
        const Program program = crowded(op, machine, a_is_done);
        const Result<Kernel> kernel = compiled(program, machine.target);
        ASSERT_TRUE(kernel) << to_string(op) << " on " << name_of(machine) << ": "
                            << kernel.error().message;
        Bytes source(size_t(program.operands[1].end));
        for (uint8_t& byte : source) byte = uint8_t(random.next());
        Bytes expected(size_t(program.operands[0].end), 0xee);
        void* const operands[] = {expected.data(), source.data()};
        interpret(program, operands, 0, 1);
        ASSERT_TRUE(same_elements(expected, run(program, *kernel, source, {}), 1,
                                  to_string(op) + " on " + name_of(machine)));
      }
    }
  }
}

}  // namespace
}  // namespace restride
