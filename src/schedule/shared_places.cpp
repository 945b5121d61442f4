// See shared_places.hpp.
#include "schedule/shared_places.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>

#include "program/program.hpp"
#include "schedule/l1_sets.hpp"
#include "schedule/lines_in_set.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {
namespace {

// Lengths of runs of the target, the best first, bytes: panels whose steps have a common factor
// with their columns are less code. A model that only writes, Zen 3, 16 columns 4 KB apart in
// turns: runs of 64 and 128 bytes 11 ns a line, 192 7 to 10, 256 3.4 to 5.5, 384 and 512 2.8; 2 KB
// apart 11.6, 7.5, 3.9, 2.7; 1 KB and 4.25 KB apart 2.7 from 128 on. Zen 3, 128 and 256 bytes
// before: 16 problems of the suites .78 of the time, .44 -> .56 of the ceiling (f32[352,28,28,4,48]
// reversed .32 -> .61, f32[32,2048,7,7]{1,3,2,0} .58 -> .76 in another hour), 30 random ones of f32
// and f64 .90, .57 -> .64. Runs of 768 bytes f32 1.0 to 1.3 times as long as of 384; pairs of bytes
// of 256 bytes .92, of 512 1.0 to 1.25, of which no panel as wide as a line has room in L1.
constexpr std::array<int64_t, 7> long_runs{512, 384, 640, 768, 448, 576, 704};
constexpr std::array<int64_t, 3> bytes_runs{512, 384, 448};
constexpr std::array<int64_t, 1> short_runs{256};

// What is left behind so many runs is little; else other lengths are better: 16 bytes behind a line
// f32 8192 x 8192 in runs of 448 bytes 1.9 times as long, whose code was too long to be peeled.
constexpr int64_t runs_for_a_rest = 8;
constexpr size_t lengths_before_a_rest = 2;

/// Whether they share their places in parts of pages of so many bytes.
bool columns_share(const Draft& draft, int64_t part) {
  const int across = widest_source_loop(draft);
  if (!draft.target().spreads_runs || !draft.schedule().nontemporal || across < 0) return false;
  const int64_t pitch = std::abs(draft.loop(across).stride[0]), behind = pitch % part;
  return pitch >= part && std::min(behind, part - behind) < 2 * draft.target().line_bytes;
}

std::span<const int64_t> lengths(const Draft& draft) {
  const int64_t bytes = draft.space().op.bytes;
  if (bytes > 2) return long_runs;
  if (bytes == 2) return short_runs;
  const bool pages = columns_share(draft, draft.target().page_bytes) || wants_strips(draft);
  if (pages) return bytes_runs;
  return short_runs;
}

}  // namespace

bool columns_share_places(const Draft& draft) {
  return columns_share(draft, draft.target().page_bytes / 2);
}

// Zen 3, u8 4096 x 4096 .24 -> .36 of the ceiling, 8192 x 8192 .32 -> .43, with longer runs but no
// strips .23 and .30; rows of less than a line 1.5 times as long; with pairs of bytes by strips,
// too, 16 problems .96 of the time before, without .87.
bool wants_strips(const Draft& draft) {
  const Target& target = draft.target();
  const int across = widest_source_loop(draft);
  if (!target.spreads_runs || !draft.schedule().nontemporal || across < 0 ||
      draft.goal() == CodeGoal::small || draft.space().op.bytes != 1 || !halves_lines(draft))
    return false;
  const Axis& digit = draft.space().axes[static_cast<size_t>(draft.loop(across).axis)];
  return digit.valid >= target.line_bytes &&
         lines_in_set(target, taken_rows(draft, program::lane_bytes), target.line_bytes) >
             l1_ways(target);
}

int64_t spread_run_bytes(const Draft& draft, int64_t row) {
  if (!columns_share_places(draft) && !wants_strips(draft)) return 0;
  const std::span<const int64_t> runs = lengths(draft);
  const int next = draft.next_in_run(0, row);
  const auto leaves_no_rest = [&](int64_t run) {
    Draft taken = draft;
    return taken.take_run(0, row, run, Mark::target_run, Length::without_rest) == run;
  };
  const bool is_long = next >= 0 && row * draft.loop(next).extent >= runs_for_a_rest * runs[0];
  const auto end =
      is_long ? runs.begin() + std::min(runs.size(), lengths_before_a_rest) : runs.end();
  const auto even = std::find_if(runs.begin(), end, leaves_no_rest);
  if (even != end) return *even;
  return is_long ? runs[0] : 0;
}

}  // namespace restride::scheduling
