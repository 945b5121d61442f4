// See streaming.hpp.
#include "schedule/streaming.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "schedule/l1_sets.hpp"
#include "schedule/page_walks.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {
namespace {

// Transposes of bytes read a line four times in the caches, once on their way around them: u8
// [8,58,48,40]{3,2,1,0:T(128,2)} to {0,2,3,1} .51 for .37 of the ceiling.
constexpr int64_t least_counted_bytes = 2;

// What writes so much more than it reads is a fill.
constexpr int64_t least_written_per_read = 8;

// Where rows of the source crowd sets and columns of the target do, too, but lie in more than one,
// a third of what is kept where only the former do. Zen 4: f32 512 x 512 .58 -> .69 of the ceiling,
// 512 x 1024 .52 -> .68, but [128,8,256] reversed .53 -> .41 (columns 4 KB apart); u16 512 x 2048
// .51 -> .50, 1024 x 1024 .57 -> .43, u8 the same, f64 512 x 512 .50 -> .48.
constexpr int64_t kept_element_bytes = 4, kept_share = 3;

// Where only columns of the target crowd sets, narrow networks of f32 and of bytes are as good as
// stores around the caches up to what is kept of other transposes with rows that crowd. Zen 4, f32
// 1024 x 200 .57 -> .76 of the ceiling, 2048 x 300 .59 -> .77, 2048 x 600, 10 MB, .59 -> .65, but
// 2048 x 900, 15 MB, .77 -> .73; u8 6144 x 400 .42 -> .49, 6144 x 1000 .46 -> .48; but u16 2048 x
// 400 .58 -> .45. Between lines f32[10,1025,130]{1,2,0} .53 -> .48.
constexpr bool narrows_well(int64_t element_bytes) {
  return element_bytes == 1 || element_bytes == 4;
}

/// How much of the caches an operand takes: the lines with something in them.
int64_t cached_bytes(const Draft& draft, int operand) {
  const IterationSpace& space = draft.space();
  if (is_packed(space.op) || space.op.bytes < least_counted_bytes)
    return draft.extent_bytes(operand);
  std::vector<Walk> walks;
  for (const Loop& loop : space.loops) {
    if (!loop.own.empty()) return draft.extent_bytes(operand);
    const Axis& axis = space.axes[static_cast<size_t>(loop.axis)];
    const int64_t seen = operand == 0 ? axis.padded : axis.valid;
    const int64_t stride = std::abs(loop.stride[static_cast<size_t>(operand)]);
    walks.push_back({stride, std::min(loop.extent, ceil_div(seen, loop.step))});
  }
  const int64_t lines =
      granules_bytes(std::move(walks), element_bytes(space.op, operand), draft.target().line_bytes);
  return std::min(draft.extent_bytes(operand), lines);
}

int64_t cached_source_bytes(const Draft& draft) {
  int64_t read = 0;
  for (int operand = 1; operand <= source_count(draft.space().op); ++operand) {
    read += cached_bytes(draft, operand);
  }
  return read;
}

/// Whether what repeats is written to places a page and more apart.
bool repeats_by_pages(const Draft& draft) {
  for (int k = 0; k < draft.loop_count(); ++k) {
    const Loop& loop = draft.loop(k);
    if (loop.stride[1] == 0 && std::abs(loop.stride[0]) < draft.target().page_bytes) return false;
  }
  return is_move(draft.space().op);
}

/// The same where hardly anything is read.
int64_t most_cached_fill(const Draft& draft) {
  const Target& target = draft.target();
  if (!repeats_by_pages(draft)) return target.streaming_fill_bytes;
  return std::min(target.streaming_fill_bytes, repeats_source(draft)
                                                   ? target.streaming_repeat_bytes
                                                   : target.streaming_page_repeat_bytes);
}

/// Whether what crowds sets is moved well through the caches by vectors of half a line: wide
/// elements, pairs of bytes whose rows or columns are pages apart, bytes whose rows crowd sets.
bool keeps_crowded(const Draft& draft) {
  const ElementOp& op = draft.space().op;
  if (!is_move(op) || op.bytes > 2) return is_move(op);
  const int64_t page = draft.target().page_bytes;
  const int64_t across = std::abs(draft.loop(draft.contiguous(1)).stride[0]);
  const int64_t down = std::abs(draft.loop(draft.contiguous(0)).stride[1]);
  if (op.bytes == 2) return std::max(across, down) >= page;
  return source_rows_crowd(draft);
}

// Emerald Rapids, transposes of one and two bytes that begin between lines, through the caches: of
// rows of less than 96 elements 1.15 of the time, of up to 191 .98, of so many .86, of more 1.16,
// but of up to 8192 that are more than 1 KB apart .91, two threads .59; pairs of bytes nearer in
// the source than that 1.04, farther .87, but short rows of them near each other .80, two threads
// .82; rows on lines 1.2.
constexpr int64_t least_narrow_rows = 192, most_narrow_rows = 3072, most_apart_narrow_rows = 8192;
constexpr int64_t least_apart_pitch = 1024, least_pair_pitch = 2 * 1024, short_pair_rows = 512;

/// Whether a transpose of narrow elements makes rows between lines, whose lines and the pages that
/// they are read from stay at hand until the next columns come.
bool keeps_narrow_rows(const Draft& draft) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes;
  if (!is_move(draft.space().op) || bytes > 2) return false;
  const Loop &row = draft.loop(draft.contiguous(0)), &across = draft.loop(draft.contiguous(1));
  const int64_t pitch = std::abs(row.stride[1]);
  const int64_t most = pitch > least_apart_pitch ? most_apart_narrow_rows : most_narrow_rows;
  return across.stride[0] % target.line_bytes != 0 && row.extent >= least_narrow_rows &&
         row.extent <= most &&
         row.extent * std::min(pitch, target.page_bytes) <=
             target.translated_pages * target.page_bytes &&
         (bytes == 1 || row.extent < short_pair_rows || pitch >= least_pair_pitch);
}

