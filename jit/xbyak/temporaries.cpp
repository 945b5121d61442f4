// What an operation that computes needs besides its arguments: vector registers and constants.
//
// A temporary is a register that nothing lives in. Where all are in use, one that the operation
// does not name is saved below the stack pointer and restored after the operation: kernels make no
// calls, and the 128 bytes there are theirs. More than that lies in the frame.
#include <bit>

#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;

namespace {

constexpr int red_zone_bytes = 128, detour_register = 15;

/// A value of `width` bytes, over and over.
std::array<uint8_t, 16> repeated(uint64_t value, int width) {
  std::array<uint8_t, 16> lane{};
  for (size_t k = 0; k < lane.size(); ++k) {
    lane[k] = uint8_t(value >> (8 * (int(k) % width)));
  }
  return lane;
}

}  // namespace

void Translator::begin_temporaries(const Op& op) {
  busy_ = 0;
  for (const Reg r : {op.to, op.a, op.b}) {
    if (r != none) busy_ |= uint32_t{1} << physical_[size_t(r)];
  }
  spare_ = 0;
  saved_vectors_ = 0;
  // Kept free for detours in this family.
  if (family_ == Family::vex) free_ |= uint32_t{1} << detour_register;
}

int Translator::temporary() {
  const uint32_t available = spare_ ? spare_ : free_ & ~busy_;
  if (available) {
    const int number = std::countr_zero(available);
    spare_ &= ~(uint32_t{1} << number);
    busy_ |= uint32_t{1} << number;
    return number;
  }
  const int number = std::countr_one(busy_);
  busy_ |= uint32_t{1} << number;
  victims_[size_t(saved_vectors_++)] = uint8_t(number);
  avx_move(saved_place(), numbered(number, program_.vector_bytes));
  return number;
}

/// Where the last of the registers that are saved lies.
Xbyak::Address Translator::saved_place() {
  const int end = saved_vectors_ * program_.vector_bytes;
  if (end <= red_zone_bytes) return ptr[rsp - end];
  failed_ |= end > red_zone_bytes + (survey_.takes_many_temporaries ? temporaries_bytes : 0);
  return ptr[rsp + 8 * temporaries_slot_ + end - red_zone_bytes - program_.vector_bytes];
}

void Translator::end_temporaries() {
  if (family_ == Family::vex) free_ &= ~(uint32_t{1} << detour_register);
  for (; saved_vectors_ > 0; --saved_vectors_) {
    avx_move(numbered(victims_[size_t(saved_vectors_ - 1)], program_.vector_bytes), saved_place());
  }
}

Translator::Constant Translator::constant(uint64_t value, int width, int behind) {
  return constant(repeated(value, width), behind);
}

Translator::Constant Translator::constant(const std::array<uint8_t, 16>& lane, int behind) {
  return Constant(*this, place_of({TableCopy::constant, 1, lane}), behind);
}

}  // namespace restride::xbyak
