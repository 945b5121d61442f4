// See l1_sets.hpp.
#include "schedule/l1_sets.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include "base/arithmetic.hpp"
#include "program/program.hpp"
#include "schedule/block_sizes.hpp"
#include "schedule/lines_in_set.hpp"
#include "schedule/page_walks.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {
namespace {

// Columns of wider elements that crowd sets do not go by way of scratch.
constexpr int64_t widest_crowding_bytes = 4;

// Of wider elements a network writes few columns.
constexpr int64_t widest_narrowed_bytes = 8;

// A network of f32 that takes whole lines writes 16 columns; of half lines 8: 1025 x 130 .29 ->
// .54. Where all ways of a set are taken others are gone already: 1030 x 61 .33 -> .58.
constexpr int64_t half_line_bytes = 32;

// Longer rows than these have few ends: 2-D u32 1023 x 150 .62 -> .39 of the ceiling, u16 1025 x 65
// .38 -> .19, but u16 2049 x 128 .07 -> .31.
constexpr int64_t most_short_row_bytes = 256;

// Rows of the source that networks read before they come back to a line: more than half as many
// again as a set has ways are too many, of narrow elements just as many. Zen 4, through scratch:
// u8[28,2048] .81 of the time, [24,2048] 1.0, [20,2048] 1.14, u16[24,17,1024] reversed .15 -> .53
// of the ceiling, u8[24,63,2048] .29 -> .46; f64[16,512] .85, [12,512] 1.17; f32[32,512] 1.17,
// [32,513] .66 and 512 x 512, whose columns crowd sets, too, .83.
constexpr int64_t most_rows = 32, rows_of_wide = 24;

// Of a row so much in one piece makes it worth to be copied, be it of several digits:
// f32[128,32,32] reversed .76 of the time, u8[64,64,64] .45; u16[64,64,16] .15 -> .39 of the
// ceiling, u16[64,512,4] .23 -> .51, f32[64,128,8] .21 -> .43, f64[64,32,16] .43 -> .48. Where
// columns of a block of wide elements crowd sets, too, as many rows as make eight lines of the
// target: f64[64,8,64] reversed .70, [32,16,128] 1.32, [16,32,64] 1.46.
constexpr int64_t least_row_lines = 1, least_wide_row_lines = 4, least_column_lines = 8;

// Rows of the source a multiple of so many lines apart, of pairs half of it, crowd some sets.
constexpr int64_t crowded_row_lines = 4;

// Blocks that walk along the source have the rows of a network, of elements of 16 bytes of two: 30
// matrices of these .86 of the ceiling with four rows, .92 with eight. They do where so many rows
// would put more than twice as many lines into a set as it has ways: rows 2 and 4 KB apart, not 1
// or 3. Of 330 transposes of .1 to 18 MB, Zen 4, the 88 that walk take .89 of the time: f32 784 x
// 512 .72 -> .89 of the ceiling, f64 184 x 512 .76 -> .98, c128 180 x 256 .77 -> 1.03, f32 515 x
// 513 .37 -> .53; with vectors of 32 bytes .92, of 16 .89. 56 of them, of any size, most of which
// only begin between lines in the source, .91: f64 200 x 129 .81 -> 1.0, f64 504 x 1427 .54 -> .75,
// c128 172 x 313 .80 -> 1.01; if the target does, too, f32 1.13, f64 1.05, and 16 bytes behind a
// line .85 to 1.44.
constexpr int64_t least_walked_rows = 8, most_rows_apart = 64;
// Columns of the target that may not crowd sets, as f32 256 x 1024 .68 -> .44; of 16 bytes a few
// of them: c128 64 x 512 .79 -> 1.0, but 256 x 256, whose columns share a set, .69 -> .55.
constexpr int64_t least_columns_of_wide = 16;

// Shorter runs of the target than this are not worth to be made in scratch.
constexpr int64_t least_crowded_run_bytes = 128;

// Rows of wide elements, one more than a multiple of so many, are read where columns were written
// just before: see wide_columns_wait. Zen 4, 23 transposes of 1 to 13 MB by images of their
// columns in .74 of the time, 16 bytes behind a line .77, two threads .67, vectors of 32 bytes .68:
// f64 513 x 513 .32 -> .47 of the ceiling, 511 x 511 .35 -> .50, 257 x 769 .38 -> .56, c128 513 x
// 513 .40 -> .56. With rows that are two elements longer or shorter 1.1 to 1.4, one shorter than
// half a page 1.1, c128 129 x 129 and 385 x 385, whose rows are longer than half pages, 1.25 and
// 1.16.
constexpr int64_t shifted_row_elements = 256;

// Columns of bytes whose lines meet in few sets are written by two lines of each at a time: a model
// that only writes, 16 columns 2 KB apart in L3, 1.7 -> 1.13 ns a line, 64 bytes more apart 1.0.
// Zen 4, 27 transposes of .5 to 6.4 MB in .96 of the time: 2048 x 784 .45 -> .51 of the ceiling,
// 1024 x 700 .62 -> .70, [8,1024,7,7]{1,3,2,0} .60 -> .66, 8192 x 128 1.09; .33 MB 1.08, u16 .93 to
// 1.1, blocks of four lines 1.02 and of eight 1.14 of 11.
constexpr int64_t widest_meeting_bytes = 1, meeting_columns = 16;
// Vectors of half a line write pairs of bytes so, too, from scratch. Zen 3, f16[1024,2048] .32 ->
// .51 of the ceiling, [2048,1024] .19 -> .34; in place, where rows of the source do not stay, 1.0
// to 1.2 of the time, f32 1.3 to 1.5.
constexpr int64_t widest_meeting_half_bytes = 2;

/// How long runs of the source are that a transpose finds in its rows.
int64_t source_run_bytes(const Draft& draft) {
  const int row = draft.contiguous(0);
  return run_bytes(draft, 1, [&](int k) { return k == row ? 1 : draft.loop(k).extent; });
}

/// The rows of the source that a run of the target takes elements from, but no more than `most`,
/// and none that begin within `inside` bytes of the first ones.
std::vector<Walk> source_rows(const Draft& draft, int64_t most, int64_t inside) {
  std::vector<Walk> rows;
  int64_t run = draft.space().op.bytes;
  for (int k = draft.contiguous(0); k >= 0 && most > 1;) {
    const Loop& loop = draft.loop(k);
    if (!rows.empty() && std::abs(loop.stride[1]) < inside) break;
    rows.push_back({loop.stride[1], std::min(loop.extent, most)});
    most /= rows.back().steps;
    run *= loop.extent;
    k = draft.next_in_run(0, run);
  }
  return rows;
}

/// Whether lines of all rows of a block stay in L1, of which there are as many as where columns
/// crowd sets.
bool crowded_rows_stay(const Draft& draft, const std::vector<Walk>& rows) {
  return lines_in_set(draft.target(), rows, draft.target().line_bytes) <= l1_ways(draft.target());
}

/// The rows of such a block.
std::vector<Walk> rows_of_crowded(const Draft& draft) {
  return source_rows(draft, crowded_rows(draft.target(), draft.space().op.bytes), 0);
}

/// Whether rows of the source that several digits make stay, too, not only those of the first one.
/// Emerald Rapids, nine transposes that have no longer blocks since they do not in .77 of the time:
/// u8[24,17,1024] reversed .24 -> .34 of the ceiling, u16[24,17,1023] .33 -> .42. Of one digit
/// 1.1 to 1.4.
bool digits_of_rows_stay(const Draft& draft) {
  const std::vector<Walk> rows = rows_of_crowded(draft);
  return rows.size() < 2 || crowded_rows_stay(draft, rows);
}

/// Whether networks of a lane go on along their few columns, whose next lines are asked for, before
/// they take the next ones, as all columns of a block crowd sets of L1. All rows of the source stay
/// there meanwhile. Emerald Rapids, 32 transposes of u8 and u16 in .90 of the time:
/// f16[256,64,16]{1,0,2} .57 -> .90 of the ceiling, u16 1024 x 257 .52 -> .64; where rows do not
/// stay, up to twice as long, with as few rows as do as well.
bool writes_along_columns(const Draft& draft, const Loop& across) {
  const Target& target = draft.target();
  const int64_t columns = std::min(across.extent, cached_columns);
  return target.claims_transposed_lines && target.vector_bytes == target.line_bytes &&
         !l1_holds_lines(target, across.stride[0], columns) &&
         crowded_rows_stay(draft, rows_of_crowded(draft));
}

/// Halves the columns of a network, down to a lane, until sets of L1 have room for their lines;
/// false if they have it for all of them, or if there are no more. Rows are to go on first then, or
/// it takes twice as long. Zen 5, 40 random problems of u8 and u16 in .48 of the time: u16 4096 x
/// 32 .14 -> .56 of the ceiling, 1024 x 96 .29 -> .69, f16[1,1024,8,40]{1,2,3,0} .17 -> .42, u8
/// 2048 x 128 .14 -> .38; u16[16,128,63] reversed .10 -> .33; with all columns in a lane
/// u8[64,512,16] reversed .18 -> .10.
bool narrow_network(Draft& draft, int across) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes, ways = l1_ways(target);
  const Loop& loop = draft.loop(across);
  int64_t& network = draft.schedule().network_column_bytes;
  int64_t narrow = network;
  while (narrow > program::lane_bytes &&
         lines_in_set(target, loop.stride[0], std::min(loop.extent, narrow / bytes),
                      target.line_bytes) > ways)
    narrow /= 2;
  if (network == program::lane_bytes) return writes_along_columns(draft, loop);
  // Less than half a network more is a rest: u16[8,16,256,9]{0,2,3,1} .44 -> .58 of the ceiling,
  // u8[16,256,64,20]{1,2,3,0} .23 -> .38.
  if (narrow == network || 2 * loop.extent * bytes <= 3 * narrow) return false;
  network = narrow;
  return true;
}

