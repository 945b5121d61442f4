// What a Program may ask of a machine: plain data, so that any target can be planned for on any
// host.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "restride/result.hpp"

namespace restride {

enum class Architecture : uint8_t { x86_64, aarch64 };

/// How large a processor's caches are, and what is fast on it: what a plan is good for, not whether
/// its code runs.
struct Make {
  int64_t line_bytes = 64;
  int64_t page_bytes = 4096;
  int64_t l1_bytes = 32 * 1024;  ///< data cache
  /// Pages whose translations stay at hand: of 2048 since Ice Lake, seven eighths.
  int64_t translated_pages = 1792;
  int64_t l2_bytes = 1024 * 1024;
  int64_t l3_bytes = 32 * 1024 * 1024;
  /// Source and target together beyond which stores around the caches pay.
  int64_t streaming_bytes = 24 * 1024 * 1024;
  /// The same where neighbours in the target are none in the source.
  int64_t transposed_streaming_bytes = 24 * 1024 * 1024;
  /// The same where columns of a transpose crowd sets of the caches.
  int64_t crowded_streaming_bytes = 24 * 1024 * 1024;
  /// The same, if less, where rows begin between lines, and come out of rows of whole lines
  /// (crowds_between_lines); a seventh of it for pairs of bytes.
  int64_t crowded_between_lines_bytes = std::numeric_limits<int64_t>::max();
  /// The same, if more, for those that vectors of half a line write well (keeps_crowded).
  int64_t kept_crowded_streaming_bytes = 0;
  /// The same, if more, where rows of the target begin between lines: of elements of one and two
  /// bytes, if they have hundreds (keeps_narrow_rows), of two and more, if columns are few
  /// (keeps_narrow_columns).
  int64_t narrow_streaming_bytes = 0;
  /// The same where rows of the source crowd them, which are copied to scratch in the caches.
  int64_t gathered_streaming_bytes = 24 * 1024 * 1024;
  /// The same where hardly anything is read.
  int64_t streaming_fill_bytes = 24 * 1024 * 1024;
  /// The same, if less, where what is read has places pages apart, and goes to all of them chunk by
  /// chunk.
  int64_t streaming_repeat_bytes = std::numeric_limits<int64_t>::max();
  /// The same, if less, where it stays in L1.
  int64_t streaming_page_repeat_bytes = std::numeric_limits<int64_t>::max();
  /// The same where runs of the target that begin between lines are put together first.
  int64_t imaging_bytes = 24 * 1024 * 1024;
  /// The same, if less, where neighbours in the target are some lines apart in the source.
  int64_t far_imaging_bytes = std::numeric_limits<int64_t>::max();
  /// Runs of so many bytes and more that repeat an element are stored by one operation each, which
  /// reads nothing before it writes, in targets beyond the caches of up to `run_fill_bytes`; longer
  /// ones also in those beyond L2.
  int64_t stored_run_bytes = std::numeric_limits<int64_t>::max();
  int64_t run_fill_bytes = 0;
  /// Bytes of a target beyond which its lines are asked for before they are written.
  int64_t claiming_bytes = std::numeric_limits<int64_t>::max();
  /// Lines of the target of a transpose in the caches are asked for before they are written.
  bool claims_transposed_lines = true;
  /// So are those of boxes that are computed, and of blocks that are permuted, of large arrays
  /// whose rows begin between lines: they go through the caches.
  bool claims_streamed_lines = false;
  /// Permuted blocks ask for lines of the target before they write them, where it goes on for so
  /// many bytes.
  int64_t claimed_permuted_run_bytes = 1024;
  /// Elements that a bound cuts move as one where it leaves them whole, even where blocks of their
  /// parts could be permuted to whole lines around the caches (schedule/cut_elements.hpp).
  bool joins_cut_elements = false;
  /// Runs of boxes of a transpose that begin between lines and leave by themselves, if they are of
  /// so many bytes; the lines at their ends are asked for before.
  int64_t shifted_box_bytes = std::numeric_limits<int64_t>::max();
  /// Runs of a target that touch are shifted, not put together with others, if they are of so many
  /// bytes and their rows are far apart in the source.
  int64_t shifted_touching_run_bytes = std::numeric_limits<int64_t>::max();
  /// So are those, wherever they are in the source, of which images would take so many bytes.
  int64_t shifted_touching_image_bytes = std::numeric_limits<int64_t>::max();
  /// Images that begin on lines have runs of whole lines, rather than longer ones, of up to so many
  /// bytes. 0: none.
  int64_t whole_line_image_bytes = 0;
  /// Images of elements of 4 bytes and more have runs of so many bytes and more.
  int64_t wide_image_run_bytes = std::numeric_limits<int64_t>::max();
  /// Images of elements this wide are pieces of longer runs however little of a row of the source a
  /// box has, and boxes have more panels.
  int64_t piece_element_bytes = std::numeric_limits<int64_t>::max();
  /// Runs longer than a page that begin between lines are made images of, too, rather than permuted
  /// into lines.
  bool images_long_runs = false;
  /// Blocks of transposes in the caches have the rows of a network, and go on along the source,
  /// where its rows crowd sets of L1 or begin between lines of which the target's are whole.
  bool walks_along_source = false;
  /// Narrow columns of a target whose lines meet in sets of L1 are written by two lines at a time,
  /// if arrays take more than half of L2.
  bool pairs_meeting_lines = false;
  /// Rows of the target of more than a lane, and up to so many bytes, are written lane by lane in
  /// the caches (makes_lane_rows).
  int64_t lane_rows_bytes = 0;
  /// Rows of the target of fewer bytes are permuted in the caches, not transposed, unless those of
  /// the source are shorter; and so are those that fill little more than one and a half vectors.
  int64_t permuted_row_bytes = 0;
  /// Columns of single bytes, of so many bytes and more, are transposed rather than permuted, where
  /// rows of the target have half a vector.
  int64_t transposed_column_bytes = std::numeric_limits<int64_t>::max();
  /// Rows of a few lines and less, which begin between lines, are put together before they leave.
  bool images_rows = false;
  /// So are those that leave a rest, of arrays that begin on lines, too.
  bool images_rows_with_rests = false;
  /// Images of columns ask for the rows of the next box as those of one come in, not while columns
  /// leave.
  bool asks_as_rows_come = false;
  /// Boxes that go on along rows of the source that begin between lines are asked for line by line
  /// of all rows, not row by row.
  bool asks_down_rows = false;
  /// Rows of large arrays that stream are joined to lines only where these are lines of the target.
  bool joins_whole_lines = false;
  /// Stores through masks ask for their lines when it is their turn, not before.
  bool masked_stores_wait = false;
  /// Stores to more lines of a set of L1 than it has ways drive out each other's lines before they
  /// are written.
  bool crowded_stores_wait = false;
  /// Rows of the source that crowd sets of L1 are read from L2 again and again, not brought to
  /// scratch, unless they are most of a network of bytes; nor are columns of wide elements made
  /// there that would wait.
  bool rereads_crowded_rows = false;
  /// Runs of a target that begin between lines and are worth the code that shifts them, if they
  /// stream. (2 KB against 512: 40 random matrices with rows of 300 bytes to 2 KB 1.04 times as
  /// long, u8[917,40,465]{0,2,1} .35 for .53 of the ceiling; 256 bytes the same.)
  int64_t shifting_run_bytes = 512;
  /// Rows of packed elements that begin between lines are shifted, too.
  bool shifts_mixed_rows = false;
  /// Computed rows that begin between lines are shifted, too, where they stream.
  bool shifts_computed_rows = false;
  /// Blocks are computed in the order of their sources where that relays fewer bytes.
  bool computes_first = false;
  /// Lines of the target by which rows that begin between lines come in, of elements of four bytes
  /// and more; narrower ones come in by two.
  int shifted_chunk_lines = 2;
  /// Where rows of the target begin between lines, panels of elements of so many bytes and more
  /// come in while those before them leave.
  int by_turns_element_bytes = 8;
  /// Elements of up to so many bytes, whose rows begin between lines of both operands and crowd
  /// sets of L1 in the source, come to scratch row after row before boxes of them are transposed.
  int gathered_row_element_bytes = 0;
  /// Where transposes stream, narrow rows of the source a power of two apart come to scratch though
  /// runs of them make whole lines of the target, which panels could write.
  bool gathers_streamed_lines = true;
  /// Source and target together from which rows of the source that come to scratch in the caches
  /// make blocks of twice the size.
  int64_t far_gather_bytes = std::numeric_limits<int64_t>::max();
  /// Columns of images before the one that leaves whose ends are asked for once more: 0 where a
  /// first level holds an image beside what was asked for before it came in.
  int columns_claimed_again = 0;
  /// Where transposes of two bytes and more stream, boxes write so many bytes of the target at a
  /// time, if these are to be more than two lines.
  int64_t long_run_bytes = 0;
  /// Up to so many, where rows of the source are some pages apart and elements have four bytes and
  /// more, if short rows of the target fall into such runs.
  int64_t far_long_run_bytes = 0;
  /// Such rows are taken whole by boxes of up to so many bytes.
  int64_t whole_row_box_bytes = 0;
  /// Where transposes stream, boxes whose columns share their places in pages of the target write
  /// longer runs, and rows of bytes that share theirs come by strips (schedule/shared_places.hpp).
  bool spreads_runs = false;
  /// Up to so many, where rows of the source touch and are a line, or shorter and those of the
  /// target short, too: see run_beside_short_rows. 0: as others.
  int64_t touching_rows_run_bytes = 0;
  /// Where transposes stream for their size, not for crowded sets alone, elements of so many bytes
  /// and more are read by pages: see page_rows.
  int page_element_bytes = 8;
  /// Boxes of transposes that stream do not cut digits of the source up to so many bytes.
  int64_t uncut_run_bytes = 512;
  /// Where a source goes on behind columns of less than two lines along runs of the target, boxes
  /// that stream take these whole, up to so many bytes.
  int64_t run_along_source_bytes = 0;
  /// So much of each row of the source is read by boxes of transposes that stream, of elements of
  /// two bytes and more: of its innermost digit, and of that and others together if it has less.
  int64_t streamed_column_bytes = 512;
  int64_t streamed_digits_bytes = 512;
  /// Of the caches, to which boxes are asked for ahead. They would fill a first one of 32 KB: Zen
  /// 4, 16 cases of ttc and 10 matrices in .74 of the time towards the second (f32 4096 x 4096 .44
  /// -> .65 of the ceiling, u8 8192 x 8192 .49 -> .72, f32 T(8,128) to T(16,16) .45 -> .86).
  int asked_level = 2;
  /// So much of the source is asked for ahead, where boxes are small and their rows a line apart or
  /// more. Zen 4, 12 cases of ttc .97 of the time, 52 others .97: f32[32,30,192,30]{0,3,1,2} .62 ->
  /// .67 of the ceiling; 24 and 40 KB the same. Where rows are less than 256 bytes apart 47
  /// problems .89: f64[300000,10] .55 -> .95, f32[6,144,192,8,32]{3,1,0,2,4} .48 -> .72.
  int64_t asked_ahead_bytes = 32 * 1024;
  /// Boxes of transposes that stream take up to so many bytes of two digits of the source together,
  /// if the first one alone makes no whole lines.
  int64_t joined_digits_bytes = 1600;
  /// Lines of each row of the box ahead that are asked for behind its own: rows of a source that
  /// begins between lines reach into one more, and what is asked for goes on in other rows sooner.
  int asked_lines_beyond = 0;
  /// Where source and target together have up to so many bytes, boxes of transposes that stream go
  /// on along the source, even if all their rows would stay at hand while the target goes on.
  int64_t follows_source_bytes = 0;
  /// Blocks of a source that is repeated in a target beyond L2 are large, however often it is,
  /// where rows begin between lines; those that stream have whole rows, which leave together where
  /// they touch.
  bool repeats_large_blocks = false;
  /// The processor reads ahead of an instruction by the steps that it sees it take, so that rows
  /// are best moved by one, in the order of the source.
  bool reads_ahead_by_step = false;
  /// Long rows that leave around the caches are read in so many places in turn: it reads ahead page
  /// by page, and waits where one ends.
  int row_streams = 1;
  /// It reads ahead of loads through masks, too.
  bool reads_ahead_of_masks = true;
  /// Rows of a source enter the networks of transposes in pieces of so many bytes: 16, or 32 where
  /// a shuffle of lanes costs less than another load.
  int network_piece_bytes = 16;
  /// Elements of fewer bytes enter in pieces of 16 all the same.
  int least_piece_element_bytes = 1;
  /// Beyond so many bytes, source and target together, networks of narrow elements read shorter
  /// pieces where that leaves fewer lines waiting.
  int64_t wide_network_bytes = std::numeric_limits<int64_t>::max();
  /// The widest registers of transposes whose arrays stay in L1: half of a line where the processor
  /// moves halves at a time.
  int l1_vector_bytes = 64;
  /// Networks of transposes whose arrays stay in L1 get rows that are skewed, which are merged by
  /// blends and funnel shifts: unpacks wait for one port.
  bool skews_rows = false;
  /// Dense blocks of elements up to so many bytes are permuted by blends that windows share, if
  /// networks would fill lanes.
  int dense_ring_bytes = 0;
  /// Steps that a two-source permute of elements under 4 bytes takes; all others take one.
  int narrow_permute_steps = 1;

