// Scheduler: a Schedule in the making.
//
// Decides in the order of the movements; each has a file for what it decides; scheduler.cpp
// has which one, and what several ask.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "schedule/block_sizes.hpp"
#include "schedule/marked_loops.hpp"
#include "schedule/scheduling.hpp"

namespace restride {

/// Whether a loop is what join_cut_runs makes: all of an axis, to which the source has a digit of
/// its own.
inline bool is_joined(const Loop& loop) {
  return loop.own.size() == 1 && loop.own.front().operand == 1;
}

/// Marks the loops of a tile and puts those around it in order.
class Scheduler : private MarkedLoops {
 public:
  Scheduler(const IterationSpace& space, const Target& target, CodeGoal goal);

  Schedule run();

 private:
  /// Whether much more is written than is read.
  bool fills() const;

  /// Whether the arrays are too large to stay in the caches anyway.
  bool streams() const;

  /// Whether the target is large, and written in runs of pages or more, through the caches.
  bool claims() const;

  /// How many bytes of an operand the space touches, gaps included.
  int64_t extent_bytes(int operand) const { return extent_bytes_[static_cast<size_t>(operand)]; }

  /// How much of the caches that takes: the lines with something in them.
  int64_t cached_bytes(int operand) const;
  int64_t cached_source_bytes() const;

  /// Whether source and target of a move stay in L1 together.
  bool stays_in_l1() const;

  /// Of a computation: the sources that are large, and read in runs of pages or more.
  uint32_t asked_sources() const;

  /// Bytes that the innermost loops make of an operand without a gap.
  int64_t run_bytes(size_t operand) const;

  // ---- rows (schedule_rows.cpp)

  /// Rows of fewer bytes are permuted, where that can be.
  int64_t permuted_row_bytes(const Loop& row) const;

  void rows(Movement movement, int innermost);

  /// Puts as many rows that follow each other in the target into a tile as make whole lines. False
  /// where they do not.
  bool join_rows(int64_t row_bytes);

  /// Puts as many rows that begin between lines into a tile as it takes until they begin on one.
  void rows_of_every_phase(int64_t row_bytes);

  /// Where short rows go on in one loop of the target and in another one of the source: some rows
  /// of the target at a time, for as many as make pages of the source.
  void rows_by_pages(int64_t row_bytes);
  int64_t rows_at_a_time(int64_t row_bytes) const;

  // ---- repeated sources (schedule_repeat.cpp)

  bool is_repeat(int k);

  /// Whether loops that can go inside repeat more of the source than L1 holds beside other things.
  bool repeats_source();

  /// Puts the loops that repeat the source inside those that walk it by chunks.
  void repeat_rows(int64_t row_bytes);

  /// Joins `rows` repetitions of a row by loop `k` to whole lines in scratch, and copies those.
  /// False where they are few.
  bool repeat_joined_rows(int k, int64_t rows, int64_t row_bytes);

  bool has_repeats();
  void mark_repeats(Mark as);

  /// Marks a block of the source and all its places. False if it would not make lines of the
  /// target.
  bool repeat_blocks();

  /// Marks a block whose source is relaid into scratch once, in the order of the target, which is
  /// made from there. False if nothing repeats, or if source and target go on in the same loop.
  bool gather_repeats();

  /// Marks a block of a source whose elements lie apart, to be transposed once they are dense in
  /// scratch. False if they are dense, or in lines of their own.
  bool gather_apart();

  /// Marks the loops of a run of the target, repeated ones among them; returns how much of it the
  /// source has, bytes.
  int64_t take_repeated_run();

  /// Nothing is contiguous: some elements a tile, one by one.
  void scattered();

  // ---- transposes (schedule_transpose.cpp)

  void transpose();

  /// What the networks of a transpose take of the operands, bytes.
  struct Runs {
    int64_t row = 0;     ///< of the target
    int64_t column = 0;  ///< of the source
    bool lanes = false;  ///< see takes_lanes
  };

  /// Marks the runs of both operands. Nothing, where what they are short of is permuted instead.
  std::optional<Runs> take_runs();
  Runs target_run_first();
  Runs source_run_first();

  /// Columns leave no rest where code has to be short.
  Length column_length() const;

