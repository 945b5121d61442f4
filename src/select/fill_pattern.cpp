// See fill_pattern.hpp.
#include "select/fill_pattern.hpp"

namespace restride {
namespace {

/// A byte of elements of so many bits.
uint8_t all_of_byte(uint8_t element, int bits) {
  const int mask = (1 << bits) - 1;
  int byte = 0;
  for (int at = 0; at < 8; at += bits) byte |= (element & mask) << at;
  return static_cast<uint8_t>(byte);
}

}  // namespace

std::vector<uint8_t> fill_pattern(const Schedule& schedule) {
  const auto& fill = schedule.space.op.fill;
  const int bits = schedule.movement == Movement::mix ? schedule.space.op.packing[0].bits : 0;
  std::vector<uint8_t> pattern;
  for (int k = 0; k < schedule.vector_bytes; ++k) {
    pattern.push_back(static_cast<uint8_t>(fill[static_cast<size_t>(k) % fill.size()]));
    if (bits != 0) pattern.back() = all_of_byte(pattern.back(), bits);
  }
  return pattern;
}

}  // namespace restride