/// Whether rows of the source stay in L1 from one network to the next, where blocks have as many as
/// columns that crowd sets get. Of narrow elements half of them and more, since rows are many: 24
/// of u8 and u16, 100 to 320 columns of which only half do, .83 of the time without.
bool rows_stay(const Draft& draft, const Loop& down) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes, line = target.line_bytes, stride = down.stride[1];
  const int64_t rows = std::min(down.extent, crowded_rows(target, bytes));
  const bool narrow = bytes < widest_crowding_bytes;
  const int64_t touched = narrow || stride % line == 0 ? line : 2 * line;
  return lines_in_set(target, stride, rows, touched) <= (narrow ? 2 : 1) * l1_ways(target);
}

/// Networks that take whole lines of the source are narrowed until no set of L1 is filled by the
/// lines that they write. Down to a lane, if rows of the source stay there meanwhile: Zen 4, f32
/// 1024 x 100 .51 -> .87 of the ceiling, f64 512 x 333 .59 -> .84, 2048 x
/// 100 .68 -> .81; where they do not f32 512 x 256 .61 -> .35. With lanes always f32 512 x 500,
/// where half lines leave room, .83 -> .63. Of what lies in scratch lanes take more loads: f32 512
/// x 512 .70 -> .62.
void narrow_whole_lines(Draft& draft, int across, int down) {
  const Target& target = draft.target();
  const Loop& loop = draft.loop(across);
  const int64_t bytes = draft.space().op.bytes, line = target.line_bytes, ways = l1_ways(target);
  int64_t& network = draft.schedule().network_column_bytes;
  if (network < line) return;
  const bool aligned = loop.stride[0] % line == 0, wide = bytes >= widest_crowding_bytes;
  const bool apart = std::abs(loop.stride[0]) >= line && !draft.is_part();
  const bool lanes = !wide || (apart && rows_stay(draft, draft.loop(down)));
  const int64_t most = bytes == widest_crowding_bytes ? half_line_bytes : line;
  const int64_t least = lanes ? program::lane_bytes : most;
  const auto fills_set = [&] {
    const int64_t columns = std::min(loop.extent, network / bytes);
    // Between lines a set is as good as full before it is: f32 1030 x 61 .40 -> .58, where lanes
    // have six lines of eight; 515 x 1000, four of them, 1.11 of the time.
    const int64_t filled = aligned ? ways : network <= most ? ways / 4 * 3 : ways / 2;
    return lines_in_set(target, loop.stride[0], columns, aligned ? line : 2 * line) >= filled;
  };
  // Of u16, 2049 x 65 .06 -> .25 with lanes, .12 with half lines.
  while (network > least && fills_set()) network = wide ? network / 2 : least;
}

