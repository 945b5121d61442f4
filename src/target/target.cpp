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

#include <array>

#include "target/features.hpp"
#include "target/read_make.hpp"

namespace restride {
namespace {

std::array<Target, 7> make_known_targets() {
  Target sse2;
  sse2.name = "sse2";
  sse2.vector_bytes = 16;
  sse2.registers = 14;
  Target avx2 = sse2;
  avx2.name = "avx2";
  avx2.vector_bytes = 32;
  avx2.registers = 15;
  avx2.shuffle_bytes = true;
  avx2.permute_width = 1;
  avx2.permute_bytes = 16;
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
  Target neon;
  neon.name = "neon";
  neon.architecture = Architecture::aarch64;
  neon.vector_bytes = 16;
  neon.registers = 30;
  neon.shuffle_bytes = true;
  neon.permute_width = 1;
  neon.nontemporal = false;
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
  static_cast<Make&>(host) = read_make();
  return host;
}

void take_make_of(const Target& host, Target& target) {
  static_cast<Make&>(target) = host;
  // What is written by half lines is read first: 67 MB with AVX2 .5 of the ceiling for 1.0.
  if (target.vector_bytes < host.line_bytes) target.streaming_fill_bytes = host.imaging_bytes;
}

}  // namespace

int network_piece_bytes(const Make& make, int64_t element_bytes) {
  constexpr int lane = 16;
  return element_bytes >= make.least_piece_element_bytes ? make.network_piece_bytes : lane;
}

void stream_beyond(Make& make, int64_t bytes) {
  make.crowded_between_lines_bytes = bytes;
  make.streaming_bytes = make.transposed_streaming_bytes = make.crowded_streaming_bytes =
      make.kept_crowded_streaming_bytes = make.narrow_streaming_bytes = bytes;
  make.gathered_streaming_bytes = make.streaming_fill_bytes = make.streaming_repeat_bytes =
      make.streaming_page_repeat_bytes = make.imaging_bytes = make.far_imaging_bytes = bytes;
}

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
