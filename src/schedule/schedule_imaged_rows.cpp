// Schedules of rows that source and target have in common, shorter than some lines, which follow
// each other in other orders: images of those that touch in the target leave wherever in a line
// they begin.
#include <algorithm>
#include <cstdlib>

#include "microkernel/microkernel.hpp"
#include "schedule/imaged_run.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {
namespace {

// Rows that both operands have: so many bytes of the source at a time, of at most so many runs.
constexpr int64_t imaged_rows_bytes = 256, most_imaged_rows = 16;
// A run of them by itself. What a short one asks for ahead comes too late: Zen 4, 16 problems .85
// of the time of 1 KB, f32[4,3000,301,14]{3,0,2,1} .70 -> 1.17 of the ceiling, [11,700,301,33] .84
// -> 1.08. When runs still ended by two stores, 17 took .82 of it, with 2 KB .92; 3 and 6 KB took
// .99 and 1.03 of the time of 4.
constexpr int64_t most_single_run_bytes = 4 * 1024;
// Of several runs beside each other, for making whole lines.
constexpr int64_t most_whole_run_bytes = 2 * 1024;
// Where vectors are parts of lines, rows of `least_imaged_run_bytes` to so many bytes are put
// together, too, if they lie apart in the source. Zen 3, 32 permutations .855 of the time, 20 from
// tiles .77; rows of 2.5 to 4 KB up to 1.3.
constexpr int64_t most_long_row_bytes = 2 * 1024;
/// Whether rows that both operands have are long, and put together all the same.
bool joins_long_rows(Draft draft) {
  const int k = draft.contiguous(0);
  if (!halves_lines(draft) || k < 0 || k != draft.contiguous(1)) return false;
  const int64_t row = draft.loop(k).extent * draft.space().op.bytes;
  if (row < least_imaged_run_bytes || row > most_long_row_bytes) return false;
  draft.mark(k) = Mark::target_run;
  const int next = draft.next_in_run(0, row);
  return next >= 0 && std::abs(draft.loop(next).stride[1]) >= 2 * row;
}

/// Whether some rows that follow each other in the target make lines.
bool joined_begin_lines(const Draft& draft, int64_t row_bytes) {
  const int next = draft.next_in_run(0, row_bytes);
  return joined_rows(row_bytes, draft.target()) > 1 && next >= 0 &&
         others_begin_lines(draft, draft.contiguous(0), next);
}

/// Whether an image of such rows is that of one run, since no other ones lie beside them.
bool makes_single_runs(Draft draft, int64_t row_bytes, int64_t most) {
  if (2 * row_bytes > imaged_rows_bytes) return true;
  take_imaged_run(draft, {most}, Runs::whole);
  return draft.next_in_run(1, row_bytes) < 0;
}

/// Whether rows are whole lines, or some that follow each other are, and no others are left.
bool makes_lines(const Draft& draft, int64_t row_bytes) {
  const int64_t joined = joined_rows(row_bytes, draft.target());
  const int next = draft.next_in_run(0, row_bytes);
  return row_bytes % draft.target().line_bytes == 0 ||
         (joined > 1 && (next < 0 || draft.loop(next).extent % joined == 0));
}

bool take_imaged_rows(Draft& draft, int64_t row_bytes) {
  const bool lines = makes_lines(draft, row_bytes);
  const int64_t most = most_imaged_run_bytes(most_imaged_rows, draft.target());
  RunLimits limits = makes_single_runs(draft, row_bytes, most)
                         ? RunLimits{most_single_run_bytes, most_single_run_bytes, most}
                         : RunLimits{most, most_whole_run_bytes};
  // Long rows.
  limits.rests_on_lines = row_bytes >= least_imaged_run_bytes;
  const int64_t run = take_imaged_run(draft, limits, Runs::whole);
  if (run < least_imaged_run_bytes || (lines && others_begin_lines(draft))) return false;
  const int64_t columns = std::min(imaged_rows_bytes / row_bytes, most_imaged_rows);
  const int next = draft.next_in_run(1, row_bytes);
  if (next >= 0 && columns > 1) {
    const int64_t length =
        without_rest(draft.loop(next).extent, columns, least_of(columns, draft.goal()), columns);
    draft.mark(draft.split_off(next, length)) = Mark::source_run;
  }
  draft.go_on(1);
  draft.schedule().movement = Movement::transpose;
  draft.schedule().staging = Staging::images;
  return true;
}

}  // namespace

bool image_rows(Draft& draft) {
  const Target& target = draft.target();
  const int64_t row = draft.loop(draft.contiguous(0)).extent * draft.space().op.bytes;
  const bool is_long = joins_long_rows(draft);
  const bool by_source =
      !is_long && shifts_rows_by_source(draft, row) &&
      (!target.images_rows || row % target.line_bytes == 0 || joined_begin_lines(draft, row));
  const bool large = draft.both_extent_bytes() > target.imaging_bytes;
  if (!shifts_images(draft) || !large || (row >= least_imaged_run_bytes && !is_long) ||
      repeats_source(draft) || by_source) {
    return false;
  }
  return draft.instead(draft.schedule(), [&] { return take_imaged_rows(draft, row); });
}

}  // namespace restride::scheduling