/// Columns whose lines are counted where they may crowd sets: those of a network; where stores wait
/// for each other, of narrow elements all in a line of the source, if its rows crowd some sets as
/// well, else of bytes half of them. Zen 5, 27 transposes of u8 and u16 in .51 of the time: u16
/// 2049 x 128 .18, 1025 x 128 .24, 1026 x 128 .37, u8 2049 x 256 .36, 1025 x 256 .56, 2049 x 33
/// .58. With lines whatever the rows u8 1025 x 192 1.2, u16 1025 x 96 1.4; with half lines u16 4093
/// x 33 1.4.
int64_t counted_columns(const Draft& draft, const Loop& down) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes, line = target.line_bytes;
  if (bytes >= widest_crowding_bytes) return half_line_bytes / bytes;
  if (!target.crowded_stores_wait) return program::lane_bytes / bytes;
  if (down.stride[1] * bytes % (crowded_row_lines * line) == 0) return line / bytes;
  return bytes == 1 ? half_line_bytes : program::lane_bytes / bytes;
}

/// Whether rows of a network of bytes, which takes as many as a line of the target has, or more
/// than half of them, have more than twice as many lines in a set as it has ways. See source_rows;
/// `touched`: bytes of each row.
bool network_crowds(const Draft& draft, int64_t inside, int64_t touched) {
  const Target& target = draft.target();
  const std::vector<Walk> rows = source_rows(draft, target.line_bytes, inside);
  int64_t count = 1;
  for (const Walk& walk : rows) count *= walk.steps;
  return draft.space().op.bytes == 1 && 2 * count > target.line_bytes &&
         lines_in_set(target, rows, touched) > 2 * l1_ways(target);
}

}  // namespace

