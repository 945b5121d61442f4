// What the translator must know of a whole Program before its first instruction: one cheap walk.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "program/program.hpp"
#include "xbyak/held_tables.hpp"

namespace restride::xbyak {

/// A set of the byte masks that are worth a mask register.
struct Masks {
  static constexpr int most = 6;  ///< k1 to k6; k7 is loaded where none of them fits

  int size = 0;
  std::array<uint64_t, most> bits{};

  /// The mask register that holds `mask`, or 0.
  int find(uint64_t mask) const;
  void add(uint64_t mask);
};

struct Survey {
  std::array<int64_t, program::max_streams>
      uses{};             ///< of each stream, deeper ones count more; 0: never
  int height = 0;         ///< loops in loops
  int digits = 0;         ///< wraps in all
  size_t code_bound = 0;  ///< bytes of code and tables, an upper bound
  bool nontemporal = false;
  bool takes_many_temporaries = false;   ///< conversions of floats of 8 bits and less,
                                         ///< or by permutes
  const program::Op* refused = nullptr;  ///< the first operation without a translation
  HeldTables held;                       ///< with AVX-512
  Masks masks;  ///< of partial loads and stores and of blends, where the target has byte masks
};

/// The bytes [at, at + bytes) as a mask of bytes.
uint64_t byte_mask(int at, int bytes);

/// Whether bytes of a type are brought to those of a wider one by a permute with zeros: the first
/// step of a conversion. And which bytes of elements of `to` bytes they become.
bool widens_by_permute(ElementType from, ElementType to);
uint64_t widened_bytes(int from_bytes, int to_bytes, int first_byte);

/// The bytes that a permute of two registers takes from the second, if all stay in their places.
std::optional<uint64_t> blend_mask(const Program& program, const program::Op& op);

/// Whether a permute of two registers takes the odd elements of the first, each to the place before
/// its own, and the even ones of the second, to the place behind, and funnel shifts of elements
/// twice as wide do so.
bool is_funnel(const Program& program, const program::Op& op, InstructionSet set);

/// The 16-byte lane that starts at byte `at` as a mask of 4-byte elements.
uint64_t lane_mask(int at);

/// Whether one instruction without a mask moves this many bytes at the start of a register.
bool is_whole_piece(int bytes, int vector_bytes);

Survey survey(const Program& program, const Target& target);

}  // namespace restride::xbyak