  bool operator==(const Make&) const = default;
};

/// Of rows of elements of so many bytes: network_piece_bytes or 16.
int network_piece_bytes(const Make& make, int64_t element_bytes);

/// Arrays of more than so many bytes go around the caches, whatever is done with them.
void stream_beyond(Make& make, int64_t bytes);

/// One machine as the planner and the verifier see it.
struct Target : Make {
  std::string name;  ///< `sse2`, `avx2`, `avx512`, `avx512_vbmi`, `neon`, `sve128`, `sve256`
  Architecture architecture = Architecture::x86_64;
  int vector_bytes = 16;  ///< the widest vector: 16, 32 or 64
  int registers = 16;  ///< vector registers a Program may have live at once; less than the machine
                       ///< has where a translator needs some for itself
  bool byte_masks =
      false;  ///< loads and stores of any number of bytes; else 1, 2, 4, 8, 16 or whole
  bool shuffle_bytes = false;  ///< one-source byte permutes within 16-byte lanes
  int permute_width = 0;       ///< narrowest element of two-source permutes, bytes; 0: none
  int permute_bytes = 64;      ///< elements are permuted in parts of so many bytes, a lane or more
  bool nontemporal = true;     ///< stores around the caches

  bool operator==(const Target&) const = default;
};

/// The encodings that code for a target is written in. On x86-64 each contains the one before it;
/// on Arm each contains NEON, and SVE code is made for one length of its registers.
enum class InstructionSet : uint8_t {
  sse2,
  avx2,         ///< with AVX, F16C and everything up to SSE4.2
  avx512,       ///< F, BW, VL and DQ
  avx512_vbmi,  ///< with two-source byte permutes and funnel shifts (VBMI2)
  neon,
  sve128,  ///< SVE with registers of 128 bits
  sve256,  ///< of 256 bits
};

/// The weakest instruction set that has everything `target` claims: its fields decide, not its
/// name.
InstructionSet instruction_set(const Target& target);

/// Whether the widest vectors are permuted within parts of them, lane by lane.
bool permutes_lanes(const Target& target);

/// Every target this library knows by name; weakest first within an architecture.
std::span<const Target> known_targets();

/// The best known target of the machine this runs on, by what its processor says, with its real
/// cache sizes. Determined once; safe from any thread.
const Target& host_target();

/// `host` or a name of known_targets(); an unknown name is an error that lists the known ones.
/// A target the host can run comes with the host's cache sizes.
Result<Target> find_target(std::string_view name);

/// Whether code for `target` runs on this machine.
bool runs_here(const Target& target);

}  // namespace restride
