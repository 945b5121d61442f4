// The movements: each marks the loops of its tiles, and puts those around them in order. What it
// decides has a file, schedule_*.cpp; here is what the others call.
#pragma once

#include <array>
#include <cstdint>

#include "schedule/block_sizes.hpp"
#include "schedule/claimed_lines.hpp"
#include "schedule/draft.hpp"

namespace restride::scheduling {

// ---- rows

/// Rows that `innermost` makes: copied, splatted, or computed where sources follow them.
void rows(Draft& draft, Movement movement, int innermost);

// ---- repeated sources, and those that are better copied first

/// Whether rows of so many bytes that begin between lines of the target are rather shifted one by
/// one in the order of the source than put together first.
bool shifts_rows_by_source(const Draft& draft, int64_t row_bytes);

/// Puts the loops that repeat the source inside those that walk it by chunks.
void repeat_rows(Draft& draft, int64_t row_bytes);

/// Joins `rows` repetitions of a row by loop `k` to whole lines in scratch, and copies those.
/// False where they are few.
bool repeat_joined_rows(Draft& draft, int k, int64_t rows, int64_t row_bytes);

/// Marks a block of the source and all its places. False if it would not make lines of the
/// target.
bool repeat_blocks(Draft& draft);

/// Marks a block whose source is relaid into scratch once, in the order of the target, which is
/// made from there. False if nothing repeats, or if source and target go on in the same loop.
bool gather_repeats(Draft& draft);

/// Marks a block of a source whose elements lie apart, to be transposed once they are dense in
/// scratch. False if they are dense, or in lines of their own.
bool gather_apart(Draft& draft);

/// Marks a block whose rows in the source crowd sets of L1, to be copied to scratch and transposed
/// from there, or whose columns in the target do, to be transposed in scratch and copied from
/// there. False if they do not, and around the caches, where they come in by panels.
bool gather_crowded(Draft& draft);

/// The same around the caches, where rows of the source share sets of all of them: while one comes
/// to scratch others are asked for, a few rows ahead and not all of the next box. False where they
/// do not, or where blocks would leave rests.
bool gather_streamed(Draft& draft);

// ---- transposes

/// Runs of the target meet runs of the source, where they are not permuted.
void transpose(Draft& draft);

/// Of rows of the source that short digits make, in the caches: networks take several digits. False
/// if there are none, or if the code would be long.
bool transpose_source_digits(Draft& draft);

/// The same around the caches, into rows of whole lines: marks loops of both operands. Returns how
/// many bytes of the source are taken, 0 if none are.
int64_t joined_source_digits(Draft& draft, const Schedule& undecided);

/// Of elements whose size is no power of two. False if there are none, or too few of them.
bool transpose_uneven(Draft& draft);

/// Nothing is contiguous: some elements a tile, one by one.
void scattered(Draft& draft);

// ---- transposes whose rows begin between lines

/// Whether rows of the target that touch and begin between lines are better shifted than put
/// together with others.
bool shifts_touching_rows(const Draft& draft);

/// Where rows of the target touch and are short, but no vectors: tiles of whole rows, by what is
/// read of the source at a time, or permuted blocks.
bool touching_rows(Draft& draft);

/// Whether runs of boxes leave by themselves though the target begins between lines: all of them
/// would begin on one if it did.
bool shifts_boxes(const Draft& draft);

/// From `undecided` on: takes long runs whose rows begin between lines, which leave around the
/// caches all the same. `row`: what is taken already, bytes.
bool shift(Draft& draft, const Schedule& undecided, int64_t row);

/// From `undecided` on: marks rows of the target that several digits make in whole lines, which one
/// alone does not, and a line of the source beside them, for a large array. Returns the bytes of a
/// row; 0, and nothing is changed, where there are none.
int64_t digits_in_lines(Draft& draft, const Schedule& undecided);

/// From `undecided` on: where several digits make rows of the target, whole lines or not, and these
/// touch along the columns, makes images of whole rows by some lines of columns. False where there
/// are none.
bool touching_digits(Draft& draft, const Schedule& undecided, Rows rows);

/// From `undecided` on: makes images of some short rows of a large array that the target goes on
/// behind.
bool joins_rows(Draft& draft, const Schedule& undecided);

/// From `undecided` on: permutes whole lines, or makes images of a large array.
bool makes_lines(Draft& draft, const Schedule& undecided);

/// Takes runs of the target that several loops make, or short ones, for images in scratch that
/// leave in lines wherever they begin.
bool image_runs(Draft& draft);
/// The same of pieces of longer runs alone.
bool image_pieces(Draft& draft);
/// The same where that is better than permuting lines.
bool image_before_lines(Draft& draft);
/// The same of tiles of the source that are too small for panels, whose rows follow the columns.
bool image_small_tiles(Draft& draft);

/// The same of runs that rows of both operands make, unless those make whole lines by themselves.
bool image_rows(Draft& draft);

// ---- permutations

/// Marks a block whose source and target both are a few contiguous windows. False if there is
/// none, or if windows join more.
bool permute(Draft& draft, const PermutedLimits& most = {});

/// The same of short rows; those of one element each by way of scratch where windows join many.
bool permute_short_rows(Draft& draft, int innermost);

/// The same where some of the loops make one run of both operands, as batches of small matrices
/// do, and where that is faster than networks.
bool permute_dense_block(Draft& draft);

/// Where lanes are permuted: pairs blocks that one vector has room for, in lanes of its own each.
/// Takes the runs of a block of either operand, bytes; returns those of a pair.
std::array<int64_t, 2> permute_siblings(Draft& draft, std::array<int64_t, 2> runs);

/// Permutes where windows of the target are whole lines then.
bool permute_lines(Draft& draft);

/// How far ahead windows of the target are asked for in the caches, bytes; 0: not at all.
int64_t permuted_claimed_ahead(const Draft& draft);

// ---- all else

/// Where digits do not nest: marks a block with whole periods of them, which is permuted where it
/// is small, else goes through scratch, perhaps in windows. False if there are none, if rows of
/// whole vectors lie inside of them, or if the block is too large: then loops with digits of their
/// own stay outside.
bool unnested(Draft& draft);

/// Rows of the target. Where a source neither follows them nor repeats one element there, the
/// tile is a block that uses up the lines of both.
void compute(Draft& draft);

/// Packed operands: a tile is all that a unit does, or much of it, and is cut into blocks later.
/// The loops around it walk whole bytes of every packed operand, and those that write further
/// apart do, too: so units share no byte.
void packed(Draft& draft);

/// Packed operands that make runs of whole bytes: marks a block as of a transpose of bytes. False
/// if there is none.
bool mixed(Draft& draft);

}  // namespace restride::scheduling
