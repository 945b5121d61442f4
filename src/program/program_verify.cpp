// verify: invariants 1 to 6 of a Program, in one walk over its text.
//
// The walk carries a StreamRange per stream: entering a loop widens the ranges of the streams that
// it moves, leaving it takes them back. Every access is compared with its operand there. What a
// Block says by itself is checked by BlockVerifier. Nothing is executed: the cost does not depend
// on extents.
//
// Not here: that stores do not overlap, which needs a walk over memory (written_once).
#include <algorithm>
#include <array>

#include "program/block_verify.hpp"
#include "program/program.hpp"
#include "program/stream_range.hpp"

namespace restride {
namespace program {
namespace {

using Ranges = std::array<StreamRange, max_streams>;
using Checked = std::optional<Violation>;

bool is_power_of_two(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

/// The hull of what a unit has written to an operand so far.
struct Written {
  int64_t low = 0, high = 0;  ///< bytes [low, high); empty before the first store

  bool contains(int64_t from, int64_t to) const { return low <= from && to <= high; }
  void add(int64_t from, int64_t to) {
    const bool empty = low == high;
    low = empty || from < low ? from : low;
    high = empty || to > high ? to : high;
  }
};

/// Reads inside a loop of what a later operation of its body writes: a software pipeline, right if
/// an earlier iteration wrote it. Judged when the outermost such loop ends.
struct Expected {
  Written bytes{};
  const Op* op = nullptr;
};

class Verifier {
 public:
  Verifier(const Program& program, const Target& target)
      : program_(program), target_(target), block_verifier_(program, target) {}

  Checked run() {
    if (const Checked broken = check_head()) return broken;
    if (const Checked broken = block_verifier_.check_tables()) return broken;
    return check_root();
  }

 private:
  Checked check_head() const;
  Checked check_root();
  Checked check_unit_steps(const For& loop) const;
  Checked check_body(const Body& body, Ranges& ranges, int depth);
  Checked check_loop(const For& loop, Ranges& ranges, int depth);
  Checked check_block(const Block& block, const Ranges& ranges);
  Checked check_access(const Op& op, const Ranges& ranges);
  Checked check_copied(const Op& op, const Ranges& ranges);
  Checked check_read(const Op& op, int index, Access bytes);
  Checked check_place(const Op& op, const Ranges& ranges) const;
  Checked check_expected();
  Checked check_step(const Step& step) const;

  const Program& program_;
  const Target& target_;
  BlockVerifier block_verifier_;
  std::array<Written, max_operands> written_{};    ///< by the unit under verification
  std::array<Expected, max_operands> expected_{};  ///< of the loop under verification
  int repeating_ = 0;  ///< loops around, inside the unit, that run more than once
};

Checked Verifier::check_head() const {
  constexpr int64_t limit = int64_t{1} << 61;
  const int vector = program_.vector_bytes;
  if (vector != 16 && vector != 32 && vector != 64) return Violation{4, "no such vector"};
  if (vector > target_.vector_bytes) return Violation{4, "vectors wider than the target's"};
  if (program_.operands.size() > max_operands) return Violation{6, "too many operands"};
  if (program_.streams.size() > max_streams) return Violation{6, "too many streams"};
  Role before = Role::target;
  for (const Operand& operand : program_.operands) {
    if (operand.role > Role::scratch || operand.role < before) {
      return Violation{6, "operands come in the order target, sources, scratch"};
    }
    before = operand.role;
    if (operand.begin > operand.end || operand.begin < -limit || operand.end > limit) {
      return Violation{6, "an operand's bytes"};
    }
    if (!is_power_of_two(operand.alignment)) {
      return Violation{6, "an operand's alignment is no power of two"};
    }
    if (operand.phase < 0 || operand.phase >= operand.alignment ||
        (operand.phase != 0 && operand.role == Role::scratch)) {
      return Violation{6, "an operand's phase"};
    }
  }
  for (const int operand : program_.streams) {
    if (operand < 0 || size_t(operand) >= program_.operands.size()) {
      return Violation{6, "a stream into an operand that is not there"};
    }
  }
  if (program_.open &&
      (program_.root.size() != 1 || !std::holds_alternative<For>(program_.root[0]))) {
    return Violation{5, "an open program has one root loop"};
  }
  return std::nullopt;
}

Checked Verifier::check_unit_steps(const For& loop) const {
  for (const Step& step : loop.steps) {
    if (step.phase != 0 || !step.wraps.empty()) return Violation{5, "a root loop only walks"};
  }
  return std::nullopt;
}

Checked Verifier::check_root() {
  Ranges ranges{};
  int64_t units = 0;
  for (const auto& item : program_.root) {
    written_ = {};
    int64_t extent = 1;
    Checked broken;
    if (const For* loop = std::get_if<For>(&item)) {
      extent = loop->extent;
      broken = check_unit_steps(*loop);
      if (!broken) broken = check_loop(*loop, ranges, 0);
    } else {
      broken = check_block(std::get<Block>(item), ranges);
    }
    if (broken) return broken;
    if (__builtin_add_overflow(units, extent, &units)) return Violation{6, "too many units"};
  }
  return std::nullopt;
}

Checked Verifier::check_body(const Body& body, Ranges& ranges, int depth) {
  for (const auto& item : body) {
    const For* loop = std::get_if<For>(&item);
    const Checked broken =
        loop ? check_loop(*loop, ranges, depth) : check_block(std::get<Block>(item), ranges);
    if (broken) return broken;
  }
  return std::nullopt;
}

Checked Verifier::check_step(const Step& step) const {
  if (step.stream < 0 || size_t(step.stream) >= program_.streams.size()) {
    return Violation{6, "a loop moves a stream that is not there"};
  }
  if (step.phase < 0) return Violation{6, "a negative phase"};
  if (step.wraps.size() > max_wraps) return Violation{6, "a step with too many wraps"};
  for (const Wrap& wrap : step.wraps) {
    if (wrap.every < 1) return Violation{6, "a wrap after less than one count"};
  }
  return std::nullopt;
}

Checked Verifier::check_loop(const For& loop, Ranges& ranges, int depth) {
  if (loop.extent < 1) return Violation{6, "a loop that never runs"};
  if (depth >= max_depth) return Violation{6, "loops too deep"};
  Ranges inside = ranges;
  uint64_t moved = 0;
  for (const Step& step : loop.steps) {
    if (const Checked broken = check_step(step)) return broken;
  }
  for (const Step& step : loop.steps) {
    const uint64_t bit = uint64_t{1} << step.stream;
    if (moved & bit) continue;
    moved |= bit;
    if (!widen(inside[size_t(step.stream)], loop.steps, step.stream, loop.extent)) {
      return Violation{6, "positions that do not fit"};
    }
  }
  const bool repeats = depth > 0 && loop.extent > 1;
  repeating_ += repeats ? 1 : 0;
  const Checked broken = check_body(loop.body, inside, depth + 1);
  repeating_ -= repeats ? 1 : 0;
  return broken || !repeats || repeating_ > 0 ? broken : check_expected();
}

Checked Verifier::check_expected() {
  for (size_t operand = 0; operand < expected_.size(); ++operand) {
    const Expected& reads = expected_[operand];
    if (reads.op != nullptr && !written_[operand].contains(reads.bytes.low, reads.bytes.high)) {
      return Violation{2, "reads what its unit has not written", reads.op};
    }
  }
  expected_ = {};
  return std::nullopt;
}

Checked Verifier::check_block(const Block& block, const Ranges& ranges) {
  block_verifier_.begin();
  for (const Op& op : block) {
    if (const Checked broken = block_verifier_.check(op)) return broken;
    if (!names_memory(op.code)) continue;
    if (op.stream >= program_.streams.size()) return Violation{6, "no such stream", &op};
    if (const Checked broken = check_place(op, ranges)) return broken;
    if (op.code == Code::prefetch || op.code == Code::shift) continue;
    if (is_copy(op.code)) {
      if (const Checked broken = check_copied(op, ranges)) return broken;
    }
    if (const Checked broken = check_access(op, ranges)) return broken;
  }
  return block_verifier_.check_live_registers(block);
}

Checked Verifier::check_place(const Op& op, const Ranges& ranges) const {
  if (op.code != Code::shift && !is_copy(op.code)) return std::nullopt;
  const Operand& operand = program_.operands[size_t(program_.streams[op.stream])];
  if (operand.alignment % op.width != 0 ||
      !ranges[op.stream].aligned(op.offset + operand.phase, op.width))
    return Violation{3, "moves by parts of elements", &op};
  return std::nullopt;
}

Checked Verifier::check_access(const Op& op, const Ranges& ranges) {
  const StreamRange& range = ranges[op.stream];
  const int index = program_.streams[op.stream];
  const Operand& operand = program_.operands[size_t(index)];
  const int64_t reach = std::max<int64_t>(2 * line_bytes, op.run);
  int64_t from, to;
  if (__builtin_add_overflow(range.low, op.offset, &from) ||
      __builtin_add_overflow(range.high, op.offset, &to) ||
      __builtin_add_overflow(to, reach, &to)) {
    return Violation{2, "outside its operand", &op};
  }
  if (from < operand.begin) return Violation{2, "outside its operand", &op};
  const bool begins_line = operand.alignment % line_bytes == 0 && operand.phase % line_bytes == 0;
  const bool anywhere = asks_place(op.code) && !begins_line;
  const auto touched = anywhere ? accessed_anywhere : accessed;
  from = touched(op, from, program_.vector_bytes).first;
  to = touched(op, to - reach, program_.vector_bytes).last;
  if (from < operand.begin || to > operand.end) return Violation{2, "outside its operand", &op};
  if (op.to != none) return check_read(op, index, {from, to});
  if (operand.role == Role::source) return Violation{2, "stores to a source", &op};
  if (op.code == Code::store_nontemporal &&
      (operand.alignment < program_.vector_bytes ||
       !range.aligned(op.offset + operand.phase, program_.vector_bytes))) {
    return Violation{3, "not proved aligned", &op};
  }
  written_[size_t(index)].add(from, to);
  return std::nullopt;
}

/// What a copy reads, wherever in a line it writes.
Checked Verifier::check_copied(const Op& op, const Ranges& ranges) {
  if (op.select >= program_.streams.size()) return Violation{6, "no such stream", &op};
  const StreamRange& range = ranges[op.select];
  const int index = program_.streams[op.select];
  const Operand& operand = program_.operands[size_t(index)];
  if (operand.role == Role::target) return Violation{2, "copies from the target", &op};
  const int64_t most = line_bytes - 1, before = op.code == Code::copy_end ? most : 0;
  int64_t from, to;
  if (__builtin_add_overflow(range.low - before, op.copied, &from) ||
      __builtin_add_overflow(range.high - before + most, op.copied, &to) || from < operand.begin ||
      to > operand.end) {
    return Violation{2, "outside its operand", &op};
  }
  return check_read(op, index, {from, to});
}

Checked Verifier::check_read(const Op& op, int index, Access bytes) {
  const Role role = program_.operands[size_t(index)].role;
  if (role != Role::scratch || written_[size_t(index)].contains(bytes.first, bytes.last))
    return std::nullopt;
  if (repeating_ == 0) return Violation{2, "reads what its unit has not written", &op};
  expected_[size_t(index)].bytes.add(bytes.first, bytes.last);
  expected_[size_t(index)].op = &op;
  return std::nullopt;
}

}  // namespace
}  // namespace program

Result<void> verify(const Program& program, const Target& target) {
  const auto broken = program::Verifier(program, target).run();
  if (!broken) return {};
  std::string message =
      "program: invariant " + std::to_string(broken->invariant) + ": " + broken->what;
  if (broken->op) message += ": " + to_string(*broken->op);
  return Error{ErrorCode::invalid_argument, std::move(message)};
}

}  // namespace restride