  /// Whether the rows of one side are short and touch, so that lanes hold some of them. `row`,
  /// `column`: what is taken of the target and the source, bytes.
  bool short_rows_touch(int64_t row, int64_t column);

  /// Whether lanes of registers better hold columns of the source than rows of the target, which
  /// are a lane long.
  bool takes_lanes(int64_t row);

  /// Puts the blocks in which the target goes on, behind runs of `row` bytes, right around one.
  void go_on_around(int64_t row);

  /// Where rows of the target touch and are short, but no vectors: tiles of whole rows, by what is
  /// read of the source at a time, or permuted blocks.
  bool touching_rows();
  /// Whether the rows and columns of these loops are such, and small enough for an image in L1.
  bool touch_between_lines(int row, int column);

  /// Whether what begins between lines is better written through the caches, since the third level
  /// holds `times` as much as both arrays.
  bool stays_beside(int64_t times = 1) const;
  /// The same of long rows; loop `across` makes columns, whose lines have to be there in time.
  bool long_rows_stay_beside(int across);

  /// Takes long runs whose rows begin between lines, which leave around the caches all the same.
  /// `row`, `column`: what is taken already, bytes.
  bool shift(int64_t row, int64_t column);

  /// Whether loop `k` goes on where the row that is taken already ends, in both operands.
  bool continues_rows(int k);

  /// Takes runs of the target that several loops make, or short ones, for images in scratch that
  /// leave in lines wherever they begin.
  bool image_runs();
  /// The same of runs that rows of both operands make, unless those make whole lines by themselves.
  bool image_rows();
  bool take_imaged_rows(int64_t row_bytes);
  /// Marks loops that make a panel of columns of the source; returns how many.
  int64_t take_imaged_columns();
  /// Marks loops that make a run of up to `most` bytes; returns its length.
  int64_t take_imaged_run(int64_t most);

  /// Permutes whole lines, or takes such runs of a large array.
  bool makes_lines(const Schedule& undecided);

  /// Decides anew, from `undecided` on; all stays as it is where `other` says false.
  bool instead(const Schedule& undecided, const std::function<bool()>& other);

  /// Whether all unmarked loops but these two walk whole lines of the target: else where its lines
  /// begin is not known inside of them.
  bool others_begin_lines(int row, int column);

  /// Whether images in scratch leave as lines of the target wherever they begin.
  bool shifts_images() const;

  /// Iterations of a loop in which the loops inside are whole.
  int64_t whole_iterations(int k);

  /// Whether blocks are better made of pages of the source.
  bool reads_pages(int64_t row, int64_t column);

  /// Whether all rows of the target begin on lines.
  bool begins_lines();

  /// Whether a run of an operand can be lengthened to `wanted` bytes by one loop.
  bool goes_on(size_t operand, int64_t run, int64_t wanted);

  /// Whether runs of so many bytes are permuted rather than transposed.
  bool is_narrow(int64_t run);

  /// The loop along which the source lies side by side, in units of what the tile has taken of it;
  /// -1 if there is none.
  int widest_source_loop();

  // ---- sets of L1 (schedule_sets.cpp)

  /// Prepares networks for columns of the target that crowd sets of L1: rows go on first then, for
  /// longer. False where they do not, or where that does not help.
  bool make_room_in_l1();

  /// Where rows of the target begin.
  enum class Rows : uint8_t { begin_lines, between_lines };

  /// How far ahead a transpose through the caches asks for lines of its target, bytes; 0: it does
  /// not. `column`: bytes of the source that blocks are long.
  int64_t claimed_ahead(int64_t column, Rows rows);

  /// How long runs of the target are without those of loop `across`, which end in other columns.
  int64_t written_run_bytes(int across);

  int64_t l1_ways() const;

  /// The most lines in one set, of `count` times `touched_bytes` bytes that are `stride` bytes
  /// apart.
  int64_t lines_in_set(int64_t stride, int64_t count, int64_t touched_bytes) const;

  // ---- transposes of elements whose size is no power of two (schedule_uneven.cpp)

  /// False if there are none, or too few of them.
  bool transpose_uneven();

  /// Takes what lies side by side in source and target for one element, which is a few bytes wide.
  /// False where that is not so.
  bool join_uneven();

