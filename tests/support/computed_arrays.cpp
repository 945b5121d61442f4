// See computed_arrays.hpp.
#include "support/computed_arrays.hpp"

#include <cstring>
#include <iterator>
#include <utility>

#include "code_arena.hpp"
#include "support/random.hpp"
#include "xbyak/xbyak_backend.hpp"

namespace restride::testing {

using namespace program;

namespace {

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

/// The element that starts at byte `at`, as a number.
std::string hexadecimal(const Bytes& bytes, size_t at, int64_t width) {
  std::string digits = "0x";
  for (size_t k = size_t(width); k-- > 0;) {
    digits += "0123456789abcdef"[bytes[at + k] >> 4];
    digits += "0123456789abcdef"[bytes[at + k] & 15];
  }
  return digits;
}

}  // namespace

std::vector<ElementType> converted_types() {
  std::vector<ElementType> types(std::begin(computed_types), std::end(computed_types));
  for (int type = int(ElementType::f8e5m2); type <= int(ElementType::f4e2m1fn); ++type)
    types.push_back(ElementType(type));
  types.insert(types.end(), {ElementType::c64, ElementType::c128});
  return types;
}

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

Bytes sources_of(ElementType type) {
  if (is_complex(type))
    return sources_of(type == ElementType::c64 ? ElementType::f32 : ElementType::f64);
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

}  // namespace restride::testing
