// Vector registers: a linear scan within each Block.
//
// A register is free again for the result of the last operation that reads it, so a chain of
// operations stays in one register. Three kinds of operation write their result before they have
// read everything; their arguments are released afterwards. Target::registers leaves room for that.
#include <algorithm>
#include <bit>
#include <utility>

#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;

namespace {

// Register 15 of the older families is kept for operations that need a detour.
constexpr uint32_t sixteen_less_one = 0x7fff, thirty_two = 0xffffffff;

using Registers = std::array<Xbyak::Xmm, 32>;

template <class Kind, size_t... index>
constexpr Registers all_registers(std::index_sequence<index...>) {
  return {Kind(int(index))...};
}

// Made once: xbyak's registers are bit fields, and making one for every operand took a third of the
// time.
constexpr Registers xmm_registers = all_registers<Xbyak::Xmm>(std::make_index_sequence<32>());
constexpr Registers ymm_registers = all_registers<Xbyak::Ymm>(std::make_index_sequence<32>());
constexpr Registers zmm_registers = all_registers<Xbyak::Zmm>(std::make_index_sequence<32>());

const Registers& registers_of(int bytes) {
  return bytes > 32 ? zmm_registers : bytes > 16 ? ymm_registers : xmm_registers;
}

}  // namespace

void Translator::block(const Block& block) {
  find_last_uses(block);
  free_ = family_ == Family::evex ? thirty_two >> survey_.held.size : sixteen_less_one;
  narrow_ = 0;
  int k = 0;
  for (const Op& op : block) step(op, k++);
}

void Translator::find_last_uses(const Block& block) {
  // Every register that is read has been defined in this Block: stale entries are never looked at.
  int k = 0;
  for (const Op& op : block) {
    if (op.to != none && size_t(op.to) >= last_use_.size()) {
      last_use_.resize(2 * size_t(op.to) + 64);
      physical_.resize(last_use_.size());
      nans_.resize(last_use_.size());
    }
    for (const Reg r : {op.to, op.a, op.b}) {
      if (r != none) last_use_[size_t(r)] = k;
    }
    note_nans(op);
    ++k;
  }
}

/// Arithmetic makes one NaN of all, and looks at none of their bits.
void Translator::note_nans(const Op& op) {
  const bool floats = op.type == ElementType::f32 || op.type == ElementType::f64;
  const bool computes = op.code == Code::compute && floats;
  for (const Reg r : {op.a, op.b}) {
    if (r != none && !computes) nans_[size_t(r)].computed = false;
  }
  if (op.to != none) nans_[size_t(op.to)] = {computes && !is_comparison(op.operation()), true};
}

void Translator::step(const Op& op, int k) {
  const bool a_dies = op.a != none && last_use_[size_t(op.a)] == k;
  const bool b_dies = op.b != none && op.b != op.a && last_use_[size_t(op.b)] == k;
  const bool early = writes_early(op);
  const bool two_operands = family_ == Family::sse;
  if (a_dies && !early) release(op.a);
  if (b_dies && !early && !two_operands) release(op.b);
  if (op.to != none) {
    // In place if possible: that saves a move where results overwrite their first argument.
    if (a_dies && !early) {
      physical_[size_t(op.to)] = physical_[size_t(op.a)];
      free_ &= ~(uint32_t{1} << physical_[size_t(op.to)]);
    } else {
      take(op.to);
    }
    note_narrow(op);
  }
  if (family_ == Family::sse) {
    sse(op);
  } else if (is_computation(op.code)) {
    begin_temporaries(op);
    avx(op);
    end_temporaries();
  } else {
    avx(op);
  }
  if (a_dies && early) release(op.a);
  if (b_dies && (early || two_operands)) release(op.b);
  if (op.to != none && last_use_[size_t(op.to)] == k) release(op.to);
}

/// Whether the result's register is written before the arguments are read: it holds the table of a
/// permute with AVX-512.
bool Translator::writes_early(const Op& op) const {
  return (op.code == Code::permute && family_ == Family::evex) || op.code == Code::shift;
}

void Translator::take(Reg r) {
  failed_ |= free_ == 0;
  physical_[size_t(r)] = uint8_t(std::countr_zero(free_) & 31);
  free_ &= free_ - 1;
}

void Translator::release(Reg r) { free_ |= uint32_t{1} << physical_[size_t(r)]; }

/// Keeps book of registers whose bytes from 16 on are zero or undefined: pieces go into those
/// without a detour. Nothing but permutes clears bytes for others.
void Translator::note_narrow(const Op& op) {
  const bool zero_above = op.code == Code::load && op.a == none && op.at + op.bytes <= 16;
  const bool stays =
      op.code == Code::load && op.a != none && is_narrow(op.a) && op.at + op.bytes <= 16;
  const bool narrow =
      program_.vector_bytes == 16 || op.code == Code::extract || zero_above || stays;
  const uint32_t bit = uint32_t{1} << physical_[size_t(op.to)];
  narrow_ = narrow ? narrow_ | bit : narrow_ & ~bit;
  if (family_ == Family::vex && op.code != Code::permute) cleared_[size_t(number(op.to))] = 0;
}

const Translator::Register& Translator::numbered(int number, int bytes) {
  return registers_of(bytes)[size_t(number)];
}

/// By the instruction that repeats eight bytes of rax, rcx times, from rdi on.
void Translator::store_run(const Op& op) {
  const bool saves = in_use(rdi);
  lea(rax, at(op));
  address_in_rax_ = -1;
  if (saves) push(rdi);
  mov(rdi, rax);
  mov(rcx, op.run / run_pattern_bytes);
  if (family_ == Family::sse) {
    movq(rax, low(op.a));
  } else {
    vmovq(rax, low(op.a));
  }
  rep();
  stosq();
  if (saves) pop(rdi);
}

void Translator::prefetch(const Op& op) { append(Instruction::prefetch(op.width, place(op))); }

}  // namespace restride::xbyak
