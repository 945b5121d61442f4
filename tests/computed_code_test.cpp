// Conversions, operations and rounding in generated code: every pair of types and every operation,
// on every target that runs here, bit for bit what the interpreter writes.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "backend/backend.hpp"
#include "backend/interpreter.hpp"
#include "element/element_math.hpp"
#include "support/random.hpp"

namespace restride {
namespace {

using namespace program;
using testing::Random;

constexpr int vectors = 96;  // of elements, each program

std::vector<ElementType> all_types() {
  std::vector<ElementType> types;
  for (int k = 1; k < 64; ++k) {
    if (is_element_type(static_cast<ElementType>(k))) types.push_back(static_cast<ElementType>(k));
  }
  return types;
}

std::vector<Target> targets_here() {
  std::vector<Target> targets;
  for (const Target& target : known_targets()) {
    if (runs_here(target)) targets.push_back(target);
  }
  return targets;
}

/// Operations on v0 and v1, vectors of two sources; every result is stored whole.
class Computation {
 public:
  explicit Computation(const Target& target) : vector_(target.vector_bytes) {
    block_ = {{.code = Code::load, .stream = 1, .bytes = uint8_t(vector_), .to = 0},
              {.code = Code::load, .stream = 2, .bytes = uint8_t(vector_), .to = 1}};
  }

  void add(Op op) {
    const Reg to = Reg(2 + results_);
    op.to = to;
    op.a = 0;
    block_.push_back(op);
    block_.push_back({.code = Code::store,
                      .bytes = uint8_t(vector_),
                      .a = to,
                      .offset = int64_t(results_) * vector_});
    ++results_;
  }

  int results() const { return results_; }

  Program program() const {
    Program program{.vector_bytes = vector_};
    program.operands = {{Role::target, 0, int64_t(vectors) * results_ * vector_},
                        {Role::source, 0, int64_t(vectors) * vector_},
                        {Role::source, 0, int64_t(vectors) * vector_}};
    program.streams = {0, 1, 2};
    program.root.push_back(
        For{vectors, {{0, int64_t(results_) * vector_}, {1, vector_}, {2, vector_}}, {block_}});
    return program;
  }

