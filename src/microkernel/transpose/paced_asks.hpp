// The box that comes after the one at hand: its source is asked for while this one is written, row
// after row, which memory answers fastest, and at the pace at which lines leave.
//
//     written   iteration 0    1        2        3        4     ..
//     asked     row 0, half  row 0   row 1    row 1    row 2    ..
//
// An iteration asks for a share of a row, or for whole rows. Where these come out uneven, a bundle
// of rows is asked for together, a few lines of each at a time; or the last rows while the first
// panel comes in.
//
// Where the box after goes on along the same rows, and these begin between lines, some processors
// are asked down the rows: a line of each, then the next line of each, from the first iteration
// that brings rows in to the last that writes.
#pragma once

#include <cstdint>
#include <vector>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/tile_run.hpp"

namespace restride {

/// Where lines of rows begin that are asked for, bytes of the source, and the level of the caches
/// that they come to.
struct AskedFrom {
  int64_t first;
  int level;
};

/// Of rows whose first byte is `first`.
AskedFrom asked_from(const TileRun& rows, int64_t first, const Machine& machine);

class PacedAsks {
 public:
  /// What the loops do: so many iterations bring the first panel in, so many write lines, each as
  /// many as that.
  struct Pace {
    int64_t filling, writing, written_lines;
  };

  /// Of a box of `rows`, which are runs of `row_lines` lines of the source, `first` bytes from
  /// where the stream stands; and lines beyond those, if the target wants them.
  PacedAsks(const TileRun& rows, int64_t row_lines, int64_t first, const Machine& machine,
            const Pace& pace);
  /// Asks for nothing.
  PacedAsks() = default;

  /// Asks for what goes with line `line` of those that an iteration writes; `beside`: bytes from
  /// there.
  void ask(Emitter& emitter, int64_t line, int64_t beside) const;
  /// Asks for what goes with all of them at once.
  void ask(Emitter& emitter) const;
  /// The same of an iteration that brings rows in.
  void ask_filling(Emitter& emitter, int64_t beside) const;

  /// How a loop that writes moves the stream ahead, behind `before` iterations of others.
  void add_step(std::vector<program::Step>& steps, int64_t before) const;
  /// The same of one that brings rows in.
  void add_step_filling(std::vector<program::Step>& steps) const;

 private:
  /// What an iteration asks for: lines of rows that go together, all of theirs in as many
  /// iterations as there are shares.
  struct Share {
    int64_t rows = 1, lines_of_row = 0, shares = 1;
    int64_t next_lines = 0;  ///< from a share to the next one: the last may overlap

    int64_t lines() const { return rows * lines_of_row; }
  };

  Share share_of_row(int64_t shares) const;
  Share whole_rows(int64_t rows) const;
  Share share_of(int64_t lines) const;
  /// Lines of so many rows of which all iterations ask for the box, line by line; none, if rows do
  /// not come out so.
  Share share_down_rows() const;
  /// Rows that iterations which write have asked for in the end.
  int64_t rows_asked(const Share& share) const;
  /// Whether few rows are left, and few lines asked for twice.
  bool comes_out(const Share& share) const;
  Share filling_share(int64_t rows) const;
  void ask(Emitter& emitter, const Share& share, int64_t line, int64_t beside) const;
  void add_steps(std::vector<program::Step>& steps, const Share& share, int64_t first_row,
                 int64_t before) const;
  void add_step_down_rows(std::vector<program::Step>& steps, int64_t before) const;

  TileRun rows_{{}};
  int64_t row_lines_ = 0;  // that are asked for
  AskedFrom from_{0, 2};
  int64_t line_bytes_ = 0;
  Pace pace_{};
  Share written_, filled_;
  int64_t rows_of_filling_ = 0;
  bool down_rows_ = false;
};

}  // namespace restride
