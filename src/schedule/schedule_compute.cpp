// Schedules of what computes: rows of the target, or blocks where sources lie across them.
#include <algorithm>
#include <numeric>

#include "base/arithmetic.hpp"
#include "program/program.hpp"
#include "schedule/scheduler.hpp"

namespace restride {
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

}  // namespace

void Scheduler::compute() {
  schedule_.movement = Movement::compute;
  if (contiguous(0) < 0) return scattered();
  const IterationSpace unsplit = space();
  const int64_t row = computed_row();
  const int64_t relaid = relaid_element_bytes();
  if (relaid == 0) {
    space() = unsplit;
    marks_.assign(space().loops.size(), Mark::outside);
    return rows(Movement::compute, contiguous(0));
  }
  int64_t room = std::max<int64_t>(1, program::max_scratch_bytes / relaid / row);
  for (int operand = 1; operand <= source_count(space().op); ++operand) {
    if (follows_row(operand)) continue;
    const int64_t bytes = element_bytes(space().op, operand);
    const int64_t taken = taken_run(operand);
    const int64_t run =
        take_run(static_cast<size_t>(operand), taken,
                 std::min(room * taken, relaid_run_elements * bytes), Mark::source_run);
    room = std::max<int64_t>(1, room / (run / taken));
  }
  if (schedule_.nontemporal && only_source() != 0) go_on(static_cast<size_t>(only_source()));
}

int64_t Scheduler::taken_run(int operand) {
  int64_t run = element_bytes(space().op, operand);
  for (int k = loop_count() - 1; k >= 0;) {
    const bool goes_on = mark(k) == Mark::target_run && loop(k).extent > 1 &&
                         loop(k).stride[static_cast<size_t>(operand)] == run;
    run *= goes_on ? loop(k).extent : 1;
    k = goes_on ? loop_count() - 1 : k - 1;
  }
  return run;
}

int Scheduler::only_source() {
  int only = 0;
  for (int operand = 1; operand <= source_count(space().op); ++operand) {
    bool varies = false;
    for (int k = 0; k < loop_count(); ++k) {
      varies = varies ||
               (mark(k) == Mark::target_run && loop(k).stride[static_cast<size_t>(operand)] != 0);
    }
    if (!varies) continue;
    if (only != 0 || follows_row(operand)) return 0;
    only = operand;
  }
  return only;
}

int64_t Scheduler::computed_row() {
  const int64_t bytes = space().op.bytes;
  const int64_t longest = relaid_run_elements * bytes;
  int64_t run = bytes;
  while (2 * run <= longest) {
    const int k = next_in_run(0, run);
    if (k < 0) break;
    // Lines of the target are left to the loop that a source's runs begin with.
    if (begins_runs(k) && run >= target_.line_bytes) break;
    const int inner = split_off(k, computed_extent(run / bytes, loop(k).extent));
    mark(inner) = Mark::target_run;
    run *= loop(inner).extent;
  }
  return run / bytes;
}

int64_t Scheduler::computed_extent(int64_t run, int64_t extent) const {
  const ElementOp& op = schedule_.space.op;
  int64_t narrowest = op.bytes;
  for (int operand = 1; operand <= source_count(op); ++operand) {
    narrowest = std::min(narrowest, element_bytes(op, operand));
  }
  const int64_t vector = target_.vector_bytes / narrowest;
  const int64_t whole = vector / std::gcd(vector, run), wanted = relaid_run_elements / run;
  if (run * std::min(whole, extent) > most_row_elements) return wanted;
  return std::min(extent, std::max(whole, wanted / whole * whole));
}

bool Scheduler::begins_runs(int k) {
  for (int operand = 1; operand <= source_count(space().op); ++operand) {
    const int64_t stride = loop(k).stride[static_cast<size_t>(operand)];
    if (stride == element_stride(space().op, operand)) return true;
  }
  return false;
}

bool Scheduler::follows_row(int operand) {
  int64_t run = element_bytes(space().op, operand);
  bool follows = true, repeats = true;
  for (int k = loop_count() - 1; k >= 0; --k) {
    if (mark(k) != Mark::target_run) continue;
    const int64_t stride = loop(k).stride[static_cast<size_t>(operand)];
    follows = follows && stride == run;
    repeats = repeats && stride == 0;
    run *= loop(k).extent;
  }
  return follows || repeats;
}

int64_t Scheduler::relaid_element_bytes() {
  int64_t bytes = 0;
  for (int operand = 1; operand <= source_count(space().op); ++operand) {
    if (!follows_row(operand)) bytes += element_bytes(space().op, operand);
  }
  return bytes;
}

}  // namespace restride
