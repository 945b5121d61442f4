// Schedules of what computes: rows of the target, or blocks where sources lie across them.
#include <algorithm>
#include <numeric>

#include "microkernel/transpose/shifted_lines.hpp"
#include "program/program.hpp"
#include "schedule/movements.hpp"
#include "schedule/questions.hpp"

namespace restride::scheduling {
namespace {

// Elements of a block whose sources are relaid before it is computed: as many along the target as
// along each source, so that both sides use lines up. Shares of the ceiling, 256 bytes of the
// target by what 32 KB hold -> 64 x 64 and the next block asked for: f32 to bf16 NHWC .38 -> .75,
// f32 to s8 transposed .23 -> .6, bf16 to f32 transposed .6 -> .8.
constexpr int64_t relaid_run_elements = 64;
// Rows that are shifted to lines, whose ends are written by halves of lines, are as long as so many
// columns leave them room for. Of 512 bytes 1.03 of the time, of 2 KB 1.00; with half as many
// columns sums of two transposed sources 1.2.
constexpr int64_t shifted_run_bytes = 1024, shifted_columns_at_once = 32;
// Narrower elements take longer to shift than their lines wait (u16 sums 1.0 to 1.6, u8 1.0 to
// 1.5), but for rows along which sources lie that are not narrow floats (comparisons .54 to 1.0; of
// f16 1.0 to 1.66). So do rows across short ones of a source: of 4 to 55 columns 1.06 to 1.7.
constexpr int64_t least_shifted_element = 4, least_shifted_columns = 64;
// Short rows that touch make one of whole vectors: parts of them would be loaded from scratch while
// they are on their way there. u8[100000,3] plus 3 numbers .15 -> .78 of the ceiling, 12 .15 ->
// .77, f32[1000,30,7] plus 30 .45 -> .65. 256 and 1024 elements take 1.07 and .98 of the time.
constexpr int64_t most_row_elements = 512;

// What is computed in the order of its sources fills vectors: sources of 20 columns 1.1 to 1.5 of
// the time, of 9 and 15 1.0 to 1.3, of 16 and 32 .4 to .97, of 39 to 58 1.0 to 1.25, but for sums
// of elements of 4 bytes and more, .8.
constexpr int64_t least_first_columns = 64, least_summed_columns = 32, whole_first_columns = 16;

/// The bytes of a source that the row already has side by side.
int64_t taken_run(const Draft& draft, int operand) {
  return run_bytes(draft, static_cast<size_t>(operand), [&](int k) {
    return draft.mark(k) == Mark::target_run ? draft.loop(k).extent : 1;
  });
}

/// Whether a source is contiguous along the whole row, or repeats one element there.
bool follows_row(const Draft& draft, int operand) {
  int64_t run = element_bytes(draft.space().op, operand);
  bool follows = true, repeats = true;
  for (int k = draft.loop_count() - 1; k >= 0; --k) {
    if (draft.mark(k) != Mark::target_run) continue;
    const int64_t stride = draft.loop(k).stride[static_cast<size_t>(operand)];
    follows = follows && stride == run;
    repeats = repeats && stride == 0;
    run *= draft.loop(k).extent;
  }
  return follows || repeats;
}

/// The only source that does not repeat one element along the row; 0 if there are several.
/// Blocks go on where it does; where others lie in rows of the target, as the target does. (f32
/// to s8, transposed: .35 -> .6 of the ceiling; but f32 times its transpose .68 -> .58.)
int only_source(const Draft& draft) {
  int only = 0;
  for (int operand = 1; operand <= source_count(draft.space().op); ++operand) {
    bool varies = false;
    for (int k = 0; k < draft.loop_count(); ++k) {
      varies = varies || (draft.mark(k) == Mark::target_run &&
                          draft.loop(k).stride[static_cast<size_t>(operand)] != 0);
    }
    if (!varies) continue;
    if (only != 0 || follows_row(draft, operand)) return 0;
    only = operand;
  }
  return only;
}

/// How many of a loop's iterations lengthen a row of `run` elements, to whole vectors if it is
/// short.
int64_t computed_extent(const Draft& draft, int64_t run, int64_t extent, int64_t most) {
  const ElementOp& op = draft.space().op;
  int64_t narrowest = op.bytes;
  for (int operand = 1; operand <= source_count(op); ++operand) {
    narrowest = std::min(narrowest, element_bytes(op, operand));
  }
  const int64_t vector = draft.target().vector_bytes / narrowest;
  const int64_t whole = vector / std::gcd(vector, run), wanted = most / run;
  if (run * std::min(whole, extent) > most_row_elements) return wanted;
  return std::min(extent, std::max(whole, wanted / whole * whole));
}

/// Marks the loops of a row of the target; returns its elements.
int64_t computed_row(Draft& draft, int64_t longest) {
  const int64_t bytes = draft.space().op.bytes;
  int64_t run = bytes;
  while (2 * run <= longest) {
    const int k = draft.next_in_run(0, run);
    if (k < 0) break;
    // Lines of the target are left to the loop that a source's runs begin with.
    if (begins_runs(draft, k) && run >= draft.target().line_bytes) break;
    const int inner = draft.split_off(
        k, computed_extent(draft, run / bytes, draft.loop(k).extent, longest / bytes));
    draft.mark(inner) = Mark::target_run;
    run *= draft.loop(inner).extent;
  }
  return run / bytes;
}

/// Whether elements of two bytes and less become others before they are computed with.
bool comes_of_narrow_floats(const ElementOp& op) {
  return is_float(op.source_type) && storage_bytes(op.source_type) < 4;
}

/// Whether rows of a draft that has no boxes yet may leave in whole lines, wherever they begin:
/// long ones that stream.
bool can_shift(const Draft& draft) {
  const Target& target = draft.target();
  const int64_t bytes = draft.space().op.bytes;
  if (!target.shifts_computed_rows || !draft.schedule().nontemporal || !shifts_lines(target, 1))
    return false;
  int64_t run = bytes;
  for (int k; (k = draft.next_in_run(0, run)) >= 0 && (run == bytes || !begins_runs(draft, k));)
    run *= draft.loop(k).extent;
  return run >= target.shifting_run_bytes;
}

/// Whether runs of all sources that are relaid are long, of a space that has no boxes yet.
bool has_columns(const IterationSpace& space) {
  const int64_t bytes = space.op.bytes;
  return std::none_of(space.loops.begin(), space.loops.end(), [&](const Loop& loop) {
    bool begins = false;
    for (int operand = 1; operand <= source_count(space.op); ++operand)
      begins |= loop.stride[static_cast<size_t>(operand)] == element_bytes(space.op, operand);
    return begins && loop.stride[0] != bytes && loop.extent < least_shifted_columns;
  });
}

/// Bytes of the elements that are relaid for one element of the target.
int64_t relaid_element_bytes(const Draft& draft) {
  int64_t bytes = 0;
  for (int operand = 1; operand <= source_count(draft.space().op); ++operand) {
    if (!follows_row(draft, operand)) bytes += element_bytes(draft.space().op, operand);
  }
  return bytes;
}

/// The source that decides in which order what is computed first is computed: the first one that
/// does not follow rows of the target.
int leading_source(const Draft& draft) {
  int operand = 1;
  while (follows_row(draft, operand)) ++operand;
  return operand;
}

/// Whether blocks are computed in the order of their sources and relaid then: all of these lie like
/// the leading one or repeat there, and the results take fewer bytes than they do.
bool computes_first(const Draft& draft, int64_t relaid) {
  const ElementOp& op = draft.space().op;
  if (!draft.target().computes_first || draft.schedule().nontemporal || relaid <= op.bytes)
    return false;
  const int leading = leading_source(draft);
  const int k = draft.contiguous(static_cast<size_t>(leading));
  if (k < 0 || draft.mark(k) == Mark::target_run) return false;
  const Loop& run = draft.loop(k);
  const bool sums = source_count(op) > 1 && op.bytes >= 4;
  const int64_t least = sums ? least_summed_columns : least_first_columns;
  if (run.extent < least && run.extent % whole_first_columns != 0) return false;
  for (int operand = 1; operand <= source_count(op); ++operand) {
    const int64_t stride = run.stride[static_cast<size_t>(operand)];
    if (stride != 0 && stride != element_bytes(op, operand)) return false;
  }
  return true;
}

/// A block of a run of the target by one of the sources, which lie like `leading`: of two of them
/// half as long.
void compute_first(Draft& draft, int leading) {
  const ElementOp& op = draft.space().op;
  const int64_t bytes = element_bytes(op, leading);
  draft.schedule().computes_first = true;
  computed_row(draft, relaid_run_elements * op.bytes);
  draft.take_run(static_cast<size_t>(leading), bytes,
                 relaid_run_elements / source_count(op) * bytes, Mark::source_run);
}

}  // namespace

void compute(Draft& draft) {
  draft.schedule().movement = Movement::compute;
  if (draft.contiguous(0) < 0) return scattered(draft);
  const IterationSpace unsplit = draft.space();
  const int64_t bytes = draft.space().op.bytes;
  const bool may_shift = can_shift(draft), is_wide = bytes >= least_shifted_element;
  int64_t row = computed_row(draft, relaid_run_elements * bytes);
  const int64_t relaid = relaid_element_bytes(draft);
  if (relaid == 0) {
    draft.begin_anew(unsplit);
    rows(draft, Movement::compute, draft.contiguous(0));
    draft.schedule().shifts_runs =
        may_shift && !begins_lines(draft) && (is_wide || !comes_of_narrow_floats(draft.space().op));
    return;
  }
  if (computes_first(draft, relaid)) {
    const int leading = leading_source(draft);
    draft.begin_anew(unsplit);
    return compute_first(draft, leading);
  }
  if (may_shift && is_wide && has_columns(unsplit) && !begins_lines(draft)) {
    draft.begin_anew(unsplit);
    row = computed_row(
        draft, std::clamp(program::scratch_in_l1_bytes / relaid / shifted_columns_at_once * bytes,
                          draft.target().shifting_run_bytes, shifted_run_bytes));
    draft.schedule().shifts_runs = true;
  }
  int64_t room = std::max<int64_t>(1, program::scratch_in_l1_bytes / relaid / row);
  for (int operand = 1; operand <= source_count(draft.space().op); ++operand) {
    if (follows_row(draft, operand)) continue;
    const int64_t taken = taken_run(draft, operand);
    const int64_t run = draft.take_run(
        static_cast<size_t>(operand), taken,
        std::min(room * taken, relaid_run_elements * element_bytes(draft.space().op, operand)),
        Mark::source_run);
    room = std::max<int64_t>(1, room / (run / taken));
  }
  if (draft.schedule().nontemporal && only_source(draft) != 0)
    draft.go_on(static_cast<size_t>(only_source(draft)));
}

}  // namespace restride::scheduling
