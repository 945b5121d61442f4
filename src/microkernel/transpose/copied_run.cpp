// See copied_run.hpp.
#include "microkernel/transpose/copied_run.hpp"

#include "microkernel/transpose/shifted_lines.hpp"

namespace restride {

bool copies_to_lines(const Target& target) {
  return target.nontemporal && !target.byte_masks && target.line_bytes == program::line_bytes &&
         target.vector_bytes < target.line_bytes;
}

bool leaves_in_lines(const Target& target, int64_t element_bytes) {
  return shifts_lines(target, element_bytes) || copies_to_lines(target);
}

void CopiedRun::begin() { emitter_.copy_begin(shifted_bytes(machine_), stream_, from_, target_); }

void CopiedRun::line_of(int64_t at, int64_t behind) {
  const int64_t vector = machine_.vector_bytes;
  for (int64_t k = 0; k < program::line_bytes; k += vector) {
    const program::Reg value = emitter_.load_for_line(stream_, from_ + at + k, target_ + at);
    emitter_.store_line(value, target_stream, target_ + at, static_cast<int>(k), behind);
  }
}

void CopiedRun::end(int64_t bytes) {
  emitter_.copy_end(shifted_bytes(machine_), stream_, from_ + bytes, target_ + bytes);
}

}  // namespace restride
