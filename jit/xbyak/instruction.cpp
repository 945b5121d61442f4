// See instruction.hpp.
#include "xbyak/instruction.hpp"

#include <cstring>

namespace restride::xbyak {

namespace {

// Fields of ModRM: what the last operand is, and registers that mean something else there.
constexpr unsigned is_register = 0xc0, byte_follows = 0x40, four_bytes_follow = 0x80;
constexpr int has_sib = 4, is_rip = 5;
// In SIB, where rax is register 0.
constexpr int no_index = 4;

unsigned bit(int number, int place) { return static_cast<unsigned>(number) >> place & 1; }
unsigned inverted(int number, int place) { return bit(number, place) ^ 1; }

/// Whether the base is one of registers 8 to 15.
bool is_high(const Place& place) { return place.base > 7; }

}  // namespace

/// `last`: a vector register, or the base of an address.
void Instruction::begin(const EvexForm& form, const EvexRegisters& registers, int last) {
  constexpr unsigned whole_vectors = 2;
  append(0x62);
  append(inverted(registers.reg, 3) << 7 | inverted(last, 4) << 6 | inverted(last, 3) << 5 |
         inverted(registers.reg, 4) << 4 | form.map);
  append(unsigned{form.w} << 7 | (~static_cast<unsigned>(registers.second) & 15) << 3 | 4 |
         form.prefix);
  append(whole_vectors << 5 | inverted(registers.second, 4) << 3 |
         static_cast<unsigned>(registers.mask));
  append(form.opcode);
}

Instruction::Instruction(const EvexForm& form, const EvexRegisters& registers, int last) {
  begin(form, registers, last);
  append(is_register | static_cast<unsigned>((registers.reg & 7) << 3 | (last & 7)));
}

Instruction::Instruction(const EvexForm& form, const EvexRegisters& registers, const Place& place) {
  begin(form, registers, place.base == Place::rip ? 0 : place.base);
  memory(registers.reg, place, form.unit);
}

Instruction::Instruction(VexMove move, int vector_bytes, int reg, const Place& place) {
  constexpr unsigned f3 = 2, map_0f = 1, no_second = 15 << 3, long_vectors = 4;
  const unsigned fields = no_second | (vector_bytes == 32 ? long_vectors : 0) | f3;
  if (is_high(place)) {
    append(0xc4);
    append(inverted(reg, 3) << 7 | 1 << 6 | map_0f);
    append(fields);
  } else {
    append(0xc5);
    append(inverted(reg, 3) << 7 | fields);
  }
  append(static_cast<unsigned>(move));
  memory(reg, place, 1);
}

Instruction Instruction::prefetch(int level, const Place& place) {
  constexpr unsigned rex_b = 0x41;
  Instruction code;
  if (is_high(place)) code.append(rex_b);
  code.append(0x0f);
  code.append(level == 0 ? 0x0d : 0x18);
  code.memory(level == 0 ? 1 : level, place, 1);
  return code;
}

Instruction Instruction::add(int reg, int32_t number) {
  constexpr unsigned rex_w = 0x48, of_byte = 0x83, of_four_bytes = 0x81;
  const bool is_short = number == static_cast<int8_t>(number);
  Instruction code;
  code.append(rex_w | bit(reg, 3));
  code.append(is_short ? of_byte : of_four_bytes);
  code.append(is_register | static_cast<unsigned>(reg & 7));
  if (is_short) {
    code.append(static_cast<unsigned>(number));
  } else {
    code.append_number(number);
  }
  return code;
}

/// ModRM and what follows. A displacement that counts whole units may take one byte.
void Instruction::memory(int reg, const Place& place, int unit) {
  const auto field = static_cast<unsigned>((reg & 7) << 3);
  if (place.base == Place::rip) {
    append(field | is_rip);
    return append_number(place.displacement);
  }
  const int base = place.base & 7, units = place.displacement / unit;
  const bool none = place.displacement == 0 && base != is_rip;
  const bool is_short = place.displacement % unit == 0 && units == static_cast<int8_t>(units);
  const unsigned mode = none ? 0 : is_short ? byte_follows : four_bytes_follow;
  const bool sib = place.plus_rax || base == has_sib;
  append(mode | field | static_cast<unsigned>(sib ? has_sib : base));
  if (sib) append(static_cast<unsigned>((place.plus_rax ? 0 : no_index << 3) | base));
  if (none) return;
  if (is_short) return append(static_cast<unsigned>(units));
  append_number(place.displacement);
}

void Instruction::append_number(int32_t number) {
  std::memcpy(&bytes_[size_], &number, sizeof number);
  size_ += sizeof number;
}

}  // namespace restride::xbyak