// Emerald Rapids, 141 transposes of 2.6 to 32 MB in .86 of the time, .64 -> .83 of the ceiling (f32
// .83, u16 .80, f64 .93), 16 bytes behind a line .83, two threads .86; beyond 40 MB 1.0 to 1.8.
// Shorter rows up to 4.2, as long ones of elements of 16 bytes 1.02; 260 to 500 bytes of columns,
// and more columns of u16, .7 to 1.9.
constexpr int64_t widest_kept_element = 8, least_touching_row_bytes = 192;
constexpr int64_t most_columns = 64, most_column_bytes = 256;

// Rows that touch no others, or those beside them in the source, from 16 MB on: 33 matrices of u16,
// f32 and f64 in .73 of the time, .61 -> .91 of the ceiling, 16 bytes behind a line .78, two
// threads .72; shorter rows 1.0 to 1.2, bytes .7 to 1.3, c128 1.0.
constexpr int64_t least_long_row_bytes = 1024, least_column_bytes = 32;

/// Whether a transpose makes rows that begin between lines out of columns of a few lines: images of
/// such rows have few columns.
bool keeps_narrow_columns(const Draft& draft) {
  const int64_t bytes = draft.space().op.bytes, line = draft.target().line_bytes;
  if (!is_move(draft.space().op) || bytes == 1 || bytes > widest_kept_element) return false;
  const int down = draft.contiguous(0), across = draft.contiguous(1);
  const Loop& columns = draft.loop(across);
  const int64_t row = draft.loop(down).extent * bytes, column = columns.extent * bytes;
  if (column > most_column_bytes || columns.extent > most_columns || columns.stride[0] % line == 0)
    return false;
  const int next = draft.next_in_run(0, row);
  if (next >= 0 && next != across) return row >= least_touching_row_bytes && column > line;
  return row >= least_long_row_bytes && column >= least_column_bytes &&
         draft.both_extent_bytes() > draft.target().imaging_bytes;
}

// Emerald Rapids, f32 nearer in the source 1.1 to 1.5 of the time.
constexpr int64_t least_crowded_pitch_lines = 2, share_of_pairs = 7;

/// Whether a transpose whose columns crowd sets makes rows that begin between lines out of those
/// that are whole lines: both ends of what is written wait.
bool crowds_between_lines(const Draft& draft) {
  const Target& target = draft.target();
  const Loop &down = draft.loop(draft.contiguous(0)), &across = draft.loop(draft.contiguous(1));
  const int64_t pitch = std::abs(down.stride[1]);
  return is_move(draft.space().op) && across.stride[0] % target.line_bytes != 0 &&
         pitch % target.line_bytes == 0 && pitch >= least_crowded_pitch_lines * target.line_bytes;
}

/// Of source and target together, beyond which stores around the caches pay where columns crowd
/// sets. `gathers`: rows of the source do, too.
int64_t most_cached_crowded(const Draft& draft, bool gathers) {
  const Target& target = draft.target();
  const ElementOp& op = draft.space().op;
  if (crowds_between_lines(draft)) {
    const int64_t share = op.bytes == 2 ? share_of_pairs : 1;
    const int64_t between = target.crowded_between_lines_bytes / share;
    if (between < target.crowded_streaming_bytes) return between;
  }
  const int64_t most =
      std::max(target.crowded_streaming_bytes,
               keeps_crowded(draft) ? target.kept_crowded_streaming_bytes : int64_t{0});
  const int64_t pitch = draft.loop(draft.contiguous(1)).stride[0];
  const bool on_lines = is_move(op) && pitch % target.line_bytes == 0;
  if (on_lines && narrows_well(op.bytes) && source_rows_stay(draft))
    return std::max(most, target.gathered_streaming_bytes);
  const bool kept = gathers && op.bytes == kept_element_bytes && pitch % target.page_bytes != 0;
  return kept ? std::max(most, target.gathered_streaming_bytes / kept_share) : most;
}

/// Of source and target together, beyond which stores around the caches pay. Columns of wide
/// elements that wait are made in scratch for a quarter more: f64 1025 x 1025, 17 MB, .68 to .83 of
/// the time, 1023 x 1023 .82 to .92; c128 769 x 769, 19 MB, .88 to 1.29; 25 and 26 MB 1.4 to 1.7.
int64_t most_cached_bytes(const Draft& draft) {
  const Target& target = draft.target();
  const ElementOp& op = draft.space().op;
  if (fills(draft)) return most_cached_fill(draft);
  if (is_move(op) && wide_columns_wait(draft))
    return std::min(target.streaming_bytes, target.transposed_streaming_bytes / 4 * 5);
  const bool gathers = is_move(op) && source_rows_crowd(draft);
  if (!crowds_sets(draft)) {
    if (gathers) return target.gathered_streaming_bytes;
    if (!draft.runs_cross()) return target.streaming_bytes;
    const bool kept = keeps_narrow_rows(draft) || keeps_narrow_columns(draft);
    return std::max(target.transposed_streaming_bytes,
                    kept ? target.narrow_streaming_bytes : int64_t{0});
  }
  return most_cached_crowded(draft, gathers);
}

}  // namespace

bool fills(const Draft& draft) {
  return cached_source_bytes(draft) < cached_bytes(draft, 0) / least_written_per_read;
}

bool streams(const Draft& draft) {
  return draft.target().nontemporal &&
         cached_bytes(draft, 0) + cached_source_bytes(draft) > most_cached_bytes(draft);
}

}  // namespace restride::scheduling