  /// Marks runs of the target of at least so many bytes, and some columns; true.
  bool take_uneven_block(int64_t least_target_run);

  /// The elements of a run that is worth a network, of what was `unjoined_bytes` wide.
  int64_t least_uneven_run(int64_t unjoined_bytes);

  /// Elements that fill a vector.
  int64_t uneven_network();

  /// Whether lines of the target are found again where they are written in parts, although the
  /// arrays do not stay in the second level.
  bool stays_near();

  // ---- permutations (schedule_permute.cpp, schedule_permuted_block.cpp)

  /// Whether the target permutes elements of this width.
  bool permutes() const;

  /// The widest windows of permuted blocks: vectors that are permuted.
  int permuted_window_bytes() const;

  /// The extent a loop needs for a run of `run` bytes to become a multiple of `whole`.
  /// Of a short loop all, rather than a rest with code of its own.
  int64_t window_extent(int64_t run, int64_t extent, int64_t whole) const;

  /// Marks a block whose source and target both are a few contiguous windows. False if there is
  /// none, or if windows join more.
  bool permute(const PermutedLimits& most = {});
  /// The same of short rows; those of one element each by way of scratch where windows join many.
  bool permute_short_rows(const Loop& row);
  bool mark_permuted(const PermutedLimits& most);

  /// The same where some of the loops make one run of both operands, as batches of small matrices
  /// do, and where that is faster than networks.
  bool permute_dense_block();
  bool has_dense_block();

  /// Puts what goes on behind runs of a block right around it. `runs`: of each operand, bytes.
  void permute_pages(const std::array<int64_t, 2>& runs);

  /// Pairs blocks that one vector has room for, in lanes of its own each. Takes the runs of a block
  /// of either operand, bytes; returns those of a pair.
  std::array<int64_t, 2> permute_siblings(std::array<int64_t, 2> runs);

  /// Permutes where windows of the target are whole lines then.
  bool permute_lines();

  /// Whether blocks are joined to images, and lie close to each other in the source, too.
  bool follows_source();

  /// How many blocks, whose runs begin between lines and stream, are joined to leave in lines;
  /// or 1.
  int64_t blocks_of_image(const std::vector<int64_t>& block);

  /// Repeats the block where its runs of the target, of `run` bytes, go on.
  void join_in_image(int64_t run, int64_t blocks);

  /// The vectors that hold a block as it lies in the target and in the source, and those of the
  /// source that the first of the target joins.
  struct Windows {
    int64_t targets, sources, joined;
  };
  Windows windows_of(const std::vector<int64_t>& block);
  int64_t joined_windows(const std::vector<int64_t>& block);

  /// Whether windows of the target join few of the source, one after the other.
  bool joins_few(const PermutedLimits& most, const std::vector<int64_t>& block);

  /// Whether all windows of a block share the blends that join them, which takes few.
  bool makes_rings(const PermutedLimits& most, const std::vector<int64_t>& block);

  /// The bytes that a block has of an operand without a gap, from its first element on.
  int64_t block_run(const std::vector<int64_t>& block, size_t operand);

  /// Repeats a dense block that streams until it is a multiple of `whole` bytes, so that it can
  /// leave around the caches.
  void lengthen_dense(std::vector<int64_t>& block, int64_t whole);

  /// Joins the digits of short runs of the target that come from several tiles of the source, the
  /// last of them cut off, so that a block can have all of a run.
  void join_cut_runs();

  int64_t block_bytes(const std::vector<int64_t>& block) const;

  /// A block whose runs of the target are multiples of `whole` bytes, and those of the source of
  /// `source_whole`, as far as that goes.
  std::vector<int64_t> permuted_block(int64_t whole, int64_t source_whole);

  /// The same with shorter windows, where those share blends; empty if none do.
  std::vector<int64_t> block_of_rings(const PermutedLimits& most);
  /// Lengthens a block until runs of an operand are multiples of `whole` bytes, as far as that
  /// goes.
  void lengthen_to_windows(std::vector<int64_t>& block, size_t operand, int64_t whole);

  /// The windows of the source that one of a block may join.
  int64_t most_joined(const PermutedLimits& most, const std::vector<int64_t>& block);

  /// Whether blocks that follow each other make lines of the target: they are one run of it, which
  /// goes on as the source does.
  bool follow_in_lines(const std::vector<int64_t>& block);

