// Microkernels: how one tile is moved through registers.
//
//     LoopNest ── select ──► Program
//
// Each takes a full rectangle and appends straight-line code, or short loops around it, to a body.
// All knowledge of register networks is in these files; all knowledge of block sizes and order is
// in schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loop_nest/loop_nest.hpp"
#include "program/program.hpp"
#include "target/target.hpp"

namespace restride {

class TileRun;
class PackedImage;
struct CrossedBlock;
struct MixedBox;
struct RowMixing;

/// The tables of a program, each kept once.
class Tables {
 public:
  explicit Tables(std::vector<std::vector<uint8_t>>& tables) : tables_(tables) {}

  /// The index of a table with these entries.
  int add(std::vector<uint8_t> table);

 private:
  std::vector<std::vector<uint8_t>>& tables_;
};

/// What a microkernel knows of where it works.
struct Machine {
  const Target& target;
  int vector_bytes;              ///< of the program
  int64_t network_column_bytes;  ///< of a source row that one network takes in
  int64_t element_bytes;
  bool streams;       ///< source and target do not stay in the caches
  Staging staging;    ///< of boxes of a transpose then
  bool stages_lines;  ///< and of those whose rows are a line each
  bool wide_panels;   ///< as wide as lines, of which vectors are parts
  bool strips_rows;   ///< and filled from strips of rows in scratch, where a box has one
  bool shifts_runs;   ///< their runs leave wherever in a line they begin
  int fill_table;     ///< Program::tables entry with the padding element repeated
  bool nontemporal;  ///< the tile begins on a line of the target, and whole vectors of it go around
                     ///< the caches
  int64_t alignment;      ///< with non-temporal stores: of every place where the tile begins in the
                          ///< target; else 1
  bool stores_runs;       ///< runs that repeat an element are stored by one operation each
  int64_t claimed_ahead;  ///< bytes before they are written lines of the target are asked for; 0:
                          ///< not at all
  uint32_t asked_sources;  ///< of a computation: asked for ahead, a bit an operand
  bool reads_between;      ///< what lies between runs of the source may be read
  int64_t ahead;           ///< bytes of the source from this tile to the next one; 0: not known
  bool target_first;       ///< networks of a transpose go on along the target before they do along
                           ///< the source
  int64_t pointer_alignment;  ///< of the target's pointer, bytes
  bool short_code;     ///< of a transpose: what would be much code for little is done in more steps
  int64_t to_vectors;  ///< bytes from where rows begin to where vectors of them lie in one line
                       ///< each, if that is known of all and they stay in the caches; else 0
  bool long_images;    ///< images hold longer runs of the target (most_imaged_run_bytes)
  bool short_images;   ///< and come in and leave in smaller steps
  bool images_blocks;  ///< blocks leave scratch by way of images of their columns
  bool skews_rows;     ///< networks of a transpose get rows that are skewed (skewed_network.hpp)
  bool lane_rows;      ///< networks of a transpose make a lane of a row each
  bool is_end;  ///< little of a transpose is moved: code is short, and asks for what it reads
};

// Rows as long as this that begin between lines are stored line by line. 22 copies and fills in the
// caches, of rows of 128 bytes and more, 16 bytes behind a line, Zen 4: .85 of the time, of 128
// bytes .92; vectors of 32 bytes .84.
constexpr int64_t least_bytes_from_line = 128;
// Computed around the caches, where both ends wait for their lines: of 16 KB .73 of the time of
// regular stores, of 1 KB and less 1.28 to 2.9.
constexpr int64_t least_streamed_bytes_from_line = 4096;

/// Networks of whole registers of elements up to so many bytes are much code for little.
constexpr int64_t widest_long_network_bytes = 2;

/// How far behind rows that are loaded through masks others are asked for; 0: none are.
inline int64_t asked_ahead(const Machine& machine) {
  return machine.target.reads_ahead_of_masks ? 0 : machine.ahead;
}

/// Whether rows so many bytes apart in the source are asked for a page ahead where they are loaded
/// through masks: several follow each other in it. (Zen 5: f32[1000000,10] to T(8,16) .53 -> 1.1 of
/// the ceiling, u8[1000000,40] to T(8,64) .61 -> 1.0.)
inline bool asks_page_ahead(const Machine& machine, int64_t stride) {
  constexpr int64_t least_rows_of_page = 8;
  return machine.nontemporal && !machine.target.reads_ahead_of_masks && stride > 0 &&
         stride <= machine.target.page_bytes / least_rows_of_page;
}

/// A body that repeats `body` `side.extent` times, each stream advancing by its stride; `body`
/// itself for one.
program::Body repeat(const nest::Side& side, program::Body body);
void append(program::Body& to, program::Body from);

/// Of a row that repeats so many vectors are loaded once, half of the registers, for so many rows:
/// what is read again and again makes way for lines that are written. Zen 4, f32[256,256] with each
/// row 64 times .79 -> 1.0 of a fill (.79 -> .81 by two rows), 22 others .99 of the time: u8[500]
/// 16 times .85, c128[48] to [512,48,48] .85 and 1.03.
constexpr int64_t most_held_vectors(const Target& target) { return (target.registers + 1) / 2; }
constexpr int64_t repeated_rows = 4;

/// Moves, splats or fills rows: the last side is a run of the target, every side before it repeats
/// the row.
enum class RowValue : uint8_t { copy, splat, fill };
program::Body emit_rows(const nest::Tile& tile, RowValue value, const Strides& at,
                        const Machine& machine);

/// The shortest rows of whole lines that are worth shifting one by one where they begin between
/// lines. 16 bytes behind a line rows of 320 to 448 bytes in .51 of the time on Zen 4
/// (f32[600,700,96]{2,0,1} .48 -> 1.0 of the ceiling); elsewhere copies of 812 bytes .42 -> .83 of
/// memcpy, of 500 .39 -> .39, of 300 .66 -> .52. Zen 3, by halves of lines: seven of 701 bytes to
/// 40 KB .78 of the time of the caches.
constexpr int64_t least_shifted_row_bytes(const Target& target) {
  return target.reads_ahead_by_step ? 320 : 512;
}

/// Moves rows along which source and target count for themselves, piece by piece; every side before
/// the row repeats it.
program::Body emit_rows_of_pieces(const nest::Tile& tile, const Strides& at,
                                  const Machine& machine);

/// Computes rows: every source is contiguous along the last side or repeats one element there;
/// every side before it repeats the row. Every operand is read through the stream of its number.
program::Body emit_computed_rows(const nest::Tile& tile, const ElementOp& op, const Strides& at,
                                 const Machine& machine);
/// Of which: whether rows leave in whole lines, wherever in a line they begin. `sides` repeat the
/// row; no value on the way is wider than `widest_bytes`.
bool shifts_computed_rows(const nest::Side& row, const ElementOp& op, const Machine& machine);
program::Body emit_shifted_computed_rows(std::span<const nest::Side> sides, const nest::Side& row,
                                         const ElementOp& op, const Strides& at,
                                         int64_t widest_bytes, const Machine& machine);

/// Between a packed operand and its image; `at` is the bit of the box's first element. To is
/// target_stream, from source_stream. First all that a source has; or of a target what has to stay
/// as it is, though bytes of the box hold it; and back.
program::Body emit_spread_rows(const PackedImage& image, int64_t at, const Machine& machine);
program::Body emit_kept_bytes(const PackedImage& image, int64_t at, const Machine& machine);
program::Body emit_packed_rows(const PackedImage& image, int64_t at, const Machine& machine);

/// Rows of packed elements that lie side by side in source and target alike, but elsewhere in a
/// byte. `sides` repeat them, in bits of both, the widest of the target first.
struct RealignedRows {
  Packing packing;
  int64_t elements;
  std::vector<nest::Side> sides;
};

/// Those of a tile, if it has some, long ones, in few places of a byte.
std::optional<RealignedRows> realigned_rows(const nest::Tile& tile, const ElementOp& op);

/// Copies them; `at` is where the first one begins, bits.
program::Body emit_realigned_rows(const RealignedRows& rows, const Strides& at,
                                  const Machine& machine);

/// Shifts and mixes the rows of a crossed block, whose first element is bit `at` of source_stream,
/// into its first image, at target_stream.
program::Body emit_crossed_rows(const CrossedBlock& block, int64_t at, const Machine& machine);

/// Mixes the rows of a box, from source_stream to target_stream. What lies `ahead` bytes behind
/// those that are read is asked for, unless that is 0. Whole vectors go around the caches where
/// Machine::alignment admits it.
program::Body emit_mixed_rows(const MixedBox& box, int64_t ahead, const Machine& machine);

/// How many rows that follow each other in the target make whole lines: 1 where they are not
/// joined.
int64_t joined_rows(int64_t row_bytes, const Target& target);
bool can_join_rows(const nest::Tile& tile, int64_t element_bytes, const Target& target);
program::Body emit_joined_rows(const nest::Tile& tile, const Strides& at, const Machine& machine);

/// How many rows of the target, so far apart, a tile should have for each to have a phase in its
/// line that is known: 1 where that does not pay.
int64_t shifted_rows(int64_t row_bytes, int64_t row_stride, const Target& target);
bool can_shift_rows(const nest::Tile& tile, const Machine& machine);
program::Body emit_shifted_rows(const nest::Tile& tile, const Strides& at, const Machine& machine);

/// Rows as for emit_rows, each of which may begin anywhere in a line. Whether all of their lines
/// should leave around the caches nevertheless.
bool begin_between_lines(const nest::Tile& rows, RowValue value, const Machine& machine);
program::Body emit_rows_between_lines(const nest::Tile& rows, RowValue value, const Strides& at,
                                      const Machine& machine);

/// Transposes: the sides in `target_run` (bit 0: the first) make runs of the target, the others
/// runs of the source. Elements that make no run are moved one by one by the same code.
/// `scratch_bytes` grows to what the code needs.
program::Body emit_transpose(const nest::Tile& tile, uint32_t target_run, const Strides& at,
                             const Machine& machine, Tables& tables, int64_t& scratch_bytes);

/// The same of elements whose size is no power of two; the tile has two sides.
program::Body emit_uneven_transpose(const nest::Tile& tile, uint32_t target_run, const Strides& at,
                                    const Machine& machine, Tables& tables, int64_t& scratch_bytes);

/// Columns that make no whole panel are one by themselves, of elements of up to so many bytes:
/// networks of wider ones take in whole lines. (71 cases of f32 1.04 times as long.)
constexpr int64_t widest_rest_bytes = 2;

/// Whether a box of `rows` (a run of the target) by `columns` (a run of the source) can be staged:
/// whole vectors both ways, around the caches.
/// Rows that are `mixing` with others stand for their groups.
bool can_stage(const TileRun& rows, const TileRun& columns, const RowMixing& mixing,
               const Machine& machine);
/// Of which: whether some groups of rows fill a panel while some columns of another one leave.
bool rows_fill_panels(const TileRun& rows, int64_t element_bytes, int64_t panel_columns);
program::Body emit_staged_transpose(const TileRun& rows, const TileRun& columns,
                                    const RowMixing& mixing, const Strides& at,
                                    const Machine& machine, int64_t& scratch_bytes);

/// The same where rows of the target begin between lines. They come in by so many lines: of narrow
/// elements two, whose panels are wider. (Zen 4: u8 by four takes 1.07 times as long, u16 as long
/// with more code.)
constexpr int64_t shifted_chunk_lines(const Target& target, int64_t element_bytes) {
  return element_bytes < 4 ? 2 : target.shifted_chunk_lines;
}
bool can_shift(const TileRun& rows, const TileRun& columns, const RowMixing& mixing,
               const Machine& machine);
program::Body emit_shifted_transpose(const TileRun& rows, const TileRun& columns,
                                     const RowMixing& mixing, const Strides& at,
                                     const Machine& machine, Tables& tables,
                                     int64_t& scratch_bytes);
/// Of which: whether panels come in and leave by turns, as those of wide elements do.
bool shifts_by_turns(const Machine& machine);
program::Body emit_shifted_by_turns(const TileRun& rows, const TileRun& columns, const Strides& at,
                                    const Machine& machine, Tables& tables, int64_t& scratch_bytes);

/// The same where rows of the target of any length touch, so that panels of columns make whole
/// lines; `filled`: elements of padding behind each of them.
bool can_join(const TileRun& rows, int64_t filled, const TileRun& columns, const Machine& machine);
/// Of which: whether rows of several digits stand in an image whose columns touch.
bool can_join_digits(const TileRun& rows, int64_t element_bytes, int64_t vector_bytes);
program::Body emit_joined_transpose(const TileRun& rows, int64_t filled, const TileRun& columns,
                                    const Strides& at, const Machine& machine,
                                    int64_t& scratch_bytes);

/// The same where runs of the target are made of several loops, or are short. With so many columns
/// runs are at most so many bytes long.
int64_t most_imaged_run_bytes(int64_t columns, const Target& target, bool long_images = false);
bool can_image(const TileRun& rows, const TileRun& columns, const Machine& machine);
program::Body emit_imaged_transpose(const TileRun& rows, const TileRun& columns, const Strides& at,
                                    const Machine& machine, int64_t& scratch_bytes);

/// Whether images of runs of so many bytes may be pieces of longer ones: `columns` images at a
/// time, in a box of `box_columns`.
bool can_image_pieces(int64_t run_bytes, int64_t columns, int64_t box_columns,
                      const Target& target);

/// The same where source and target have rows in common, the first digit of the runs.
bool can_image_rows(const TileRun& rows, const TileRun& columns, const Machine& machine);
program::Body emit_imaged_rows(const TileRun& rows, const TileRun& columns, const Strides& at,
                               const Machine& machine, int64_t& scratch_bytes);

/// The same where the rows of one side are shorter than a lane and touch. Whether such rows of an
/// operand (0: the target) are better taken so than permuted.
bool takes_short_rows(size_t operand, int64_t element_bytes, int64_t row_bytes,
                      const Target& target);
bool has_short_rows(const TileRun& rows, const TileRun& columns, const Machine& machine);
program::Body emit_short_row_transpose(const TileRun& rows, const TileRun& columns,
                                       const Strides& at, const Machine& machine, Tables& tables);

/// Permutes a block that fits few vectors: the sides in `block` (bit 0: the first), which may be
/// contiguous in either operand, in any order. Another side repeats it along its runs of the
/// target, so that these leave together. `scratch_bytes` grows to what the code needs.
program::Body emit_permutation(const nest::Tile& tile, uint32_t block, const Strides& at,
                               const Machine& machine, Tables& tables, int64_t& scratch_bytes);

/// `copy 2 x 64 bytes`, `transpose 16x16 of 4 bytes`.
std::string describe(const nest::Tile& tile, Movement movement, uint32_t target_run,
                     int64_t element_bytes);

}  // namespace restride
