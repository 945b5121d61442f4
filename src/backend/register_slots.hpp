// Registers of a prepared Program: as many slots as live at once, not one for each result.
#pragma once

#include <vector>

#include "program/program.hpp"

namespace restride::program {

constexpr int slots = 64;

/// Renames the registers of Blocks into slots. A slot is given away after the operation that reads
/// it last: a result never lies where an argument does.
class Renaming {
 public:
  /// False: more live registers than slots.
  bool apply(Body& body);

 private:
  bool apply(Block& block);
  void find_last_uses(const Block& block);

  std::vector<size_t> last_use_;  ///< the last operation of the Block that names a register
  std::vector<Reg> slot_;
};

}  // namespace restride::program
