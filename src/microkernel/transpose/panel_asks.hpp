// Rows of a source that begin between lines are asked for while panels of columns leave, row after
// row, in as many iterations a panel.
//
// Every iteration asks for as many rows, and every panel begins so far behind the one before that
// the last one ends with the last row: rather a few rows twice than one of them not at all, which
// is waited for.
//
//     rows        0    1    2    3    4    5    6    7
//     panel 0     [ iteration 0 | iteration 1 ]
//     panel 1               [ iteration 0 | iteration 1 ]
#pragma once

#include <cstdint>
#include <vector>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/tile_run.hpp"

namespace restride {

class PanelAsks {
 public:
  /// What the loops do: so many panels, two and more, in so many iterations each, which write so
  /// many lines.
  struct Pace {
    int64_t panels, iterations, written_lines;
  };

  /// Of `rows`, of one side and not fewer than iterations of a panel, which are runs of `row_bytes`
  /// bytes of the source, whole lines; the first begins at byte `first`. Without a box ahead
  /// (Machine::ahead) nothing is asked for.
  PanelAsks(const TileRun& rows, int64_t row_bytes, int64_t first, const Machine& machine,
            const Pace& pace);

  bool asks() const { return asks_; }

  /// Asks for what goes with line `line` of those that an iteration writes; `beside`: bytes from
  /// there.
  void ask(Emitter& emitter, int64_t line, int64_t beside = 0) const;

  /// How loops over panels, and over the iterations of one, move the stream ahead.
  void add_panel_step(std::vector<program::Step>& steps) const;
  void add_step(std::vector<program::Step>& steps) const;

 private:
  int64_t row_stride_, row_bytes_, first_;
  int64_t line_bytes_, written_lines_;
  int64_t rows_of_iteration_, rows_of_panel_;  // the latter: from one to the next
  bool asks_;
};

}  // namespace restride
