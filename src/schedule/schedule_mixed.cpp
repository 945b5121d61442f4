// Schedules of packed elements that only move and make runs of whole bytes on either side: blocks
// as of a transpose of bytes, whose rows are mixed on their way.
#include <algorithm>
#include <vector>

#include "microkernel/packed/mixed_box.hpp"
#include "microkernel/transpose/shifted_lines.hpp"
#include "program/program.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {
namespace {

// Bytes of a block along the target and, at least, along the source. With one line for both E(4)
// 4096 x 4096 .53, 128 by 64 .48, 64 by 32 .44; 32 bytes of the target .24.
constexpr int64_t line = 64;
// Where rows of the target are mixed: unpacking transposes of 4 bits .38 -> .45, of 2 .39 -> .57.
constexpr int64_t target_mixed_run = 128;
// Images are no smaller: packing transposes of 512 x 512 .54 -> .63 with 8 KB, of 4096 x 4096 .49
// -> .60 with 16 KB, but E(4) 512 x 512 .43 for .47.
constexpr int64_t cached_image_bytes = 8 * 1024, streamed_image_bytes = 16 * 1024;
// The target goes on right around a block: .42 -> .46, geometric mean of seven cases.
constexpr int64_t run_around = 512;
// Blocks that are staged: a panel takes half of the scratch, of the source lines. E(4) by E(4),
// geometric mean of eight cases: 128 bytes of the target by 512 of the source .66, by 256 .64, by
// 1024 .64, by 128 .63; with the target going on around them .64; 64 bytes of the target .52; not
// staged .54.
constexpr int64_t panel_bytes = program::scratch_in_l1_bytes / 2;
constexpr int64_t staged_source_run = 512;
// Rows of the source, a line each, that make blocks whose columns leave by images, with vectors of
// half a line. Zen 3, E(4) 4096 x 4096 in .56 of the time, .17 -> .31 of the ceiling, five others
// of E(4) and E(2) beyond the caches .60 to .75, s4[64,512,1024]{1,2,0} 1.03; 256 rows of two
// lines 1.3 to 1.4 times that, 1024 of half a line 1.0 to 1.14.
constexpr int64_t imaged_rows = 512;
// Shorter runs are better spread.
constexpr int64_t least_target_run = 8, least_source_run = 16;

/// Bytes of the target that blocks are long where they are staged.
int64_t staged_run(const ElementOp& op) { return panel_bytes / line / elements_in_byte(op, 0); }

/// Whether blocks go through a panel: where packed lines of the target stream, and begin whole.
/// `row`, `column`: the loops along which target and source share bytes.
bool stages_mixed(const Draft& draft, int row, int column) {
  const ElementOp& op = draft.space().op;
  const int64_t run = staged_run(op) * elements_in_byte(op, 0);
  // Where only the source is packed, short blocks with the target going on around them are as good:
  // E(4) .68 for .67, E(2) .69 for .67.
  if (!draft.schedule().nontemporal || op.packing[0].bits == 0 ||
      draft.target().vector_bytes != line || run < line * elements_in_byte(op, 0) ||
      draft.loop(row).extent < run || draft.loop(column).extent < line * elements_in_byte(op, 1)) {
    return false;
  }
  for (int k = 0; k < draft.loop_count(); ++k) {
    if (k != row && draft.loop(k).stride[0] % (8 * line) != 0) return false;
  }
  return true;
}

// Columns of blocks whose rows are shifted: two panels, so that what they leave over and a panel
// for each of the rows that are mixed have room in scratch.
constexpr int64_t shifted_columns = 2 * line, most_shifted_in_byte = 2;
// Shorter rows make no chunk of it. Emerald Rapids, 11 problems with rows of 130 to 460 bytes .54
// of the time of images.
constexpr int64_t least_shifted_run = 2 * line;

/// Whether blocks of whole rows of a packed target can be shifted to lines, wherever they begin.
/// `row`, `column`: the loops along which target and source share bytes.
bool shifts_mixed(const Draft& draft, int row, int column) {
  const ElementOp& op = draft.space().op;
  const Target& target = draft.target();
  const bool fits = elements_in_byte(op, 0) <= most_shifted_in_byte &&
                    elements_in_byte(op, 1) <= most_shifted_in_byte;
  return draft.schedule().nontemporal && op.packing[0].bits != 0 && fits &&
         target.shifts_mixed_rows && shifts_lines(target, 1) &&
         draft.loop(row).extent / elements_in_byte(op, 0) >= least_shifted_run &&
         draft.loop(column).extent / elements_in_byte(op, 1) >= shifted_columns;
}

/// The loop along which elements of an operand share bytes, all others walking whole bytes; -1 if
/// there is none, or if bounds cut it within a byte.
int sharing_loop(const Draft& draft, size_t operand) {
  std::vector<Strides> strides;
  for (const Loop& loop : draft.space().loops) {
    if (!loop.own.empty()) return -1;
    strides.push_back(loop.stride);
  }
  const int k = sharing_side(strides, operand, draft.space().op);
  const int64_t period = elements_in_byte(draft.space().op, operand);
  if (k < 0 || draft.loop(k).extent % period != 0 || draft.loop(k).step != 1) return -1;
  const Axis& axis = draft.space().axes[static_cast<size_t>(draft.loop(k).axis)];
  bool whole = axis.valid != 0 && axis.valid % period == 0 && axis.padded % period == 0;
  for (int j = 0; j < draft.loop_count(); ++j) {
    whole = whole && (j == k || draft.loop(j).axis != draft.loop(k).axis ||
                      draft.loop(j).step % period == 0);
  }
  return whole ? k : -1;
}

}  // namespace

