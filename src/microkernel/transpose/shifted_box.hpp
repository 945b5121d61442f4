// Shifted box: a box of a transpose whose rows of the target begin between lines, for arrays that
// do not stay in the caches.
//
// The rows of the box come in by chunks that make whole vectors of the target, a panel of columns
// at a time. A vector of a column is shifted to where it stands in lines, behind the end of the
// vector before; the line that they make leaves around the caches. The last vector of a chunk is
// kept in scratch, for it begins the line that the next chunk goes on with:
//
//     target  ...|line................|line................|...
//     vectors     ....aaaaaaaaaaaaaaaa|aaaabbbbbbbbbbbbbbbb|bbbb
//
// So no line is written twice but where the box begins and ends. There it leaves by masks that keep
// within the box: a store that touches a line on its way around the caches calls it back. Where in
// a line a column begins is seen when the code runs, so it is the same for all of them. Rows that
// make no whole chunk are the last one, in which the last row fills the vectors. What they have
// beyond whole vectors goes behind the vector before, which is whole again then: by itself it would
// be part of two lines, one of which nothing has asked for. In which order panels come in and leave
// is not in here.
//
// Rows of packed elements are mixed on their way out, as in microkernel_staged: each of those that
// are mixed has a panel of its own, and each row of the target that a column makes leaves something
// over.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/packed/row_mixing.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/staged_panel.hpp"

namespace restride {

/// Rows that make a chunk.
int64_t chunk_rows(const Machine& machine);

/// Columns of a panel that leave in an iteration: while some groups of rows come in, or as many as
/// are worth moving the streams.
int64_t flushed_columns(const StagedPanel& panel);

class ShiftedBox {
 public:
  /// `panel` is where rows stand in panel_stream, behind what is left over. All references must
  /// live on.
  ShiftedBox(const TileRun& rows, const TileRun& columns, const RowMixing& mixing,
             const Strides& at, const StagedPanel& panel, const Machine& machine, Tables& tables)
      : machine_(machine),
        tables_(tables),
        rows_(rows),
        columns_(columns),
        mixing_(mixing),
        at_(at),
        panel_(panel) {}

  int64_t panels() const { return columns_.extent() / panel_.columns(); }
  int64_t chunks() const { return rows_.extent() / chunk_rows(machine_); }
  /// Rows that make no whole chunk.
  int64_t rest() const { return rows_.extent() % chunk_rows(machine_); }
  int64_t chunk_bytes() const { return chunk_rows(machine_) * machine_.element_bytes; }

  /// Where chunk `chunk` begins in the source.
  int64_t after(int64_t chunk) const { return rows_.at(1, chunk * chunk_rows(machine_)); }
  /// Where the rows that are asked for as chunk `chunk` begin in the source. What makes no whole
  /// chunk is asked for with rows before it, which are there; behind the last comes the box ahead.
  int64_t asked(int64_t chunk) const;
  /// How the stream that asks moves in a loop over the chunks behind the first one, before which
  /// the second one has been asked for.
  program::Step asking_step(program::Step of_chunk) const;

  /// `body` where chunk `chunk` stands; if it asks, for the chunk behind that.
  program::Body at_chunk(int64_t chunk, bool asks, program::Body body) const;

  /// Where panels begin in scratch, behind what is left over.
  int64_t panel_at() const { return columns_.extent() * left_over_bytes(); }
  /// Of the panels of all rows that are mixed, one behind the other.
  int64_t panel_bytes() const { return mixing_.from.rows * panel_.bytes(); }

  // ---- how streams move

  /// In a loop over the columns of a panel, `columns` at a time.
  std::vector<program::Step> column_steps(int64_t columns) const;
  /// In a loop over panels that come in through `from`.
  std::vector<program::Step> panel_steps(int from) const;

  // ---- what comes in

  /// Groups of rows of a panel, which begin `from` bytes behind where its stream stands.
  program::Body groups_in(int64_t groups, int64_t from) const;
  /// So many rows of the source: behind the last one is what was there.
  program::Body rows_in(int64_t rows) const;

  // ---- what leaves

  /// Told of each line that leaves, unless there is none to tell: of column `column`, from byte
  /// `begin` of the chunk on.
  using Asks = std::function<void(Emitter& emitter, int64_t column, int64_t begin)>;

  enum class Chunk : uint8_t { first, other };
  program::Block columns_out(Chunk which, int64_t columns, const Asks& asks) const;
  /// A column of the rows that make no whole chunk.
  program::Block rest_of_column_out(const Asks& asks) const;
  /// What the last chunk has left over of each column.
  program::Body ends_out() const;
  /// Asks for the lines that the columns of a panel share with others.
  program::Body claim_panel() const;

 private:
  /// Vectors of a column of a panel, of all rows of the target that it makes; made when they are
  /// asked for.
  class Column;

  /// Of a column: a vector for each row of the target.
  int64_t left_over_bytes() const { return mixing_.to.rows * line_; }
  void panel_in(Emitter& emitter, const StagedPanel& panel, int64_t source, int64_t groups) const;
  void line_out(Emitter& emitter, program::Reg before, program::Reg chunk, int64_t at) const;
  /// The rest of a row of the target, which is `bytes` long and begins at `at`.
  void rest_of_row_out(Emitter& emitter, Column& column, int64_t row, int64_t at,
                       const Asks& asks) const;
  program::Reg part_of_vector_out(Emitter& emitter, program::Reg before, program::Reg part,
                                  int64_t at, int64_t bytes) const;
  void end_out(Emitter& emitter, program::Reg last, int64_t end) const;
  program::Reg shifted(Emitter& emitter, program::Reg before, program::Reg chunk, int64_t at) const;

  const Machine& machine_;
  Tables& tables_;
  const TileRun& rows_;     // make runs of the target
  const TileRun& columns_;  // make runs of the source
  RowMixing mixing_;
  Strides at_;
  const StagedPanel& panel_;
  int64_t line_ = machine_.vector_bytes;
};

}  // namespace restride
