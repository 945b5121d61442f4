// The machines a Program can be planned for, as data, and which of them this one is.
//
// A row of the table is a promise to the planner. Register counts are what the translators leave of
// the machine's:
//
//     sse2    14 of 16  one for pieces that need a detour, one because results overwrite their
//                       first argument
//     avx2    15 of 16  one for pieces inserted into a 32-byte vector
//     avx512  31 of 32  one for the index of a two-source permute
//     neon    30 of 32  two for tables
//
// It does not decide what is planned for: that is PlanOptions::target.
#include "target/target.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "target/features.hpp"
#if defined(__x86_64__)
#include "target/cpuid.hpp"
#endif

namespace restride {
namespace {

#if defined(__x86_64__)

/// Takes the sizes of the data caches from the leaf in which a maker describes them: 4, or
/// 0x8000001d at AMD.
void read_caches(uint32_t leaf, Target& target) {
  constexpr int most_caches = 8;
  for (int k = 0; k < most_caches; ++k) {
    const CpuidRegisters r = cpuid(leaf, uint32_t(k));
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

/// Of the processor among those of its maker: 25 is Zen 3 and 4, 26 Zen 5.
uint32_t family() {
  const uint32_t version = cpuid(1, 0).eax, base = version >> 8 & 15;
  return base < 15 ? base : base + (version >> 20 & 255);
}

void read_make(Target& target) {
  constexpr uint32_t amd_extensions = 0x80000001, amd_caches = 0x8000001d, topology = 1u << 22;
  read_caches(4, target);
  const bool amd = has_bits(cpuid(amd_extensions, 0).ecx, topology);
  if (amd) read_caches(amd_caches, target);
  // A third level near the cores (AMD; Intel's where it includes the second) is worth writing to:
  // on Zen 5 regular stores win until five eighths of it are full (f32 1400 x 1420, 16 MB in all,
  // 1.11 times, 1700 x 1720, 23 MB, .81). Intel's servers have one
  // behind a mesh: on Sapphire Rapids a copy of 2 MiB in all is 1.2 times faster with regular
  // stores, one of 4 MiB 1.3 times slower.
  constexpr uint32_t third_level = 3, inclusive = 1u << 1;
  const bool near = amd || has_bits(cpuid(4, third_level).edx, inclusive);
  target.streaming_bytes = near ? target.l3_bytes / 8 * 5 : target.l2_bytes / 4 * 5;
  // Not if few sets have to hold what is written: f32 1024 x 1024 .23 -> .69 of the ceiling, u8
  // 2048 x 2048 .22 -> .41, f16[32,2048,7,7]{1,3,2,0} .18 -> .56; but u8 512 x 512 .41 -> .20.
  target.crowded_streaming_bytes = std::min(target.streaming_bytes, target.l2_bytes / 2 * 3);
  // What is only written may lie behind the mesh: there regular stores fill 4 to 16 MiB 1.1 to 1.3
  // times faster, 17 to 64 MiB 1.5 times, where a quarter of it is to be had. (Where neighbours
  // leave less, 17 to 28 MiB take 1.2 times as long in the median, 32 MiB up to 2.5 times.)
  // Where it is near, on Zen 5 17 to 31 MiB of 32 1.2 to 2.1 times faster.
  target.streaming_fill_bytes =
      near ? target.l3_bytes / 16 * 15 : std::max(target.l2_bytes * 8, target.l3_bytes / 4);
  // Of 64 random transposes of 4 to 16 MB those that were moved through the caches took .78 of the
  // time, of 128 larger ones 1.3 times as much.
  target.imaging_bytes = near ? target.streaming_bytes : target.l2_bytes * 8;
  // There lines that are asked for before they are written come sooner: a fill of 3 MiB 1.15 times,
  // of 1.5 or 6 MiB 1.07 times.
  if (!near) target.claiming_bytes = target.l2_bytes / 2;
  // vpermi2b and vpermi2w: one operation on Zen 4, three on Sapphire Rapids.
  target.narrow_permute_steps = amd ? 1 : 3;
  // Zen 5: rows of 128 bytes to 8 KB in the order of the source .75 -> .90 of the ceiling, by one
  // load in a loop of its own .94; that alone .68.
  target.reads_ahead_by_step = amd;
  // Zen 5: rows of 40 bytes one after the other by loads through masks 15 GB/s, by others 32.
  target.reads_ahead_of_masks = !amd;
  // Zen 5, 12 problems of ttc and 4 matrices: runs of 256 bytes .93 of the time
  // (f32[28,28,28,48,48] {3,1,4,0,2} .63 -> .79 of the ceiling, u16 4096 x 4096 .65 -> .92), of
  // 512 1.14.
  if (amd) target.long_run_bytes = 256;
  if (amd) target.uncut_run_bytes = 2048;
  if (amd) target.asked_level = 1;
  // Zen 5 loads two pieces a cycle and unpacks four vectors: f32 64 x 64 .43 -> .67 of the ceiling,
  // 69 random transposes of 4 KB to 4 MB .92 of the time. Not measured on Zen 4, whose units are
  // half as wide.
  constexpr uint32_t zen5 = 26;
  if (amd && family() >= zen5) target.network_piece_bytes = 32;
  // Of 3072 (Zen 4) or 4096 (Zen 5): 7 problems of ttc .99 of the time, ttc56 .93.
  if (amd) target.translated_pages = 2688;
}

#else

void read_make(Target& target) {
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

std::array<Target, 7> make_known_targets() {
  Target sse2{.name = "sse2", .vector_bytes = 16, .registers = 14};
  Target avx2{.name = "avx2",
              .vector_bytes = 32,
              .registers = 15,
              .shuffle_bytes = true,
              .permute_width = 1,
              .permute_bytes = 16};
  Target avx512 = avx2;
  avx512.name = "avx512";
  avx512.vector_bytes = 64;
  avx512.registers = 31;
  avx512.byte_masks = true;
  avx512.permute_width = 2;
  avx512.permute_bytes = 64;
  Target avx512_vbmi = avx512;
  avx512_vbmi.name = "avx512_vbmi";
  avx512_vbmi.permute_width = 1;
  Target neon{.name = "neon",
              .architecture = Architecture::aarch64,
              .vector_bytes = 16,
              .registers = 30,
              .shuffle_bytes = true,
              .permute_width = 1,
              .nontemporal = false};
  Target sve128 = neon;
  sve128.name = "sve128";
  sve128.byte_masks = true;
  Target sve256 = sve128;
  sve256.name = "sve256";
  sve256.vector_bytes = 32;
  sve256.permute_width = 0;
  return {sse2, avx2, avx512, avx512_vbmi, neon, sve128, sve256};
}

Target make_host_target() {
  Target host;
  for (const Target& target : known_targets()) {
    if (runs_here(target)) host = target;
  }
  read_make(host);
  const int64_t page = sysconf(_SC_PAGESIZE);
  if (page > 0) host.page_bytes = page;
  return host;
}

void take_make_of(const Target& host, Target& target) {
  target.narrow_permute_steps = host.narrow_permute_steps;
  target.line_bytes = host.line_bytes;
  target.page_bytes = host.page_bytes;
  target.l1_bytes = host.l1_bytes;
  target.l2_bytes = host.l2_bytes;
  target.l3_bytes = host.l3_bytes;
  target.streaming_bytes = host.streaming_bytes;
  target.crowded_streaming_bytes = host.crowded_streaming_bytes;
  // What is written by half lines is read first: 67 MB with AVX2 .5 of the ceiling for 1.0.
  const bool lines = target.vector_bytes >= host.line_bytes;
  target.streaming_fill_bytes = lines ? host.streaming_fill_bytes : host.imaging_bytes;
  target.imaging_bytes = host.imaging_bytes;
  target.claiming_bytes = host.claiming_bytes;
  target.shifting_run_bytes = host.shifting_run_bytes;
  target.reads_ahead_by_step = host.reads_ahead_by_step;
  target.reads_ahead_of_masks = host.reads_ahead_of_masks;
  target.long_run_bytes = host.long_run_bytes;
  target.uncut_run_bytes = host.uncut_run_bytes;
  target.asked_level = host.asked_level;
  target.network_piece_bytes = host.network_piece_bytes;
  target.translated_pages = host.translated_pages;
}

}  // namespace

InstructionSet instruction_set(const Target& target) {
  if (target.architecture == Architecture::aarch64) {
    if (target.vector_bytes > 16) return InstructionSet::sve256;
    return target.byte_masks ? InstructionSet::sve128 : InstructionSet::neon;
  }
  const bool permutes = target.permute_width > 0, across = permutes && target.permute_bytes > 16;
  if (across && target.permute_width == 1) return InstructionSet::avx512_vbmi;
  if (target.vector_bytes > 32 || target.registers > 15 || target.byte_masks || across) {
    return InstructionSet::avx512;
  }
  if (target.vector_bytes > 16 || target.registers > 14 || target.shuffle_bytes || permutes) {
    return InstructionSet::avx2;
  }
  return InstructionSet::sse2;
}

bool permutes_lanes(const Target& target) {
  return target.permute_width > 0 && target.permute_bytes < target.vector_bytes;
}

std::span<const Target> known_targets() {
  static const std::array<Target, 7> targets = make_known_targets();
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
      if (runs_here(found)) take_make_of(host_target(), found);
      return found;
    }
    known += ", " + target.name;
  }
  return Error{ErrorCode::invalid_argument,
               "target = '" + std::string(name) + "': must be one of " + known};
}

bool runs_here(const Target& target) { return (required_features(target) & ~host_features()) == 0; }

}  // namespace restride