  /// Whether a block writes elements of the source more than once.
  bool repeats(const std::vector<int64_t>& block);

  /// How far ahead windows of the target are asked for in the caches, bytes; 0: not at all.
  int64_t permuted_claimed_ahead();

  /// Rows of the target that begin between lines share one with what is written after other rows,
  /// so some vectors of a row are written at a time. In the second level a store takes twice as
  /// long with one, a third longer with four: u8 10000 x 3 .46 -> .66 of memcpy.
  void lengthen_shifted_rows(std::vector<int64_t>& block);

  // ---- digits that do not nest (schedule_unnested.cpp)

  /// Marks a block with whole periods of them, which is permuted where it is small, else goes
  /// through scratch, perhaps in windows. False if there are none, if rows of whole vectors lie
  /// inside of them, or if the block is too large: then loops with digits of their own stay
  /// outside.
  bool unnested();

  /// The loops that make a row of source and target alike, from the finest to the one with digits
  /// of its own; empty if there are none.
  std::vector<int> row_with_own_digits();

  /// Marks rows that a loop with digits of its own makes of pieces. False if there are none, or
  /// where pieces are too many.
  bool rows_of_pieces();

  /// Whether long rows of all operands lie inside of the loops with digits of their own.
  bool has_nested_rows();

  /// The loops of whole periods and inside of them, by extent; empty if all digits nest.
  std::vector<int64_t> period_block();

  /// Lengthens a block by the loops that write closest to each other, up to `elements`.
  void lengthen(std::vector<int64_t>& block, int64_t elements);

  /// Cuts the largest loop with digits of its own into windows, so that blocks have at most
  /// `elements`. False if that takes too many.
  bool cut_windows(const std::vector<int64_t>& block, int64_t elements);

  /// Bytes of scratch that a block takes for one element of the target.
  int64_t gathered_element_bytes();

  // ---- computations (schedule_compute.cpp)

  /// Rows of the target. Where a source neither follows them nor repeats one element there, the
  /// tile is a block that uses up the lines of both.
  void compute();

  /// The only source that does not repeat one element along the row; 0 if there are several.
  /// Blocks go on where it does; where others lie in rows of the target, as the target does. (f32
  /// to s8, transposed: .35 -> .6 of the ceiling; but f32 times its transpose .68 -> .58.)
  int only_source();

  /// Marks the loops of a row of the target; returns its elements.
  int64_t computed_row();

  /// How many of a loop's iterations lengthen a row of `run` elements, to whole vectors if it is
  /// short.
  int64_t computed_extent(int64_t run, int64_t extent) const;

  /// The bytes of a source that the row already has side by side.
  int64_t taken_run(int operand);

  /// Whether neighbours lie side by side in a source along loop `k`.
  bool begins_runs(int k);

  /// Whether a source is contiguous along the whole row, or repeats one element there.
  bool follows_row(int operand);

  /// Bytes of the elements that are relaid for one element of the target.
  int64_t relaid_element_bytes();

  // ---- packed operands (schedule_packed.cpp)

  /// Packed operands: a tile is all that a unit does, or much of it, and is cut into blocks later.
  /// The loops around it walk whole bytes of every packed operand, and those that write further
  /// apart do, too: so units share no byte.
  void packed();

  // ---- packed operands that make runs of bytes (schedule_mixed.cpp)

  /// Marks a block as of a transpose of bytes. False if there is none.
  bool mixed();

  /// Whether blocks go through a panel: where packed lines of the target stream, and begin whole.
  /// `row`, `column`: the loops along which target and source share bytes.
  bool stages_mixed(int row, int column);

  /// The loop along which elements of an operand share bytes, all others walking whole bytes; -1 if
  /// there is none, or if bounds cut it within a byte.
  int sharing_loop(size_t operand);

  /// Whether no loop behind this one has a larger stride in the target.
  bool writes_widest(int k);
  int64_t elements_inside(int k);
  int64_t byte_period_of(const Loop& loop);

  /// The loop that moves an operand least; -1 if none does.
  int finest(size_t operand);

  CodeGoal goal_;
  std::array<int64_t, max_operands> extent_bytes_{};
};

}  // namespace restride
