// What xbyak computes, against the definition of one element: all values of types up to 16 bits,
// all pairs of 8 bits, and of wider types the edges of every format and random ones. Also what it
// refuses: nothing else falls back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "code_arena.hpp"
#include "element_math.hpp"
#include "interpreter.hpp"
#include "program.hpp"
#include "support/coverage.hpp"
#include "support/random.hpp"
#include "xbyak/xbyak_backend.hpp"

namespace restride {
namespace {

using namespace program;
using enum ElementType;
using testing::Random;
using testing::xbyak_computes;
using testing::xbyak_converts;
using Bytes = std::vector<uint8_t>;

constexpr ElementType types[] = {pred, s8, s16, s32, s64, u8, u16, u32, u64, f16, bf16, f32, f64};

/// A target and a width of vectors that it has.
struct Machine {
  Target target;
  int vector_bytes;
};

std::vector<Machine> machines() {
  std::vector<Machine> machines;
  for (const char* name : {"avx2", "avx512", "avx512_vbmi"}) {
    const Target target = *find_target(name);
    for (int bytes = 16; bytes <= target.vector_bytes && runs_here(target); bytes *= 2) {
      machines.push_back({target, bytes});
    }
  }
  return machines;
}

std::string name_of(const Machine& machine) {
  return machine.target.name + " of " + std::to_string(machine.vector_bytes) + " bytes";
}

/// Bits worth a test in a type of 4 or 8 bytes: every exponent with significands around the halfway
/// cases of narrower formats, powers of two and their neighbours, and random ones.
std::vector<uint64_t> wide_values(int bytes) {
  std::vector<uint64_t> values;
  Random random(7);
  const int top = 8 * bytes;
  const int mantissa_bits = bytes == 4 ? 23 : 52;
  for (uint64_t head = 0; head < uint64_t{1} << (top - mantissa_bits); ++head) {
    for (int bit = 0; bit <= mantissa_bits; ++bit) {
      const uint64_t mantissa = (uint64_t{1} << bit) - 1;
      for (const uint64_t low : {mantissa, mantissa + 1, mantissa + 2, mantissa << 1 | 1}) {
        if (bytes == 8 && bit % 4 != 0) continue;
        values.push_back((head << mantissa_bits) + low);
      }
    }
  }
  for (int bit = 0; bit < top; ++bit) {
    for (int64_t near = -3; near <= 3; ++near) {
      for (int less = 1; less < 64; ++less) {
        const uint64_t halfway = less <= bit ? uint64_t{1} << (bit - less) : 0;
        values.push_back((uint64_t{1} << bit) + halfway + uint64_t(near));
        values.push_back(0 - values.back());
      }
    }
  }
  for (int k = 0; k < 100000; ++k) {
    values.push_back(random.next() >> random.between(0, 63));
    values.push_back(0 - values.back());
  }
  return values;
}

/// Elements of all values, or of many, one after another; as many as fill whole vectors.
Bytes sources_of(ElementType type) {
  const int width = int(storage_bytes(type));
  std::vector<uint64_t> values;
  if (width <= 2) {
    for (uint64_t k = 0; k < uint64_t{1} << 8 * width; ++k) values.push_back(k);
  } else {
    values = wide_values(width);
  }
  while (values.size() % 512 != 0) values.push_back(values[values.size() / 2]);
  Bytes bytes(values.size() * size_t(width));
  for (size_t k = 0; k < values.size(); ++k) {
    std::memcpy(&bytes[k * size_t(width)], &values[k], size_t(width));
  }
  return bytes;
}

Op load(int stream, int64_t offset, int bytes, Reg to) {
  return {.code = Code::load,
          .stream = uint8_t(stream),
          .bytes = uint8_t(bytes),
          .to = to,
          .offset = offset};
}
Op store(int64_t offset, int bytes, Reg a) {
  return {.code = Code::store, .stream = 0, .bytes = uint8_t(bytes), .a = a, .offset = offset};
}

/// A program whose only loop walks over whole operands.
Program walk_over(int vector_bytes, Block block, int64_t units, std::vector<int64_t> strides) {
  Program program{.vector_bytes = vector_bytes};
  For loop{units, {}, {std::move(block)}};
  for (int k = 0; k < int(strides.size()); ++k) {
    program.operands.push_back(
        {k == 0 ? Role::target : Role::source, 0, units * strides[size_t(k)]});
    program.streams.push_back(k);
    loop.steps.push_back({.stream = k, .stride = strides[size_t(k)]});
  }
  program.root.push_back(std::move(loop));
  return program;
}

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

Result<Kernel> compiled(const Program& program, const Target& target) {
  static CodeArena arena;
  if (Result<void> verified = verify(program, target); !verified) return verified.error();
  return XbyakBackend(arena).compile(program, target);
}

Bytes run(const Program& program, const Kernel& kernel, const Bytes& a, const Bytes& b) {
  Bytes target(size_t(program.operands[0].end), 0xee);
  void* const operands[] = {target.data(), const_cast<uint8_t*>(a.data()),
                            const_cast<uint8_t*>(b.data())};
  kernel.entry(kernel.code.get(), operands, 0, unit_count(program));
  return target;
}

/// The element that starts at byte `at`, as a number.
std::string hexadecimal(const Bytes& bytes, size_t at, int64_t width) {
  std::string digits = "0x";
  for (size_t k = size_t(width); k-- > 0;) {
    digits += "0123456789abcdef"[bytes[at + k] >> 4];
    digits += "0123456789abcdef"[bytes[at + k] & 15];
  }
  return digits;
}

::testing::AssertionResult same_elements(const Bytes& expected, const Bytes& actual, int64_t width,
                                         const std::string& what) {
  if (expected == actual) return ::testing::AssertionSuccess();
  if (expected.size() != actual.size()) return ::testing::AssertionFailure() << "sizes differ";
  size_t k = 0;
  while (expected[k] == actual[k]) ++k;
  k -= k % size_t(width);
  return ::testing::AssertionFailure()
         << what << ": element " << k / size_t(width) << " is " << hexadecimal(actual, k, width)
         << ", should be " << hexadecimal(expected, k, width);
}

TEST(XbyakArithmetic, ConvertsAsDefined) {
  for (const ElementType from : types) {
    const Bytes source = sources_of(from);
    const size_t width = size_t(storage_bytes(from)), count = source.size() / width;
    for (const ElementType to : types) {
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
  }
  return expected;
}

TEST(XbyakArithmetic, ComputesAsDefined) {
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
  for (const ElementType type : types) {
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
  for (const ElementType type : types) {
    for (int operation = 0; operation <= int(Operation::greater_equal); ++operation) {
      if (element_operation(Operation(operation), type) == nullptr) continue;
      if (!xbyak_computes(Operation(operation), type)) continue;
      ops.push_back(
          {.code = Code::compute, .select = uint8_t(operation), .type = type, .a = 0, .b = 1});
    }
    for (const ElementType to : types) {
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

TEST(XbyakArithmetic, NamesTheOperationItRefuses) {
  const Program program = conversion(f64, bf16, 16, 64);
  const Result<Kernel> kernel = compiled(program, *find_target("avx2"));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().message.find("xbyak: not translated for avx2: "), 0u)
      << kernel.error().message;
  EXPECT_NE(kernel.error().message.find("bf16"), std::string::npos) << kernel.error().message;
}

TEST(XbyakArithmetic, IsRefusedWithSse2) {
  const Result<Kernel> kernel = compiled(conversion(u8, f32, 16, 64), *find_target("sse2"));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace restride