bool l1_holds_lines(const Target& target, int64_t stride, int64_t count) {
  return lines_in_set(target, stride, count, target.line_bytes) <= l1_ways(target);
}

std::vector<Walk> taken_rows(const Draft& draft, int64_t most) {
  std::vector<Walk> rows;
  for (int k = draft.loop_count() - 1; k >= 0 && most > 1; --k) {
    if (draft.mark(k) != Mark::target_run) continue;
    const Loop& loop = draft.loop(k);
    rows.push_back({loop.stride[1], std::min(loop.extent, most)});
    most /= loop.extent;
  }
  return rows;
}

// Zen 3, boxes of five problems whose rows are a power of two apart .71 to .89 of the time, f32 256
// x 512 x 256 reversed .30 -> .42 of the ceiling, images of f32[32,7,7,2048]{2,1,3,0} .35 -> .7;
// other rows 1.04 to 1.1, images of f16 100 x 400000 1.3.
bool wants_wide_panels(const Draft& draft) {
  const Target& target = draft.target();
  const std::vector<Walk> rows = taken_rows(draft, std::numeric_limits<int64_t>::max());
  return draft.schedule().vector_bytes < target.line_bytes &&
         lines_in_set(target, rows, target.line_bytes) > l1_ways(target);
}

bool source_rows_stay(const Draft& draft) {
  const int down = draft.contiguous(0);
  return down >= 0 && l1_ways(draft.target()) > 0 && rows_stay(draft, draft.loop(down));
}

