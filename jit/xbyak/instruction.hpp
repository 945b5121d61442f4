// Instructions that are most of a kernel, encoded here.
//
// Nine in ten are loads, stores and moves of lanes and elements of whole vectors. For each xbyak
// looks at all that an instruction could be, which took a fifth of planning and compiling.
//
//     EVEX   62 | R X B R' 0 map | W vvvv 1 prefix | z length b V' mask | opcode | ModRM ...
//     VEX    C5 | R vvvv length prefix                                  | opcode | ModRM ...
//            C4 | R X B map      | W vvvv length prefix                 | opcode | ModRM ...
//
// Register numbers stand there inverted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace restride::xbyak {

/// `EVEX.512.66.0F3A.W0 38` of the manual is {3, 1, 0, 0x38}: map 1, 2 and 3 are 0F, 0F38 and
/// 0F3A, prefix 1, 2 and 3 are 66, F3 and F2.
struct EvexForm {
  uint8_t map, prefix, w, opcode;
  uint8_t unit = 64;  ///< of displacements that take one byte, bytes
};

namespace evex {

constexpr EvexForm load{1, 2, 1, 0x6f}, store{1, 2, 1, 0x7f}, store_nontemporal{1, 1, 0, 0xe7};
constexpr EvexForm insert_lane{3, 1, 0, 0x38, 16}, extract_lane{3, 1, 0, 0x39, 16};
constexpr EvexForm broadcast_lane{2, 1, 0, 0x5a, 16};
/// By the power of two that an element's width is.
constexpr std::array<EvexForm, 4> unpack_low = {
    {{1, 1, 0, 0x60}, {1, 1, 0, 0x61}, {1, 1, 0, 0x62}, {1, 1, 1, 0x6c}}};
constexpr std::array<EvexForm, 4> unpack_high = {
    {{1, 1, 0, 0x68}, {1, 1, 0, 0x69}, {1, 1, 0, 0x6a}, {1, 1, 1, 0x6d}}};
constexpr std::array<EvexForm, 4> permute_one = {
    {{2, 1, 0, 0x8d}, {2, 1, 1, 0x8d}, {2, 1, 0, 0x36}, {2, 1, 1, 0x36}}};
constexpr std::array<EvexForm, 4> permute_two = {
    {{2, 1, 0, 0x75}, {2, 1, 1, 0x75}, {2, 1, 0, 0x76}, {2, 1, 1, 0x76}}};

}  // namespace evex

/// Moves of unaligned vectors of 16 and 32 bytes, registers 0 to 15.
enum class VexMove : uint8_t { load = 0x6f, store = 0x7f };

/// An address as instructions have it: a register, perhaps rax, and a displacement.
struct Place {
  static constexpr int rip = -1;  ///< as a base: where the next instruction is

  int base;
  int32_t displacement = 0;
  bool plus_rax = false;
};

/// The vector registers of an instruction, by number; one that it lacks is 0.
struct EvexRegisters {
  int reg, second = 0;
  int mask = 0;  ///< 0: none
};

/// The bytes of an instruction.
class Instruction {
 public:
  static constexpr size_t most_bytes = 16;

  /// The last operand is a register.
  Instruction(const EvexForm& form, const EvexRegisters& registers, int last);
  /// The last operand is memory.
  Instruction(const EvexForm& form, const EvexRegisters& registers, const Place& place);
  Instruction(VexMove move, int vector_bytes, int reg, const Place& place);
  /// Asks for a line towards cache level 1, 2 or 3, or, level 0, to write it.
  static Instruction prefetch(int level, const Place& place);
  /// Adds to a general register other than rax.
  static Instruction add(int reg, int32_t number);

  /// An operand behind all others.
  Instruction& immediate(uint8_t byte) {
    append(byte);
    return *this;
  }

  const std::array<uint8_t, most_bytes>& bytes() const { return bytes_; }
  size_t size() const { return size_; }

 private:
  Instruction() = default;
  void begin(const EvexForm& form, const EvexRegisters& registers, int last);
  void memory(int reg, const Place& place, int unit);
  void append(unsigned byte) { bytes_[size_++] = static_cast<uint8_t>(byte); }
  void append_number(int32_t number);

  std::array<uint8_t, most_bytes> bytes_;
  size_t size_ = 0;
};

}  // namespace restride::xbyak
