// The machines a Program can be planned for, as data, and which of them this one is.
//
// A row of the table is a promise to the planner. Register counts are what the translators leave of
// the machine's:
//   sse2    14 of 16: one for pieces that need a detour, one because results overwrite their first
//   argument avx2    15 of 16: one for pieces inserted into a 32-byte vector avx512  31 of 32: one
//   for the index of a two-source permute neon    30 of 32: two for tables
//
// It does not decide what is planned for: that is PlanOptions::target.
#include "target.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace restride {
namespace {

#if defined(__x86_64__)

struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

bool has_bits(uint64_t word, uint64_t bits) { return (word & bits) == bits; }

/// What the operating system saves of the vector registers: XCR0, 0 where it cannot be read.
uint64_t saved_state() {
  constexpr uint32_t osxsave = 1u << 27;
  if (!has_bits(cpuid(1, 0).ecx, osxsave)) return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

InstructionSet detect_instruction_set() {
  constexpr uint32_t avx = 1u << 28;                                          // leaf 1 ecx
  constexpr uint32_t avx2 = 1u << 5;                                          // leaf 7 ebx
  constexpr uint32_t f_dq_bw_vl = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;  // leaf 7 ebx
  constexpr uint32_t vbmi = 1u << 1;                                          // leaf 7 ecx
  constexpr uint64_t ymm_state = 0x6, zmm_state = 0xe6;                       // XCR0
  const uint64_t saved = saved_state();
  const Registers features = cpuid(7, 0);
  if (!has_bits(saved, ymm_state) || !has_bits(cpuid(1, 0).ecx, avx) ||
      !has_bits(features.ebx, avx2)) {
    return InstructionSet::sse2;
  }
  if (!has_bits(saved, zmm_state) || !has_bits(features.ebx, f_dq_bw_vl)) {
    return InstructionSet::avx2;
  }
  return has_bits(features.ecx, vbmi) ? InstructionSet::avx512_vbmi : InstructionSet::avx512;
}

/// Takes the sizes of the data caches from the leaf in which a maker describes them: 4, or
/// 0x8000001d at AMD.
void read_caches(uint32_t leaf, Target& target) {
  constexpr int most_caches = 8;
  for (int k = 0; k < most_caches; ++k) {
    const Registers r = cpuid(leaf, uint32_t(k));
    const uint32_t kind = r.eax & 31, level = r.eax >> 5 & 7;
    if (kind == 0) return;
    if (kind == 2) continue;  // instructions only
    const int64_t ways = (r.ebx >> 22) + 1, partitions = (r.ebx >> 12 & 1023) + 1;
    const int64_t line = (r.ebx & 4095) + 1;
    const int64_t bytes = ways * partitions * line * (int64_t{r.ecx} + 1);
    if (level == 1) target.l1_bytes = bytes, target.line_bytes = line;
    if (level == 2) target.l2_bytes = bytes;
    if (level == 3) target.l3_bytes = bytes;
  }
}

void read_caches(Target& target) {
  constexpr uint32_t amd_extensions = 0x80000001, amd_caches = 0x8000001d, topology = 1u << 22;
  read_caches(4, target);
  const bool amd = has_bits(cpuid(amd_extensions, 0).ecx, topology);
  if (amd) read_caches(amd_caches, target);
  // A third level near the cores (AMD; Intel's where it includes the second) is worth writing to:
  // on Zen 4 regular stores win until three quarters of it are full. Intel's servers have one
  // behind a mesh: on Sapphire Rapids a copy of 2 MiB in all is 1.2 times faster with regular
  // stores, one of 4 MiB 1.3 times slower.
  constexpr uint32_t third_level = 3, inclusive = 1u << 1;
  const bool near = amd || has_bits(cpuid(4, third_level).edx, inclusive);
  target.streaming_bytes = near ? target.l3_bytes / 4 * 3 : target.l2_bytes / 4 * 5;
}

#else

InstructionSet detect_instruction_set() { return InstructionSet::neon; }

void read_caches(Target& target) {
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  const auto take = [](int name, int64_t& bytes) {
    const int64_t value = sysconf(name);
    if (value > 0) bytes = value;
  };
  take(_SC_LEVEL1_DCACHE_LINESIZE, target.line_bytes);
  take(_SC_LEVEL1_DCACHE_SIZE, target.l1_bytes);
  take(_SC_LEVEL2_CACHE_SIZE, target.l2_bytes);
  take(_SC_LEVEL3_CACHE_SIZE, target.l3_bytes);
#else
  (void)target;
#endif
}

#endif

InstructionSet host_instruction_set() {
  static const InstructionSet detected = detect_instruction_set();
  return detected;
}

std::array<Target, 5> make_known_targets() {
  Target sse2{.name = "sse2", .vector_bytes = 16, .registers = 14};
  Target avx2{.name = "avx2", .vector_bytes = 32, .registers = 15, .shuffle_bytes = true};
  Target avx512 = avx2;
  avx512.name = "avx512";
  avx512.vector_bytes = 64;
  avx512.registers = 31;
  avx512.byte_masks = true;
  avx512.permute_width = 2;
  Target avx512_vbmi = avx512;
  avx512_vbmi.name = "avx512_vbmi";
  avx512_vbmi.permute_width = 1;
  Target neon{.name = "neon",
              .architecture = Architecture::aarch64,
              .vector_bytes = 16,
              .registers = 30,
              .shuffle_bytes = true,
              .nontemporal = false};
  return {sse2, avx2, avx512, avx512_vbmi, neon};
}

Target make_host_target() {
  Target host;
  for (const Target& target : known_targets()) {
    if (runs_here(target)) host = target;
  }
  read_caches(host);
  const int64_t page = sysconf(_SC_PAGESIZE);
  if (page > 0) host.page_bytes = page;
  return host;
}

void take_memory_of(const Target& host, Target& target) {
  target.line_bytes = host.line_bytes;
  target.page_bytes = host.page_bytes;
  target.l1_bytes = host.l1_bytes;
  target.l2_bytes = host.l2_bytes;
  target.l3_bytes = host.l3_bytes;
  target.streaming_bytes = host.streaming_bytes;
}

}  // namespace

InstructionSet instruction_set(const Target& target) {
  if (target.architecture == Architecture::aarch64) return InstructionSet::neon;
  if (target.permute_width == 1) return InstructionSet::avx512_vbmi;
  if (target.vector_bytes > 32 || target.registers > 15 || target.byte_masks ||
      target.permute_width > 0) {
    return InstructionSet::avx512;
  }
  if (target.vector_bytes > 16 || target.registers > 14 || target.shuffle_bytes) {
    return InstructionSet::avx2;
  }
  return InstructionSet::sse2;
}

std::span<const Target> known_targets() {
  static const std::array<Target, 5> targets = make_known_targets();
  return targets;
}

const Target& host_target() {
  static const Target host = make_host_target();
  return host;
}

Result<Target> find_target(std::string_view name) {
  if (name == "host") return host_target();
  std::string known = "host";
  for (const Target& target : known_targets()) {
    if (target.name == name) {
      Target found = target;
      if (runs_here(found)) take_memory_of(host_target(), found);
      return found;
    }
    known += ", " + target.name;
  }
  return Error{ErrorCode::invalid_argument,
               "target = '" + std::string(name) + "': must be one of " + known};
}

bool runs_here(const Target& target) {
#if defined(__x86_64__)
  constexpr Architecture here = Architecture::x86_64;
#else
  constexpr Architecture here = Architecture::aarch64;
#endif
  return target.architecture == here && instruction_set(target) <= host_instruction_set();
}

}  // namespace restride
