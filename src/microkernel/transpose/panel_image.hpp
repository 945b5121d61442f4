// Panel image: a panel of columns of a box in scratch, transposed, row behind row as the target
// wants them.
//
//     source   rows of a vector each          image   column k at its place, all rows of the box
//
// Here: how it is made. How it leaves is up to the microkernel.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/column_places.hpp"

namespace restride {

/// Rows of several digits are taken so many networks at a time: all of them fill their lanes then,
/// where a digit would fill a part of each.
constexpr int64_t most_unrolled_networks = 3;

/// Rows of several digits come in by so many that look alike, and fill networks of `network_rows`
/// best, up to `most_networks` of them.
int64_t panel_chunk_rows(const TileRun& rows, int64_t network_rows,
                         int64_t most_networks = most_unrolled_networks);

/// Asks for a row of a panel that begins `first` bytes from where prefetch_stream stands: for the
/// last byte of each line of it. The panel before has asked for what is before the first of them.
void ask_for_panel(Emitter& emitter, int64_t first, int64_t bytes, int64_t line_bytes);

class PanelImage {
 public:
  /// Of so many columns, which touch in the image.
  PanelImage(const TileRun& rows, int64_t columns, const Strides& at, const Machine& machine)
      : PanelImage(rows, columns, ColumnPlaces(rows.extent() * machine.element_bytes), at,
                   machine) {}

  PanelImage(const TileRun& rows, int64_t columns, const ColumnPlaces& places, const Strides& at,
             const Machine& machine)
      : rows_(rows), columns_(columns), places_(places), at_(at), machine_(machine) {}

  /// What it takes of scratch: what its rows have, and what the last one is written over.
  int64_t bytes() const;

  /// Some panels side by side that come later, `first` bytes from where prefetch_stream stands.
  /// Each panel that comes in asks for a share of their rows, all panels of a row at once.
  struct Asks {
    int64_t first, panels, panel_bytes;
  };

  /// Fills it through source_stream and scratch_stream, from where they stand.
  program::Body emit(const std::optional<Asks>& asks = {});

  /// How prefetch_stream moves on from panel to panel.
  program::Step asks_step(const Asks& asks) const;

 private:
  int64_t run() const { return rows_.extent() * machine_.element_bytes; }
  /// Rows of a network.
  int64_t most_rows() const { return machine_.vector_bytes / machine_.element_bytes; }
  /// Rows that look alike; see panel_chunk_rows.
  TileRun chunk() const;
  program::Body one_digit() const;
  program::Body unrolled() const;
  /// How the streams move in a loop that takes so many rows an iteration.
  std::vector<program::Step> steps(int64_t rows) const;
  program::Body asks_of(int64_t first_row, int64_t rows) const;
  program::Body networks(int64_t first_row, int64_t rows) const;
  /// Those of `count` columns that are alike far apart.
  program::Body networks_of(int64_t first_row, int64_t rows, int64_t first_column,
                            int64_t count) const;
  int64_t rows_at_once(int64_t rows, int64_t columns) const;
  /// A network of some rows and columns, from where the streams stand.
  program::Block network(int64_t first_row, int64_t rows, int64_t first_column,
                         int64_t columns) const;
  program::Body short_rows() const;

  const TileRun& rows_;
  int64_t columns_;
  ColumnPlaces places_;
  Strides at_;
  const Machine& machine_;
  std::optional<Asks> asks_;
};

}  // namespace restride
