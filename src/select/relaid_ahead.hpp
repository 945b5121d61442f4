// The box of a source that is relaid next: its lines are asked for, source row after source row,
// while the rows of the box at hand are computed.
//
//     rows of the box at hand  0 1 2 3 ...      lines of the box ahead  00 01 | 02 03 | ...
//
// Not here: what is asked for in the rows themselves, which the processor sees coming.
#pragma once

#include <vector>

#include "program/program.hpp"
#include "select/relaid_tile.hpp"
#include "target/target.hpp"

namespace restride {

class RelaidAhead {
 public:
  /// `at`: where the box at hand begins; `ahead`: bytes from there to the next one, 0 if not known.
  RelaidAhead(const RelaidTile& relaid, int operand, int64_t at, int64_t ahead,
              const Target& target);

  /// Whether the rows of the two boxes can be counted together.
  bool asks() const { return lines_ > 0; }

  /// What every row of the box at hand asks for, and how the source's own stream moves from row to
  /// row.
  void add(program::Block& block, std::vector<program::Step>& steps) const;

 private:
  int operand_;
  int64_t first_, line_bytes_;
  int64_t row_stride_ = 0;  ///< of the source
  int64_t rows_ = 1;        ///< source rows asked for by one row
  int64_t lines_ = 0;       ///< of each of them
  int64_t shared_by_ = 1;   ///< rows that ask for one source row
};

/// Adds what asks for the lines of a row of the first source, of `bytes` from `at` on, to be read
/// soon.
void ask_row_ahead(program::Block& block, int64_t at, int64_t bytes);

/// Adds what asks for the lines of a row of the target, of `bytes` from `at` on, to be written:
/// wherever in a line it begins, the one that it ends in, too; or of these two only.
void claim_row_ahead(program::Block& block, int64_t at, int64_t bytes, bool only_ends);

}  // namespace restride
