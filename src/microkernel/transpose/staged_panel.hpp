// Staged panel: rows of a source in scratch, transposed inside the lanes of vectors.
//
//     panel[k][group]   lane l = column l * (16 / element) + k of the rows of the group
//
// It is filled by whole vectors, or by the vectors of a line one after the other, so every line of
// the source, and every page, is touched once; a vector of a column is put together by loads alone.
#pragma once

#include <cstdint>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/tile_run.hpp"

namespace restride {

class StagedPanel {
 public:
  /// A vector of columns, a line with of_lines(), by `rows` rows, a multiple of group_rows().
  /// `rows_run` makes runs of the target, and has its last row in place of those that it does not
  /// have; `at`: where the source begins, bytes.
  StagedPanel(const TileRun& rows_run, int64_t rows, int64_t at, const Machine& machine)
      : StagedPanel(rows_run, rows, at, machine, machine.target.line_bytes) {}

  /// `gap`: bytes behind what is stored to a panel[k]. Most often a line: a power of two would put
  /// them all into one set of the cache.
  StagedPanel(const TileRun& rows_run, int64_t rows, int64_t at, const Machine& machine,
              int64_t gap)
      : rows_run_(rows_run), rows_(rows), at_(at), machine_(machine), gap_(gap) {}

  /// The same as wide as a line, of which narrower vectors lie side by side.
  StagedPanel of_lines() const {
    StagedPanel panel = *this;
    panel.width_ = panel.row_bytes_ = machine_.target.line_bytes;
    return panel;
  }

  /// The same of its first columns: the others are 0.
  StagedPanel first_columns(int64_t count) const {
    StagedPanel panel = *this;
    panel.row_bytes_ = count * machine_.element_bytes;
    return panel;
  }

  /// The same, filled with rows that come to scratch first, a group at a time, `strip` bytes from
  /// where panel_stream stands: lines that share a set of L1 are read once.
  StagedPanel by_strips(int64_t strip) const {
    StagedPanel panel = *this;
    panel.strip_ = strip;
    return panel;
  }

  /// The same, filled through gathered_stream.
  StagedPanel of_gathered_rows() const {
    StagedPanel panel = *this;
    panel.from_ = gathered_stream;
    return panel;
  }

  /// Rows that are transposed at a time, and columns whose places differ by a lane.
  int64_t group_rows() const { return 16 / machine_.element_bytes; }
  int64_t columns() const { return width_ / machine_.element_bytes; }
  int64_t groups() const { return rows_ / group_rows(); }
  int64_t bytes() const { return group_rows() * pitch(); }
  /// Of scratch beside it.
  int64_t strip_bytes() const { return strip_ < 0 ? 0 : group_rows() * row_bytes_; }

  /// Where a panel stands in the streams that fill it, bytes.
  struct At {
    int64_t source, panel;
  };

  /// Brings `groups` groups in, through source_stream, to `stream`, and asks for what lies `ahead`
  /// bytes behind their rows, unless that is 0.
  void fill(Emitter& emitter, int64_t groups, int stream, At at = {}, int64_t ahead = 0) const;

  /// How the streams move in a loop that does so.
  std::vector<program::Step> fill_steps(int64_t groups, int stream) const {
    // Panels may have rows beyond the run, which do not begin anew.
    std::vector<program::Step> steps{rows_run_.step(from_, 1, groups * group_rows())};
    if (rows_run_.is_spliced()) steps = source_steps(groups, {from_}, 0);
    steps.push_back(scratch_step(groups, stream));
    return steps;
  }

  /// The stream of the source in it, `before` iterations ahead; behind all rows come the first ones
  /// again, moved by `outer`.
  std::vector<program::Step> source_steps(int64_t groups, const program::Step& outer,
                                          int64_t before) const {
    return rows_run_.steps(from_, 1, groups * group_rows(), outer, before);
  }
  /// The stream that is filled.
  program::Step scratch_step(int64_t groups, int stream) const { return {stream, groups * width_}; }

  /// A vector of column `column`, from byte `begin` of it on. `offset`: of the panel in its stream.
  program::Reg line(Emitter& emitter, int64_t column, int64_t begin, int64_t offset = 0) const;

  /// Bytes between panel[k] and panel[k + 1].
  int64_t pitch() const { return groups() * width_ + gap_; }

 private:
  /// Copies rows of a group to the strip.
  void fill_strip(Emitter& emitter, int64_t group, At at) const;
  /// Brings a vector of each row of a group in, from byte `begin` of the row on.
  void fill_vectors(Emitter& emitter, int64_t group, int64_t begin, int stream, At at,
                    int64_t ahead) const;

  TileRun rows_run_;
  int64_t rows_;
  int64_t at_;
  const Machine& machine_;
  int64_t gap_;
  int64_t width_ = machine_.vector_bytes;  // of a group in panel[k]
  int64_t row_bytes_ = width_;             // of a row of the source
  int from_ = source_stream;
  int64_t strip_ = -1;  // where it begins; or there is none
};

}  // namespace restride
