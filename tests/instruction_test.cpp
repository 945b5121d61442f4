// Instructions that are encoded here, against xbyak: the same bytes for every register and for
// displacements of every size.
#include "xbyak/instruction.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#define XBYAK_NO_EXCEPTION
#include <xbyak/xbyak.h>

namespace restride::xbyak {
namespace {

using Xbyak::Address;
using Xbyak::CodeGenerator;
using Xbyak::Operand;
using Xbyak::Opmask;
using Xbyak::Xmm;
using Xbyak::Ymm;
using Xbyak::Zmm;
using Bytes = std::vector<uint8_t>;

Bytes encoded(const Instruction& code) {
  return {code.bytes().begin(), code.bytes().begin() + static_cast<std::ptrdiff_t>(code.size())};
}

Bytes encoded_by_xbyak(const std::function<void(CodeGenerator&)>& emit) {
  CodeGenerator code;
  emit(code);
  return {code.getCode(), code.getCode() + code.getSize()};
}

Address address(CodeGenerator& code, const Place& place) {
  if (place.base == Place::rip) return code.ptr[code.rip + place.displacement];
  const Xbyak::Reg64 base(place.base);
  return place.plus_rax ? code.ptr[base + code.rax] : code.ptr[base + place.displacement];
}

constexpr int lane = 3, mask = 5;

/// An instruction whose last operand is memory, as it is encoded here and by xbyak.
struct MemoryCase {
  std::string_view name;
  int registers;  ///< how many there are
  Instruction (*here)(int number, const Place& place);
  void (*there)(CodeGenerator& code, int number, const Address& address);
};

const std::vector<MemoryCase> memory_cases = {
    {"load", 32, [](int n, const Place& at) { return Instruction(evex::load, {n}, at); },
     [](CodeGenerator& code, int n, const Address& at) { code.vmovdqu64(Zmm(n), at); }},
    {"store", 32, [](int n, const Place& at) { return Instruction(evex::store, {n}, at); },
     [](CodeGenerator& code, int n, const Address& at) { code.vmovdqu64(at, Zmm(n)); }},
    {"store_nontemporal", 32,
     [](int n, const Place& at) { return Instruction(evex::store_nontemporal, {n}, at); },
     [](CodeGenerator& code, int n, const Address& at) { code.vmovntdq(at, Zmm(n)); }},
    {"insert_lane", 32,
     [](int n, const Place& at) {
       return Instruction(evex::insert_lane, {n, 31 - n}, at).immediate(lane);
     },
     [](CodeGenerator& code, int n, const Address& at) {
       code.vinserti32x4(Zmm(n), Zmm(31 - n), at, lane);
     }},
    {"extract_lane", 32,
     [](int n, const Place& at) {
       return Instruction(evex::extract_lane, {n}, at).immediate(lane);
     },
     [](CodeGenerator& code, int n, const Address& at) { code.vextracti32x4(at, Zmm(n), lane); }},
    {"broadcast_lane", 32,
     [](int n, const Place& at) {
       return Instruction(evex::broadcast_lane, {n, 0, mask}, at);
     },
     [](CodeGenerator& code, int n, const Address& at) {
       code.vbroadcasti32x4(Zmm(n) | Opmask(mask), at);
     }},
    {"load of 32 bytes", 16,
     [](int n, const Place& at) { return Instruction(VexMove::load, 32, n, at); },
     [](CodeGenerator& code, int n, const Address& at) { code.vmovdqu(Ymm(n), at); }},
    {"store of 32 bytes", 16,
     [](int n, const Place& at) { return Instruction(VexMove::store, 32, n, at); },
     [](CodeGenerator& code, int n, const Address& at) { code.vmovdqu(at, Ymm(n)); }},
    {"load of 16 bytes", 16,
     [](int n, const Place& at) { return Instruction(VexMove::load, 16, n, at); },
     [](CodeGenerator& code, int n, const Address& at) { code.vmovdqu(Xmm(n), at); }},
    {"store of 16 bytes", 16,
     [](int n, const Place& at) { return Instruction(VexMove::store, 16, n, at); },
     [](CodeGenerator& code, int n, const Address& at) { code.vmovdqu(at, Xmm(n)); }},
    {"prefetch to write", 1, [](int, const Place& at) { return Instruction::prefetch(0, at); },
     [](CodeGenerator& code, int, const Address& at) { code.prefetchw(at); }},
    {"prefetch to L1", 1, [](int, const Place& at) { return Instruction::prefetch(1, at); },
     [](CodeGenerator& code, int, const Address& at) { code.prefetcht0(at); }},
    {"prefetch to L2", 1, [](int, const Place& at) { return Instruction::prefetch(2, at); },
     [](CodeGenerator& code, int, const Address& at) { code.prefetcht1(at); }},
    {"prefetch to L3", 1, [](int, const Place& at) { return Instruction::prefetch(3, at); },
     [](CodeGenerator& code, int, const Address& at) { code.prefetcht2(at); }},
};

const std::vector<int32_t> displacements = {
    0,         1,        -1,       15,        16,        -16,       64,        -64,
    65,        127,      128,      -128,      -129,      127 * 16,  128 * 16,  -128 * 16,
    -129 * 16, 127 * 64, 128 * 64, -128 * 64, -129 * 64, INT32_MAX, INT32_MIN, 1 << 20};

void compare(const MemoryCase& test, int number, const Place& place) {
  const Bytes expected = encoded_by_xbyak(
      [&](CodeGenerator& xbyak) { test.there(xbyak, number, address(xbyak, place)); });
  EXPECT_EQ(encoded(test.here(number, place)), expected)
      << test.name << ", vector " << number << ", register " << place.base << " + "
      << place.displacement << (place.plus_rax ? " + rax" : "");
}

TEST(Instruction, ReachesMemoryAsXbyakDoes) {
  for (const MemoryCase& test : memory_cases) {
    for (int number = 0; number < test.registers; ++number) {
      for (int base = 0; base < 16; ++base) compare(test, number, {base, 64});
      compare(test, number, {Place::rip});
    }
    for (int base = 0; base < 16; ++base) {
      for (const int32_t displacement : displacements) compare(test, 0, {base, displacement});
      const bool is_stack_pointer = base == 4;
      if (!is_stack_pointer) compare(test, test.registers - 1, {.base = base, .plus_rax = true});
    }
  }
}

using BetweenRegisters = void (CodeGenerator::*)(const Xmm&, const Xmm&, const Operand&);

TEST(Instruction, WorksOnRegistersAsXbyakDoes) {
  const std::vector<std::pair<EvexForm, BetweenRegisters>> cases = {
      {evex::unpack_low[0], &CodeGenerator::vpunpcklbw},
      {evex::unpack_low[1], &CodeGenerator::vpunpcklwd},
      {evex::unpack_low[2], &CodeGenerator::vpunpckldq},
      {evex::unpack_low[3], &CodeGenerator::vpunpcklqdq},
      {evex::unpack_high[0], &CodeGenerator::vpunpckhbw},
      {evex::unpack_high[1], &CodeGenerator::vpunpckhwd},
      {evex::unpack_high[2], &CodeGenerator::vpunpckhdq},
      {evex::unpack_high[3], &CodeGenerator::vpunpckhqdq},
      {evex::permute_one[0], &CodeGenerator::vpermb},
      {evex::permute_one[1], &CodeGenerator::vpermw},
      {evex::permute_two[0], &CodeGenerator::vpermi2b},
      {evex::permute_two[1], &CodeGenerator::vpermi2w},
      {evex::permute_two[2], &CodeGenerator::vpermi2d},
      {evex::permute_two[3], &CodeGenerator::vpermi2q}};
  for (const auto& [form, emit] : cases) {
    for (int to = 0; to < 32; ++to) {
      const int a = (to + 13) % 32, b = (to + 7) % 32;
      const Bytes expected = encoded_by_xbyak(
          [&, emit = emit](CodeGenerator& xbyak) { (xbyak.*emit)(Zmm(to), Zmm(a), Zmm(b)); });
      EXPECT_EQ(encoded(Instruction(form, {to, a}, b)), expected)
          << int{form.opcode} << " zmm" << to << " zmm" << a << " zmm" << b;
    }
  }
}

TEST(Instruction, PermutesWideElementsAsXbyakDoes) {
  for (int to = 0; to < 32; ++to) {
    const Zmm a((to + 13) % 32), b((to + 7) % 32);
    const EvexRegisters registers{to, a.getIdx()};
    EXPECT_EQ(encoded(Instruction(evex::permute_one[2], registers, b.getIdx())),
              encoded_by_xbyak([&](CodeGenerator& xbyak) { xbyak.vpermd(Zmm(to), a, b); }));
    EXPECT_EQ(encoded(Instruction(evex::permute_one[3], registers, b.getIdx())),
              encoded_by_xbyak([&](CodeGenerator& xbyak) { xbyak.vpermq(Zmm(to), a, b); }));
  }
}

TEST(Instruction, AddsAsXbyakDoes) {
  for (int number = 1; number < 16; ++number) {
    for (const int32_t added : displacements) {
      EXPECT_EQ(encoded(Instruction::add(number, added)),
                encoded_by_xbyak([&](auto& xbyak) { xbyak.add(Xbyak::Reg64(number), added); }))
          << "register " << number << " + " << added;
    }
  }
}

}  // namespace
}  // namespace restride::xbyak