bool source_rows_crowd(const Draft& draft) {
  const Target& target = draft.target();
  const int row = draft.contiguous(0), column = draft.contiguous(1);
  const int64_t ways = l1_ways(target);
  if (!draft.runs_cross() || ways == 0) return false;
  const int64_t bytes = draft.space().op.bytes, line = target.line_bytes;
  const bool narrow = bytes < widest_crowding_bytes;
  const bool wide = bytes > widest_crowding_bytes;
  const Loop &down = draft.loop(row), &across = draft.loop(column);
  const int64_t least_lines = wide ? least_wide_row_lines : least_row_lines;
  if (source_run_bytes(draft) < least_lines * line) return false;
  const int64_t columns = std::min(across.extent, crowding_column_bytes / bytes);
  if (wide && down.extent * bytes < least_column_lines * line &&
      !l1_holds_lines(target, across.stride[0], columns))
    return false;
  const bool aligned = down.stride[1] % line == 0;
  const int64_t most = narrow || !aligned || crowds_sets(draft) ? most_rows : rows_of_wide;
  const int64_t touched = aligned ? line : 2 * line, least = narrow ? 3 * ways : 3 * ways + 1;
  // Not those that a block takes whole with the first ones: u8[8,64,24,256] reversed .13 -> .31 of
  // the ceiling, u16[9,16,16,512]{0,1,3,2} .31 -> .48.
  const int64_t inside = std::min(source_run_bytes(draft), crowding_column_bytes);
  if (target.rereads_crowded_rows) return network_crowds(draft, inside, touched);
  return 2 * lines_in_set(target, source_rows(draft, most, inside), touched) >= least;
}

SourceWalk walk_along_source(const Draft& draft) {
  const Target& target = draft.target();
  const int row = draft.contiguous(0), column = draft.contiguous(1);
  const int64_t bytes = draft.space().op.bytes, line = target.line_bytes, ways = l1_ways(target);
  if (!target.walks_along_source || draft.schedule().nontemporal || stays_in_l1(draft) ||
      !draft.runs_cross() || bytes < widest_crowding_bytes)
    return {};
  const Loop &down = draft.loop(row), &across = draft.loop(column);
  const auto in_set = [&](const Loop& loop, size_t operand, int64_t count) {
    const int64_t stride = loop.stride[operand], touched = stride % line == 0 ? line : 2 * line;
    return lines_in_set(target, stride, std::min(loop.extent, count), touched);
  };
  const int64_t rows = std::max(line, least_walked_rows * bytes) / bytes;
  if (in_set(down, 1, rows) > ways) return {};
  const bool room = in_set(across, 0, cached_columns) <= ways;
  const bool aligned = down.stride[1] % line == 0;
  if (source_rows_crowd(draft) || (aligned && in_set(down, 1, most_rows_apart) > 2 * ways)) {
    const bool wide = bytes > widest_narrowed_bytes;
    const bool walks = room || (wide && in_set(across, 0, least_columns_of_wide) <= ways);
    return {walks ? rows : 0, false};
  }
  const bool on_lines = across.stride[0] % line == 0 && others_begin_lines(draft, row, column);
  return {room && on_lines && !aligned ? rows : 0, true};
}

bool target_columns_crowd(const Draft& draft) {
  const Target& target = draft.target();
  const int row = draft.contiguous(0), column = draft.contiguous(1);
  const int64_t bytes = draft.space().op.bytes, line = target.line_bytes, ways = l1_ways(target);
  if (!draft.runs_cross() || ways == 0 || bytes > widest_crowding_bytes) return false;
  const Loop &down = draft.loop(row), &across = draft.loop(column);
  if (down.extent * bytes < least_crowded_run_bytes || across.stride[0] % line == 0) return false;
  const int64_t columns = std::min(across.extent, counted_columns(draft, down));
  return lines_in_set(target, across.stride[0], columns, 2 * line) >= ways;
}

