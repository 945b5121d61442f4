// The box that comes after the one at hand: its source is asked for while this one is written.
//
// A box of `rows` (a run of the target) by `columns` (a run of the source) is written in panels of
// columns. As many lines are asked for as are written, row after row, which memory answers fastest:
// each panel asks for its share of the rows. Where rows do not come out whole, a panel asks for a
// part of the lines of its rows, and the rows are gone through once for each part.
#pragma once

#include <cstdint>
#include <vector>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/paced_asks.hpp"

namespace restride {

class BoxAhead {
 public:
  /// `first`: where it begins in the source, bytes. `flushed`: how many columns the loops write in
  /// an iteration.
  BoxAhead(const TileRun& rows, const TileRun& columns, int64_t first, const Machine& machine,
           const std::vector<int64_t>& flushed);

  bool asks() const { return asks_; }

  /// Where the share of a panel begins.
  int64_t panel_offset(int64_t panel) const;

  /// Asks for the line that goes with byte `begin` of column `column` of the panel, where a line
  /// begins; `beside`: bytes from there.
  void ask(Emitter& emitter, int64_t column, int64_t begin, int64_t beside = 0) const;

  /// How a loop over panels moves the stream ahead; one that writes `columns` an iteration.
  void add_panel_step(std::vector<program::Step>& steps) const;
  void add_step(std::vector<program::Step>& steps, int64_t columns) const;

 private:
  /// Whether panels and what they write come out whole with groups of so many lines.
  bool shares_out(int64_t vector_bytes, const std::vector<int64_t>& flushed);

  TileRun rows_;
  int64_t line_bytes_;
  AskedFrom from_;              // of the box ahead
  int64_t written_lines_;       // of a column
  int64_t group_lines_ = 1;     // of a row that are asked for one after the other
  int64_t row_shares_ = 1;      // panels that share out all rows
  int64_t rows_per_panel_ = 1;  // their shares
  bool asks_ = false;
};

}  // namespace restride
