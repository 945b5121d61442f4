// Asks the processor, never its name: CPUID and XCR0 on x86-64; the hardware capabilities that the
// kernel passes, and the length of SVE registers that it gives this process, on Arm.
#include "target/features.hpp"

#include <array>
#include <bit>

#if defined(__x86_64__)
#include "target/cpuid.hpp"
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

namespace restride {
namespace {

using namespace feature;

struct FeatureName {
  Features bit;
  const char* name;
};

constexpr std::array<FeatureName, 13> names = {{
    {x86_64, "x86_64"},
    {avx2, "avx2"},
    {avx512f, "avx512f"},
    {avx512bw, "avx512bw"},
    {avx512dq, "avx512dq"},
    {avx512vl, "avx512vl"},
    {avx512vbmi, "avx512vbmi"},
    {avx512vbmi2, "avx512vbmi2"},
    {aarch64, "aarch64"},
    {neon, "neon"},
    {sve, "sve"},
    {sve_128_bits, "sve registers of 128 bits"},
    {sve_256_bits, "sve registers of 256 bits"},
}};

#if defined(__x86_64__)

/// What the operating system saves of the vector registers: XCR0, 0 where it cannot be read.
uint64_t saved_state() {
  constexpr uint32_t osxsave = 1u << 27;
  if (!has_bits(cpuid(1, 0).ecx, osxsave)) return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

Features detect() {
  // Every machine with AVX2 has F16C as well; code for AVX2 uses it.
  constexpr uint32_t avx_f16c = 1u << 28 | 1u << 29;  // leaf 1 ecx
  constexpr uint64_t ymm_state = 0x6, zmm_state = 0xe6;
  const uint64_t saved = saved_state();
  const CpuidRegisters leaf7 = cpuid(7, 0);
  Features found = x86_64;
  const auto take = [&](uint32_t word, int bit, Features feature) {
    if ((word >> bit & 1) != 0) found |= feature;
  };
  if (has_bits(saved, ymm_state) && has_bits(cpuid(1, 0).ecx, avx_f16c)) take(leaf7.ebx, 5, avx2);
  if (!has_bits(saved, zmm_state)) return found;
  take(leaf7.ebx, 16, avx512f);
  take(leaf7.ebx, 17, avx512dq);
  take(leaf7.ebx, 30, avx512bw);
  take(leaf7.ebx, 31, avx512vl);
  take(leaf7.ecx, 1, avx512vbmi);
  take(leaf7.ecx, 6, avx512vbmi2);
  return found;
}

#elif defined(__aarch64__) && defined(__linux__)

Features detect() {
  constexpr unsigned long asimd_capability = 1u << 1, sve_capability = 1u << 22;
  constexpr int get_vector_length = 51, length_mask = 0xffff;  // PR_SVE_GET_VL, bytes
  const unsigned long capabilities = getauxval(AT_HWCAP);
  Features found = aarch64;
  if ((capabilities & asimd_capability) != 0) found |= neon;
  if ((capabilities & sve_capability) == 0) return found;
  found |= sve;
  const int length = prctl(get_vector_length, 0, 0, 0, 0);
  if (length < 0) return found;
  if ((length & length_mask) == 16) found |= sve_128_bits;
  if ((length & length_mask) == 32) found |= sve_256_bits;
  return found;
}

#else

/// NEON is part of the architecture.
Features detect() { return aarch64 | neon; }

#endif

}  // namespace

Features required_features(const Target& target) {
  switch (instruction_set(target)) {
    case InstructionSet::sse2:
      return x86_64;
    case InstructionSet::avx2:
      return x86_64 | avx2;
    case InstructionSet::avx512:
      return x86_64 | avx2 | avx512f | avx512bw | avx512dq | avx512vl;
    case InstructionSet::avx512_vbmi:
      return x86_64 | avx2 | avx512f | avx512bw | avx512dq | avx512vl | avx512vbmi | avx512vbmi2;
    case InstructionSet::neon:
      return aarch64 | neon;
    case InstructionSet::sve128:
      return aarch64 | neon | sve | sve_128_bits;
    case InstructionSet::sve256:
      return aarch64 | neon | sve | sve_256_bits;
  }
  return ~Features{0};
}

Features host_features() {
  static const Features detected = detect();
  return detected;
}

std::string to_string_of_features(Features features) {
  std::string text;
  for (; features != 0; features &= features - 1) {
    const int bit = std::countr_zero(features);
    std::string name = "bit " + std::to_string(bit);
    for (const FeatureName& known : names) {
      if (known.bit >> bit == 1) name = known.name;
    }
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

}  // namespace restride
