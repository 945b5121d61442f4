// What a permute takes in every lane, byte by byte, and which single instructions take just that.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "program/program.hpp"

namespace restride::xbyak {

/// Where each byte of a lane comes from: 0 to 15 of the first register, 16 to 31 of the second, or
/// program::undefined.
using ByteChoice = std::array<uint8_t, program::lane_bytes>;

/// Pre: a permute within lanes.
ByteChoice byte_choice(const Program& program, const program::Op& op);

/// Whether the bytes that come from register `from` (0 or 1) stay in their places.
bool stays(const ByteChoice& choice, int from);

/// The places of bytes of register `from`, for vpshufb, which clears all others.
ByteChoice places(const ByteChoice& choice, int from);

/// The bytes that come from register `from`, a bit each.
uint16_t bytes_from(const ByteChoice& choice, int from);

/// Ones where a byte comes from register `from`.
ByteChoice ones(const ByteChoice& choice, int from);

/// The elements of `width` bytes that come from the second register, a bit each, if all elements
/// stay in their places and are whole.
std::optional<uint8_t> blended(const ByteChoice& choice, int width);

/// Halves of two registers unpacked, by elements of `width` bytes.
struct Unpacking {
  program::Code code;
  int width, first;  ///< the register that comes first
};
std::optional<Unpacking> unpacking(const ByteChoice& choice);

/// Consecutive bytes from byte `begin` of `low` on, then of the other register.
struct Alignment {
  int begin, low;
};
std::optional<Alignment> alignment(const ByteChoice& choice);

/// Two elements of 4 bytes of register `first`, then two of the other one.
struct HalfChoice {
  uint8_t select;  ///< two bits each
  int first;
};
std::optional<HalfChoice> half_choice(const ByteChoice& choice);

}  // namespace restride::xbyak
