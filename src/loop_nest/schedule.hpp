// Schedule: in which order an iteration space is executed, and in which pieces.
//
//     IterationSpace ── schedule ──► Schedule ── lower ──► LoopNest
//
// The space of a schedule is the simplified one with loops split and interchanged; bounds stay what
// they are.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "space/iteration_space.hpp"

namespace restride {

/// How the rectangles at the bottom are moved through registers.
enum class Movement : uint8_t {
  row,    ///< the innermost loop is contiguous in source and target: whole vectors pass through
  splat,  ///< the innermost loop is contiguous in the target and repeats one element of the source
  permute,    ///< a small block is permuted in registers: inner dimensions of a few bytes on either
              ///< side
  transpose,  ///< some loops make a run of the target, others a run of the source
  repeat,     ///< a block is relaid into scratch, and its rows are copied to each of their places
  gather,     ///< digits do not nest, elements repeat in a run of the target or lie apart in a
              ///< source across it, or rows of that or columns of the target crowd sets of L1:
              ///< sources are relaid into scratch, the target is made from there
  compute,    ///< rows of the target are computed; sources that do not lie in rows, or repeat one
              ///< element there, are relaid into scratch first
  mix,        ///< rows of packed elements are mixed into an image in scratch, whose bytes are those
              ///< of the target; they are relaid from there
};

/// Which rows of packed elements are mixed: those of the source before they are relaid, or those of
/// the target afterwards.
enum class MixedRows : uint8_t { source, target };

/// Where boxes of a transpose around the caches come together: in registers, in panels in L1 that
/// are filled while others leave, in such panels from rows that have been copied to scratch, in
/// panels whose rows leave shifted though they touch, or in images in L1 that leave wherever in a
/// line they begin.
enum class Staging : uint8_t { registers, panels, panels_of_gathered_rows, shifted_panels, images };

constexpr bool has_panels(Staging staging) {
  return staging == Staging::panels || staging == Staging::panels_of_gathered_rows;
}

/// Elements of an axis that go apart, the first and the last ones, so that blocks begin on lines
/// and end there.
///
/// Where runs are spliced the last elements of one and the first ones of the next, to which axis
/// `next` leads, go together: with these they make whole lines.
///
///     lines   |....aaaa|bbbbbbbb|bbcccccc|bbbbbbbb|bbcccccc|bbbbbbbb|dd......|
///     runs         0                1                 2
///                              the first 6 and the last 2: b between, c spliced
///
/// Of runs along two axes, all elements go with those of the next one.
///
/// Runs that are columns of the source side by side are spliced but for some at the end, so that
/// panels of columns have no rest.
///
/// Of a ring the last elements and the first ones of the same run are one block.
struct Peel {
  int axis = -1;
  int64_t first = 0, last = 0;
  int next = -1;      ///< of a splice
  int slower = -1;    ///< of a splice of runs along two axes, the slower one
  int64_t apart = 1;  ///< of a splice: runs at the end that nothing is spliced with
  bool ring = false;

  bool operator==(const Peel&) const = default;
};

struct Schedule {
  IterationSpace space;
  Movement movement = Movement::row;
  /// The innermost loops that form tiles.
  int tile_loops = 0;
  /// Which tile loops make the contiguous run of the target, one bit each, bit 0 the outermost. Of
  /// a transpose the others make the run of the source; of a computation they repeat the row.
  uint32_t target_run = 0;
  /// The tile loops whose padding is moved with what it belongs to, one bit each: elsewhere it is
  /// filled apart.
  uint32_t fills_within = 0;
  /// Code of its own for so many iterations of a loop at a time, where a block of all would not fit
  /// the scratch; -1: no loop.
  int window_loop = -1;
  int64_t window = 1;
  /// Of the program: the target's, or narrower where the runs of a transpose do not fill those.
  int vector_bytes = 16;
  /// Of a transpose: bytes of a source row that one network takes in.
  int64_t network_column_bytes = 16;
  Staging staging = Staging::panels;
  /// Rows of a transpose that are a line each are staged, too, be they what longer ones leave.
  bool stages_lines = false;
  /// Panels of a transpose are as wide as lines, of which vectors are parts.
  bool wide_panels = false;
  /// Rows come to a strip of scratch, a group of them at a time, before they make such a panel: the
  /// one of their box.
  bool strips_rows = false;
  /// Runs of a transpose leave wherever in a line they begin, shifted to lines, box by box.
  bool shifts_runs = false;
  /// Boxes of a transpose take several of two digits of the source.
  bool joins_digits = false;
  /// Rows of a transpose that touch come to images with their padding.
  bool fills_images = false;
  /// Images hold longer runs of the target, of up to twice as many bytes.
  bool long_images = false;
  /// Images come in and leave in smaller steps, where their code would be too long else.
  bool short_images = false;
  /// Blocks are computed in the order of their sources, and relaid then.
  bool computes_first = false;
  /// Blocks leave scratch by way of images of their columns.
  bool images_blocks = false;
  /// Networks of a transpose get rows that are skewed.
  bool skews_rows = false;
  /// Networks of a transpose make a lane of a row each, the last one over the one before it.
  bool lane_rows = false;
  /// Whole vectors of the target go around the caches.
  bool nontemporal = false;
  /// Of a splat: long runs of the target are stored by one operation each.
  bool stores_runs = false;
  /// How many bytes before they are written lines of the target are asked for; 0: they are not.
  int64_t claimed_ahead = 0;
  /// Of a transpose: what would be much code for little is done in more steps.
  bool short_code = false;
  /// Of a transpose around the caches: how many boxes ahead their source is asked for, if the loop
  /// around them goes so far.
  int64_t boxes_ahead = 1;
  /// Of how many rows ahead a gathered source is asked for, while it comes to scratch; 0: it is
  /// not.
  int64_t rows_ahead = 0;
  /// Networks of a transpose go on along the target before they do along the source.
  bool target_first = false;
  /// Blocks are for a target that begins on a line; elsewhere others are faster.
  bool wants_lines = false;
  /// Of a computation: the sources that are asked for ahead where they are read in place, a bit an
  /// operand.
  uint32_t asked_sources = 0;
  /// What lies between runs of the source may be read: it is of the source's array.
  bool reads_between = true;
  /// Along runs of the target, and, of what is between those ends, along runs of the source.
  std::array<Peel, 2> peels{};
  /// Elements of the innermost loop of the tile that move as one where bounds leave them whole.
  int64_t joined_elements = 1;
  /// Of packed elements: which rows are mixed.
  MixedRows mixed = MixedRows::source;

  bool operator==(const Schedule&) const = default;
};

std::string to_string(Movement movement);
std::string to_string(const Schedule& schedule);

}  // namespace restride