bool mixed(Draft& draft) {
  const ElementOp& op = draft.space().op;
  const int row = sharing_loop(draft, 0), column = sharing_loop(draft, 1);
  const bool same_bits = op.packing[0].bits == 0 || op.packing[1].bits == 0 ||
                         op.packing[0].bits == op.packing[1].bits;
  if (!only_packs(op) || !same_bits || row < 0 || column < 0 || row == column) return false;
  const IterationSpace unsplit = draft.space();
  // Strides of what is packed count bits.
  const int64_t target_byte = op.packing[0].bits != 0 ? 8 : 1;
  const int64_t source_byte = op.packing[1].bits != 0 ? 8 : 1;
  const bool only_unpacks = op.packing[0].bits == 0, lines = stages_mixed(draft, row, column);
  const bool shifts = shifts_mixed(draft, row, column) && !(lines && draft.begins_line());
  const bool staged = lines && !shifts;
  const bool images = draft.schedule().nontemporal && halves_lines(draft) && !only_unpacks;
  const int64_t wanted = staged         ? staged_run(op)
                         : shifts       ? draft.loop(row).extent / elements_in_byte(op, 0)
                         : only_unpacks ? target_mixed_run
                         : images       ? imaged_rows / elements_in_byte(op, 0)
                                        : line;
  const int64_t run =
      draft.take_run(0, element_stride(op, 0), wanted * target_byte, Mark::target_run);
  const int64_t image = draft.schedule().nontemporal ? streamed_image_bytes : cached_image_bytes;
  const int64_t columns = staged   ? staged_source_run
                          : shifts ? shifted_columns
                          : only_unpacks || images
                              ? line
                              : std::max(line, image / wanted / elements_in_byte(op, 1));
  const int64_t source_run =
      draft.take_run(1, element_stride(op, 1), columns * source_byte, Mark::source_run);
  if (run < least_target_run * target_byte || source_run < least_source_run * source_byte) {
    draft.begin_anew(unsplit);
    return false;
  }
  draft.schedule().movement = Movement::mix;
  draft.schedule().mixed = only_unpacks ? MixedRows::target : MixedRows::source;
  draft.schedule().images_blocks = images;
  if (!draft.schedule().nontemporal) return true;
  draft.go_on(1);
  if (!staged && !shifts && !images)
    draft.take_run(0, run, run_around * target_byte, Mark::around, Length::about);
  return true;
}

}  // namespace restride::scheduling
