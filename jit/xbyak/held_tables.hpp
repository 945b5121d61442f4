// Which tables of a Program stay in vector registers throughout its code, where no Block needs
// those: a load of 64 bytes saved with each permute in a loop. Zen 4, 650 small problems in the
// caches: 87 in less than .95 of the time, u8[3,600,2]{0,2,1} .67, u8[6,12,9]{2,0,1} .71, u16 480 x
// 2 .72, u8 10 x 150 .75 of it; 27 in more than 1.05, of which six were timed again and were not.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "program/program.hpp"

namespace restride::xbyak {

/// A table of the program as indices of `width` bytes.
struct IndexTable {
  int16_t table = 0;
  uint8_t width = 0;

  bool operator==(const IndexTable&) const = default;
};

/// The table that an operation loads into a register, or reads from memory.
std::optional<IndexTable> loaded_table(const Program& program, const program::Op& op,
                                       InstructionSet set);

/// Register 31 holds the first of them, 30 the next.
struct HeldTables {
  static constexpr int most = 24, first_register = 31;

  int size = 0;
  std::array<IndexTable, most> tables{};

  /// The register that holds `table`, or -1.
  int find(const IndexTable& table) const;
};

/// Those that loops load most often, as many as have room beside the registers that are in use at
/// once. Precondition: code with AVX-512.
HeldTables hold_tables(const Program& program, InstructionSet set);

}  // namespace restride::xbyak
