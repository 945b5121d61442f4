// Schedules of what computes: rows of the target, or blocks where sources lie across them.
#include <algorithm>
#include <numeric>

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
// Short rows that touch make one of whole vectors: parts of them would be loaded from scratch while
// they are on their way there. u8[100000,3] plus 3 numbers .15 -> .78 of the ceiling, 12 .15 ->
// .77, f32[1000,30,7] plus 30 .45 -> .65. 256 and 1024 elements take 1.07 and .98 of the time.
constexpr int64_t most_row_elements = 512;

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
int64_t computed_extent(const Draft& draft, int64_t run, int64_t extent) {
  const ElementOp& op = draft.space().op;
  int64_t narrowest = op.bytes;
  for (int operand = 1; operand <= source_count(op); ++operand) {
    narrowest = std::min(narrowest, element_bytes(op, operand));
  }
  const int64_t vector = draft.target().vector_bytes / narrowest;
  const int64_t whole = vector / std::gcd(vector, run), wanted = relaid_run_elements / run;
  if (run * std::min(whole, extent) > most_row_elements) return wanted;
  return std::min(extent, std::max(whole, wanted / whole * whole));
}

/// Marks the loops of a row of the target; returns its elements.
int64_t computed_row(Draft& draft) {
  const int64_t bytes = draft.space().op.bytes;
  const int64_t longest = relaid_run_elements * bytes;
  int64_t run = bytes;
  while (2 * run <= longest) {
    const int k = draft.next_in_run(0, run);
    if (k < 0) break;
    // Lines of the target are left to the loop that a source's runs begin with.
    if (begins_runs(draft, k) && run >= draft.target().line_bytes) break;
    const int inner = draft.split_off(k, computed_extent(draft, run / bytes, draft.loop(k).extent));
    draft.mark(inner) = Mark::target_run;
    run *= draft.loop(inner).extent;
  }
  return run / bytes;
}

/// Bytes of the elements that are relaid for one element of the target.
int64_t relaid_element_bytes(const Draft& draft) {
  int64_t bytes = 0;
  for (int operand = 1; operand <= source_count(draft.space().op); ++operand) {
    if (!follows_row(draft, operand)) bytes += element_bytes(draft.space().op, operand);
  }
  return bytes;
}

}  // namespace

void compute(Draft& draft) {
  draft.schedule().movement = Movement::compute;
  if (draft.contiguous(0) < 0) return scattered(draft);
  const IterationSpace unsplit = draft.space();
  const int64_t row = computed_row(draft);
  const int64_t relaid = relaid_element_bytes(draft);
  if (relaid == 0) {
    draft.begin_anew(unsplit);
    return rows(draft, Movement::compute, draft.contiguous(0));
  }
  int64_t room = std::max<int64_t>(1, program::scratch_in_l1_bytes / relaid / row);
  for (int operand = 1; operand <= source_count(draft.space().op); ++operand) {
    if (follows_row(draft, operand)) continue;
    const int64_t bytes = element_bytes(draft.space().op, operand);
    const int64_t taken = taken_run(draft, operand);
    const int64_t run =
        draft.take_run(static_cast<size_t>(operand), taken,
                       std::min(room * taken, relaid_run_elements * bytes), Mark::source_run);
    room = std::max<int64_t>(1, room / (run / taken));
  }
  if (draft.schedule().nontemporal && only_source(draft) != 0)
    draft.go_on(static_cast<size_t>(only_source(draft)));
}

}  // namespace restride::scheduling
