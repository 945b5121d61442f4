// See shifted_lines.hpp.
#include "microkernel/transpose/shifted_lines.hpp"

#include <algorithm>
#include <vector>

#include "base/arithmetic.hpp"

namespace restride {
namespace {

constexpr int64_t widest_shifted_bytes = 8;

}  // namespace

using program::Reg;

bool masks_lines(const Target& target) {
  return target.byte_masks && target.vector_bytes == target.line_bytes;
}

bool shifts_lines(const Target& target, int64_t element_bytes) {
  return masks_lines(target) && target.permute_width > 0 &&
         target.permute_width <= power_of_two_divisor(element_bytes);
}

bool shifts_lines(const Machine& machine) {
  return shifts_lines(machine.target, shifted_bytes(machine));
}

int shifted_bytes(const Machine& machine) {
  return static_cast<int>(
      std::min({power_of_two_divisor(machine.element_bytes), widest_shifted_bytes,
                power_of_two_divisor(machine.pointer_alignment)}));
}

void ShiftedLines::begin() {
  const Reg first = vector_(0);
  emitter_.store_begin(shifted(first, first, 0), target_stream, at(0));
}

void ShiftedLines::lines(int64_t first, int64_t end, const std::function<void(int64_t k)>& after) {
  Reg before = vector_(first - 1);
  for (int64_t k = first; k < end; ++k) {
    const Reg value = repeated_ ? before : vector_(k);
    emitter_.store_line(shifted(before, value, k), target_stream, at(k));
    if (after) after(k);
    before = value;
  }
}

void ShiftedLines::end(int64_t count) {
  const Reg last = vector_(count - 1);
  emitter_.store_end(shifted(last, last, count), target_stream, at(count));
}

void ShiftedLines::end_of_run(bool leaves_rest) {
  if (leaves_rest) lines(0, 1, {});
  end(1);
}

void shifted_run(Emitter& emitter, const Machine& machine, int64_t target, int64_t count,
                 const ShiftedLines::Vector& vector) {
  std::vector<Reg> loaded;
  const auto once = [&](int64_t k) {
    while (static_cast<int64_t>(loaded.size()) <= k)
      loaded.push_back(vector(static_cast<int64_t>(loaded.size())));
    return loaded[static_cast<size_t>(k)];
  };
  ShiftedLines lines(emitter, machine, target, once);
  lines.begin();
  lines.lines(1, count, {});
  lines.end(count);
}

void end_run(Emitter& emitter, const Machine& machine, int64_t target, int64_t bytes,
             const PartOfRun& part) {
  const int64_t line = machine.vector_bytes, rest = bytes % line;
  // The line before the last one is of this run if it has two vectors.
  const bool apart = rest != 0 && bytes < 2 * line;
  const int64_t last = apart ? 0 : bytes - line;
  const auto vector = [&](int64_t k) { return part(last + k * line, line); };
  ShiftedLines(emitter, machine, target + last, vector).end_of_run(rest != 0 && !apart);
  if (apart) emitter.store(part(line, rest), target_stream, target + line, static_cast<int>(rest));
}

Reg ShiftedLines::shifted(Reg before, Reg value, int64_t k) {
  if (repeated_) return value;
  return emitter_.shift(shifted_bytes(machine_), before, value, target_stream, at(k));
}

}  // namespace restride
