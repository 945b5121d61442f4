// Shifted image: a run of the target stands in scratch and leaves around the caches, wherever in a
// line it begins (shifted_lines). A run that is known to begin on a line leaves as it stands. Of a
// long run the pieces may stand there one after the other:
//
//     target  ...|line................|line................|...
//     pieces  ...aaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbccc...
//
// What a piece has of the line in which it ends, its last bytes, waits for the next one. How images
// are made is not in here.
#pragma once

#include <cstdint>
#include <vector>

#include "microkernel/microkernel.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/column_places.hpp"
#include "program/program.hpp"

namespace restride {

/// A run of the target: where it stands in scratch, on a vector, where it goes to, and how long it
/// is, bytes; and where its columns stand, if they do not touch there.
struct ImageRun {
  int64_t image, target, bytes;
  ColumnPlaces places{1};
};

/// Lines of the source that are asked for while a run leaves, by prefetch_stream: row after row, so
/// many of each, up to `lines_at_once`, from byte `first` on, `bytes` apart: whole vectors, one for
/// as many bytes that leave. The last row gets all of its lines.
struct SourceLines {
  const TileRun& rows;
  int64_t row_lines;
  int64_t first;
  int64_t bytes;
};
constexpr int64_t lines_at_once = 8;

/// Whether runs of this machine's target can leave wherever they begin.
bool can_shift_images(const Machine& machine);

/// A machine for images that do not follow each other in the target: halves of lines at their ends
/// would leave by themselves.
Machine apart(Machine machine);

/// Asks for the lines that runs share with others: some time before they leave.
program::Body claim_ends(const std::vector<ImageRun>& runs, const Machine& machine);

/// Lets a run leave through panel_stream and target_stream, from where they stand. `ahead` may be
/// null.
program::Body emit_image_out(const ImageRun& run, const Machine& machine, const SourceLines* ahead);

/// A piece of a longer run, which has two lines and more: its begin is joined to what the piece
/// before has left in left_over_stream, where its own end goes. The first one of all has none
/// before it.
enum class Piece : uint8_t { first, other };
program::Body emit_piece_out(Piece piece, const ImageRun& run, const Machine& machine);

/// Where other pieces than the first one are loaded from between vectors, what the one before has
/// left over stands before their images: so much; and brings it there, to panel_stream.
int64_t joined_front_bytes(const Target& target);
program::Body emit_left_over_in(const Machine& machine);

/// What the last piece has left over, of a run that ends `end` bytes from where target_stream
/// stands.
program::Body emit_left_over_out(int64_t end, const Machine& machine);

}  // namespace restride