 private:
  const int vector_;
  Block block_;
  int results_ = 0;
};

/// Mostly special bytes, so that zeros, infinities, NaNs, ties, denormals and ends of ranges meet;
/// where that is rare, because an element has many bytes, whole elements that are special as f32,
/// f64 or integers.
std::vector<uint8_t> contents(Random& random, int64_t bytes) {
  constexpr std::array<uint8_t, 16> special = {0,    1,    0x80, 0xff, 0x7f, 0x40, 0x3f, 0xc0,
                                               0x7c, 0xf8, 0x38, 0x4f, 0x5f, 0xcf, 0x81, 0xfe};
  constexpr std::array<uint64_t, 24> wide = {
      0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000, 0xfff0000000000000,
      0x7ff8000000000001, 0x7ff4000000000000, 0x3ff8000000000000, 0x4000000000000000,
      0x3f8000007f800000, 0xff800000bf800000, 0x7fc00001ffa00000, 0x3f0000003fc00000,
      0x0000000180000000, 0x8000000000000000, 0x43e0000000000000, 0xc3e0000000000000,
      0x41efffffffe00000, 0x36a0000000000000, 0x380fffffe0000000, 0x47efffffe0000000,
      0x4f0000004effffff, 0xcf0000005f800000, 0x0020000000200001, 0x40f0080000000001};
  std::vector<uint8_t> all(static_cast<size_t>(bytes));
  for (uint8_t& byte : all) {
    byte = random.one_in(3) ? special[random.next() % special.size()] : uint8_t(random.next());
  }
  for (size_t k = 0; k + 8 <= all.size(); k += 8) {
    const uint64_t element = wide[random.next() % wide.size()];
    if (random.one_in(3)) std::memcpy(&all[k], &element, sizeof element);
  }
  return all;
}

std::vector<uint8_t> run(const Kernel& kernel, const Program& program, uint64_t seed) {
  Random random(seed);
  std::vector<uint8_t> target(static_cast<size_t>(program.operands[0].end), 0xee);
  std::vector<uint8_t> a = contents(random, program.operands[1].end);
  std::vector<uint8_t> b = contents(random, program.operands[2].end);
  // Some pairs are equal.
  for (size_t k = 0; k < a.size(); k += 32) std::memcpy(&b[k], &a[k], 16);
  void* const operands[] = {target.data(), a.data(), b.data()};
  kernel.entry(kernel.code.get(), operands, 0, unit_count(program));
  return target;
}

/// Which operation of the Program wrote the first byte that differs, and what.
std::string difference(const Program& program, const std::vector<uint8_t>& is,
                       const std::vector<uint8_t>& must) {
  const auto& block = std::get<Block>(std::get<For>(program.root[0]).body[0]);
  const auto vector = static_cast<size_t>(program.vector_bytes);
  const size_t at = size_t(std::mismatch(is.begin(), is.end(), must.begin()).first - is.begin());
  if (at == is.size()) return {};
  const size_t results = (block.size() - 2) / 2, row = at / vector;
  std::string text = to_string(block[2 + 2 * (row % results)]) + " in vector " +
                     std::to_string(row / results) + ": byte " + std::to_string(at % vector);
  return text + " is " + std::to_string(is[at]) + ", not " + std::to_string(must[at]);
}

/// Errors: what the backend says where it refuses; a difference as `compile_failed`.
Result<void> same_as_interpreted(const Backend& backend, const Program& program,
                                 const Target& target) {
  if (Result<void> verified = verify(program, target); !verified) return verified;
  const Result<Kernel> kernel = backend.compile(program, target);
  if (!kernel) return kernel.error();
  const Result<Kernel> literal = interpreter_backend().compile(program, target);
  for (const uint64_t seed : {1, 2, 3}) {
    const std::string wrong =
        difference(program, run(*kernel, program, seed), run(*literal, program, seed));
    if (!wrong.empty()) return Error{ErrorCode::compile_failed, wrong};
  }
  return {};
}

class ComputedCode : public ::testing::TestWithParam<Target> {};

INSTANTIATE_TEST_SUITE_P(Every, ComputedCode, ::testing::ValuesIn(targets_here()),
                         [](const auto& info) { return info.param.name; });

/// Every backend but the interpreter that knows the operations at all.
template <class Check>
void on_backends(const Check& check) {
  for (const Backend* backend : backends().first(backends().size() - 1)) {
    if (backend->name() != "xbyak") check(*backend);
  }
}

TEST_P(ComputedCode, ConvertsEveryTypeToEveryOther) {
  for (const ElementType from : all_types()) {
    Computation computation(GetParam());
    for (const ElementType to : all_types()) {
      if (element_converter(from, to) == nullptr) continue;
      const int64_t narrow = std::min(storage_bytes(from), storage_bytes(to));
      const int64_t wide = std::max(storage_bytes(from), storage_bytes(to));
      const int64_t part = GetParam().vector_bytes / wide * narrow;
      const Op op{.code = Code::convert, .type = to, .from = from};
      computation.add(op);
      if (narrow == wide) continue;
      Op last = op;
      last.at = uint8_t(GetParam().vector_bytes - part);
      if (storage_bytes(to) < storage_bytes(from)) last.b = 1;
      computation.add(last);
    }
    on_backends([&](const Backend& backend) {
      const Result<void> same = same_as_interpreted(backend, computation.program(), GetParam());
      EXPECT_TRUE(same) << backend.name() << ": " << same.error().message;
    });
  }
}

TEST_P(ComputedCode, DoesEveryOperationOnEveryType) {
  for (const ElementType type : all_types()) {
    Computation computation(GetParam());
    for (int k = 0; k <= int(Operation::greater_equal); ++k) {
      const auto operation = static_cast<Operation>(k);
      const bool is_inexact = !is_integer(type) && type != ElementType::pred;
      const bool is_function =
          is_inexact && (operation == Operation::remainder || operation == Operation::power);
      if (element_operation(operation, type) == nullptr) continue;
      const Op op{.code = Code::compute, .select = uint8_t(k), .type = type, .b = 1};
      if (!is_function) {
        computation.add(op);
        continue;
      }
      Computation alone(GetParam());
      alone.add(op);
      on_backends([&](const Backend& backend) {
        const Result<void> refused = same_as_interpreted(backend, alone.program(), GetParam());
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::unsupported) << refused.error().message;
      });
    }
    if (type == ElementType::f32 || type == ElementType::f64) {
      computation.add({.code = Code::round, .type = type});
    }
    on_backends([&](const Backend& backend) {
      const Result<void> same = same_as_interpreted(backend, computation.program(), GetParam());
      EXPECT_TRUE(same) << backend.name() << ": " << same.error().message;
    });
  }
}

/// Dividends next to a multiple of the divisor, of all sizes: where a quotient is easily one off.
std::pair<std::vector<uint8_t>, std::vector<uint8_t>> near_multiples(Random& random, int64_t bytes,
                                                                     int64_t width) {
  std::vector<uint8_t> a(static_cast<size_t>(bytes)), b = a;
  for (size_t k = 0; k < a.size(); k += size_t(width)) {
    const uint64_t divisor = random.next() >> random.between(0, 63);
    const uint64_t quotient = random.next() >> random.between(0, 63);
    const uint64_t dividend = divisor * quotient + uint64_t(random.between(-1, 1));
    const bool is_any = random.one_in(4);
    const uint64_t any = random.next();
    std::memcpy(&a[k], is_any ? &any : &dividend, size_t(width));
    std::memcpy(&b[k], &divisor, size_t(width));
  }
  return {a, b};
}

TEST_P(ComputedCode, DividesNearWholeQuotients) {
  for (const ElementType type : all_types()) {
    if (!is_integer(type)) continue;
    Computation computation(GetParam());
    for (const Operation operation : {Operation::divide, Operation::remainder}) {
      computation.add({.code = Code::compute, .select = uint8_t(operation), .type = type, .b = 1});
    }
    const Program program = computation.program();
    const Result<Kernel> literal = interpreter_backend().compile(program, GetParam());
    on_backends([&](const Backend& backend) {
      const Result<Kernel> kernel = backend.compile(program, GetParam());
      ASSERT_TRUE(kernel) << kernel.error().message;
      Random random(5);
      for (int round = 0; round < 200; ++round) {
        auto [a, b] = near_multiples(random, program.operands[1].end, storage_bytes(type));
        std::vector<uint8_t> is(static_cast<size_t>(program.operands[0].end)), must = is;
        void* const operands[] = {is.data(), a.data(), b.data()};
        void* const expected[] = {must.data(), a.data(), b.data()};
        kernel->entry(kernel->code.get(), operands, 0, unit_count(program));
        literal->entry(literal->code.get(), expected, 0, unit_count(program));
        ASSERT_EQ(difference(program, is, must), "") << backend.name();
      }
    });
  }
}

TEST_P(ComputedCode, WorksOnPackedElementsOfEveryWidth) {
  Computation computation(GetParam());
  for (const uint8_t bits : {1, 2, 4}) {
    for (const uint8_t order : {0, 1}) {
      const int part = GetParam().vector_bytes * bits / 8;
      for (int at = 0; at < GetParam().vector_bytes; at += part) {
        Op op{.code = Code::spread, .width = bits, .at = uint8_t(at), .select = order};
        computation.add(op);
        op.code = Code::pack;
        computation.add(op);
        op.b = 1;
        computation.add(op);
      }
    }
  }
  for (const uint8_t bits : {1, 2, 4}) {
    for (const Code code : {Code::mix_low, Code::mix_high}) {
      Op op{.code = code, .width = bits};
      computation.add(op);
      op.b = 1;
      computation.add(op);
    }
  }
  for (const Backend* backend : backends().first(backends().size() - 1)) {
    const Result<void> same = same_as_interpreted(*backend, computation.program(), GetParam());
    const bool lacks = backend->name() == "xbyak" && GetParam().vector_bytes == 16;
    const bool refused = !same && same.error().code == ErrorCode::unsupported;
    EXPECT_TRUE(same || (lacks && refused)) << backend->name() << ": " << same.error().message;
  }
}

/// All codes of 16-bit types, and of 8-bit ones many times over.
TEST_P(ComputedCode, ConvertsEveryCodeOfNarrowFloats) {
  for (const ElementType from : all_types()) {
    if (!is_float(from) || storage_bytes(from) > 2) continue;
    Program program{.vector_bytes = GetParam().vector_bytes};
    const int64_t vector = program.vector_bytes, count = vector / 4, narrow = storage_bytes(from);
    const int64_t units = 65536 / count;
    program.operands = {{Role::target, 0, 4 * 65536}, {Role::source, 0, narrow * 65536}};
    program.streams = {0, 1};
    const Block block = {
        {.code = Code::load, .stream = 1, .bytes = uint8_t(count * narrow), .to = 0},
        {.code = Code::convert, .type = ElementType::f32, .from = from, .to = 1, .a = 0},
        {.code = Code::store, .bytes = uint8_t(vector), .a = 1}};
    program.root.push_back(For{units, {{0, vector}, {1, count * narrow}}, {block}});
    std::vector<uint8_t> codes(size_t(narrow) * 65536), target(4 * 65536);
    for (uint32_t k = 0; k < 65536; ++k)
      std::memcpy(&codes[k * size_t(narrow)], &k, size_t(narrow));
    on_backends([&](const Backend& backend) {
      ASSERT_TRUE(verify(program, GetParam())) << verify(program, GetParam()).error().message;
      const Result<Kernel> kernel = backend.compile(program, GetParam());
      ASSERT_TRUE(kernel) << kernel.error().message;
      void* const operands[] = {target.data(), codes.data()};
      kernel->entry(kernel->code.get(), operands, 0, units);
      const ConvertElement convert = element_converter(from, ElementType::f32);
      for (size_t k = 0; k < 65536; ++k) {
        uint8_t expected[4];
        convert(&codes[k * size_t(narrow)], expected);
        ASSERT_EQ(std::memcmp(expected, &target[4 * k], 4), 0) << to_string(from) << " code " << k;
      }
    });
  }
}

}  // namespace
}  // namespace restride
