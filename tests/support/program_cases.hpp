// Small Programs with the bytes they must write, spelled out by hand: every operation in every
// width, every kind of loop. For every backend.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/program.hpp"

namespace restride::testing {

/// Operand 0 is the target, operand 1 the source, operand 2 (if any) scratch.
struct ProgramCase {
  std::string name;
  Program program;
  std::vector<uint8_t> source;
  std::vector<uint8_t> expected;  ///< of the target; before, every byte of it is `untouched`
};

constexpr uint8_t untouched = 0xee;

/// 1, 2, 3, ...
inline std::vector<uint8_t> counting(int64_t bytes) {
  std::vector<uint8_t> values;
  for (int64_t k = 0; k < bytes; ++k) values.push_back(uint8_t(k + 1));
  return values;
}

/// One operation between loads and a store, for vectors of that many bytes. Not every target has
/// each.
std::vector<ProgramCase> operation_cases(int vector_bytes);

/// Loops, units and streams, with 16-byte vectors: every target has these.
std::vector<ProgramCase> loop_cases();

}  // namespace restride::testing