bool wide_columns_wait(const Draft& draft) {
  const Target& target = draft.target();
  const int row = draft.contiguous(0), column = draft.contiguous(1);
  const int64_t bytes = draft.space().op.bytes, ways = l1_ways(target);
  if (!draft.runs_cross() || ways == 0 || bytes <= widest_crowding_bytes) return false;
  const Loop &down = draft.loop(row), &across = draft.loop(column);
  const bool shorter = std::min(down.extent, across.extent) * bytes < crowding_run_bytes;
  if (shorter || target.rereads_crowded_rows) return false;
  const auto both_are = [&](int64_t shift, int64_t pitch) {
    return remainder_above(down.stride[1] - shift, pitch) == 0 &&
           remainder_above(across.stride[0] - shift, pitch) == 0;
  };
  return both_are(bytes, shifted_row_elements * bytes) ||
         (bytes == widest_narrowed_bytes && both_are(-bytes, target.page_bytes));
}

int64_t short_row_bytes(const Draft& draft) {
  const int down = finest_loop(draft, 0);
  if (down < 0) return 0;
  const Axis& axis = draft.space().axes[static_cast<size_t>(draft.loop(down).axis)];
  const int64_t row = axis.valid * draft.space().op.bytes;
  return row > most_short_row_bytes ? 0 : row;
}

bool make_room_in_l1(Draft& draft) {
  const Target& target = draft.target();
  Schedule& schedule = draft.schedule();
  const int across = draft.contiguous(1), down = draft.contiguous(0);
  const int64_t bytes = draft.space().op.bytes, line = target.line_bytes;
  if (across < 0 || down < 0 || bytes > widest_narrowed_bytes || schedule.nontemporal ||
      stays_in_l1(draft)) {
    return false;
  }
  const int64_t stride = draft.loop(across).stride[0], extent = draft.loop(across).extent;
  // Columns that share lines are in few: u16[96,8,6,10]{1,3,0,2} .38 -> .78 of the ceiling.
  if (std::abs(stride) < line) return false;
  const bool aligned = stride % line == 0, wide = bytes >= widest_crowding_bytes;
  const int64_t columns = std::min(extent, cached_columns);
  if (lines_in_set(target, stride, columns, aligned ? line : 2 * line) < l1_ways(target) / 2)
    return false;
  // Where rows do not stay meanwhile u16[512,32,16] reversed .31 -> .52 without, u8[512,16,32] .29
  // -> .47.
  const bool stay = rows_stay(draft, draft.loop(down));
  // Zen 5, u16 2048 x 128 .41 of the time, 1024 x 128 .49, [64,32,96] reversed .73, u8 2048 x 256
  // .50.
  if (aligned && !wide)
    return (stay || target.crowded_stores_wait) && narrow_network(draft, across);
  narrow_whole_lines(draft, across, down);
  return wide || (stay && (!target.claims_transposed_lines || digits_of_rows_stay(draft)));
}

bool columns_meet(const Draft& draft) {
  const Target& target = draft.target();
  const int across = widest_source_loop(draft);
  const int64_t all = draft.both_extent_bytes();
  const bool halves = draft.is_part() && halves_lines(draft);
  const int64_t widest = halves ? widest_meeting_half_bytes : widest_meeting_bytes;
  if (!target.pairs_meeting_lines || across < 0 || draft.space().op.bytes > widest ||
      all <= target.l2_bytes / 2)
    return false;
  const Loop& loop = draft.loop(across);
  return loop.stride[0] % target.line_bytes == 0 &&
         2 * lines_in_set(target, loop.stride[0], std::min(loop.extent, meeting_columns),
                          target.line_bytes) >=
             l1_ways(target);
}

}  // namespace restride::scheduling
