// See claimed_lines.hpp.
#include "schedule/claimed_lines.hpp"

#include <algorithm>
#include <vector>

#include "base/arithmetic.hpp"
#include "schedule/lines_in_set.hpp"
#include "schedule/page_walks.hpp"
#include "schedule/questions.hpp"
#include "schedule/streaming.hpp"

namespace restride::scheduling {
namespace {

// Where arrays are larger than L1, lines of the target are asked for while the network before
// writes: what is not there yet holds up the stores behind it, and so does half a line. Where rows
// begin between lines, .51 -> .68 of the ceiling (geometric mean of 26 cases in L2), else u16 256 x
// 256 .66 -> .69, f32 .66 -> .72, f64 .71 -> .79, but u8 .65 -> .62.
constexpr int64_t least_claimed_bytes = 2;

/// How long runs of the target are without those of loop `across`, which end in other columns.
int64_t written_run_bytes(const Draft& draft, int across) {
  // Of what streams images are better: bf16[27,30,32,110]{3,1,0,2:T(16,128)} to {0,1,2,3} .42, .30.
  const bool several = !streams(draft);
  const int down = finest_loop(draft, 0);
  int64_t run = draft.space().op.bytes;
  for (int k = 0; k < draft.loop_count();) {
    const Loop& walk = draft.loop(k);
    const int64_t valid = draft.space().axes[static_cast<size_t>(walk.axis)].valid;
    const int64_t longer = run * std::min(walk.extent * walk.step, valid) / walk.step;
    const bool row = down >= 0 && walk.axis == draft.loop(down).axis;
    const bool other = row || (several && (across < 0 || walk.axis != draft.loop(across).axis));
    const bool goes_on = walk.stride[0] == run && longer > run && other && walk.own.empty();
    run = goes_on ? longer : run;
    k = goes_on ? 0 : k + 1;
  }
  return run;
}

/// The columns of the target that a block writes before it comes back to the first, the innermost
/// digit first, but no more than `most`. Emerald Rapids, 11 transposes whose digits have fewer than
/// `most`, which crowd sets of L1, .76 of the time: u32[24,1025,4]{1,2,0} .39 -> .85 of the
/// ceiling.
std::vector<Walk> taken_columns(const Draft& draft, int64_t most) {
  std::vector<Walk> columns;
  for (int k = draft.loop_count() - 1; k >= 0 && most > 1; --k) {
    if (draft.mark(k) != Mark::source_run) continue;
    const Loop& loop = draft.loop(k);
    const Axis& axis = draft.space().axes[static_cast<size_t>(loop.axis)];
    const int64_t steps = std::min({loop.extent, ceil_div(axis.valid, loop.step), most});
    columns.push_back({loop.stride[0], steps});
    most /= steps;
  }
  return columns;
}

}  // namespace

bool claims_lines(const Draft& draft) {
  return draft.target().claims_transposed_lines && !stays_in_l1(draft);
}

int64_t claimed_ahead(const Draft& draft, int64_t column, Rows rows) {
  const Target& target = draft.target();
  const Schedule& schedule = draft.schedule();
  const int64_t line = target.line_bytes, bytes = draft.space().op.bytes;
  const bool claims = draft.is_part() ? draft.goal() == CodeGoal::leaving : claims_lines(draft);
  if (!claims || schedule.vector_bytes != line) return 0;
  const bool aligned = rows == Rows::begin_lines;
  if (aligned && bytes < least_claimed_bytes) return 0;
  const int64_t columns = (schedule.target_first ? schedule.network_column_bytes : column) / bytes;
  if (lines_in_set(target, taken_columns(draft, columns), line) > l1_ways(target)) return 0;
  const bool narrow = !aligned && bytes <= 2;
  // What comes next in a short row is not there. Emerald Rapids, of narrow elements rows of 132 to
  // 156 bytes take up to 1.6 times as long with it, of 160 to 190 .87 of the time; of wider ones
  // those of 96 to 124 bytes 1.5, of 132 and more .8 (f32[31,7641] without .48 -> .79).
  const int64_t least = narrow ? 5 * line / 2 : 2 * line;
  if (written_run_bytes(draft, widest_source_loop(draft)) < least) return 0;
  return narrow ? 2 * line : line;
}

}  // namespace restride::scheduling
