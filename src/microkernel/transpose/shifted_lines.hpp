// Shifted lines: a run of the target that begins anywhere in a line leaves in whole lines, around
// the caches.
//
//     vectors      aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbcccccccccccccccc
//     target  |....aaaaaaaaaaaa|aaaabbbbbbbbbbbb|bbbbcccccccccccc|cccc............|
//
// Each line is put together of two vectors that follow each other, by shifts that look where the
// run begins when the code runs. Where it begins and ends it leaves by masks through the caches,
// since it shares those lines. Where vectors come from is not in here.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "program/program.hpp"

namespace restride {

/// Whether a target stores what is before or behind a place in a line.
bool masks_lines(const Target& target);

/// Whether a target has what it takes to shift elements of so many bytes to lines.
bool shifts_lines(const Target& target, int64_t element_bytes);
/// The same where no more is promised of the target's pointer than a machine says.
bool shifts_lines(const Machine& machine);

/// Bytes by which a machine shifts: what elements and the target's pointer are multiples of.
int shifted_bytes(const Machine& machine);

class ShiftedLines {
 public:
  /// Emits vector `k` of the run.
  using Vector = std::function<program::Reg(int64_t k)>;

  /// A run that begins `target` bytes from where target_stream stands. All references must live on.
  ShiftedLines(Emitter& emitter, const Machine& machine, int64_t target, Vector vector)
      : emitter_(emitter), machine_(machine), target_(target), vector_(std::move(vector)) {}

  /// A run of one vector over and over, which looks the same wherever it is cut.
  static ShiftedLines repeated(Emitter& emitter, const Machine& machine, int64_t target,
                               Vector vector) {
    ShiftedLines lines(emitter, machine, target, std::move(vector));
    lines.repeated_ = true;
    return lines;
  }

  /// What vector 0 has of the line in which it begins.
  void begin();
  /// The lines in which vectors [first, end) begin, without the first line of all. `after` is told
  /// of each.
  void lines(int64_t first, int64_t end, const std::function<void(int64_t k)>& after);
  /// Of the last of `count` vectors what the line in which it begins has no room for.
  void end(int64_t count);
  /// If vector 0 is the last one of a longer run: the line in which that ends. Where whole vectors
  /// of it leave a rest, the line before that, too, which may have been stored already: whether it
  /// has is not known. Where the rest were written by itself, two stores would write parts of what
  /// may be one line, or of one that is whole.
  void end_of_run(bool leaves_rest);

 private:
  int64_t at(int64_t k) const { return target_ + k * machine_.vector_bytes; }
  program::Reg shifted(program::Reg before, program::Reg value, int64_t k);

  Emitter& emitter_;
  const Machine& machine_;
  int64_t target_;
  Vector vector_;
  bool repeated_ = false;
};

/// A run of `count` vectors by itself, each of which is loaded once.
void shifted_run(Emitter& emitter, const Machine& machine, int64_t target, int64_t count,
                 const ShiftedLines::Vector& vector);

/// Emits so many bytes of a run from byte `at` on, at most a vector.
using PartOfRun = std::function<program::Reg(int64_t at, int64_t bytes)>;

/// What is to be stored of a run of a vector or more after its whole vectors and their lines.
void end_run(Emitter& emitter, const Machine& machine, int64_t target, int64_t bytes,
             const PartOfRun& part);

}  // namespace restride
