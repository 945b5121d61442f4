// Copied run: a run of the target that stands somewhere in memory, element by element, leaves in
// whole lines, around the caches, where vectors are parts of lines and there are no byte masks.
//
//     memory       aaaaaaaabbbbbbbbccccccccddddddddeeeee
//     target  |....aaaaaaaabbbb|bbbbccccccccdddd|ddddeeeee.......|
//              copied           line             copied
//
// Each line is loaded as it will lie there, from between vectors. What the run has of the lines in
// which it begins and ends, which it shares with others, is copied piece by piece through the
// caches. Where it begins is seen when the code runs.
#pragma once

#include <cstdint>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"

namespace restride {

/// Whether a target has what it takes to copy runs to lines.
bool copies_to_lines(const Target& target);
/// The same, or to shift runs of elements of so many bytes to them: whether runs leave in lines
/// wherever they begin.
bool leaves_in_lines(const Target& target, int64_t element_bytes);

/// A run has this many bytes and more: a line between those in which it begins and ends.
constexpr int64_t least_copied_bytes = 2 * program::line_bytes;

class CopiedRun {
 public:
  /// A run that stands `from` bytes from where a stream stands, and begins `target` bytes from
  /// where target_stream stands. All references must live on.
  CopiedRun(Emitter& emitter, const Machine& machine, int stream, int64_t from, int64_t target)
      : emitter_(emitter), machine_(machine), stream_(stream), from_(from), target_(target) {}

  /// What the run has of the line in which it begins, if that is not all of it.
  void begin();
  /// Line `k` of those behind that: the first of all, if the run begins on it.
  void line(int64_t k) { line_of(program::line_bytes * (k + 1) - 1, 0); }
  /// How many lines a run of so many bytes fills, at least, without the last one that it fills.
  static int64_t lines(int64_t bytes) { return (bytes + 1) / program::line_bytes - 1; }
  /// The last line that a run of so many bytes fills, if that is not the one before. (Zen 3: 49
  /// matrices .92 of the time of letting it leave twice, 83 permutations .94: f32[4260,1690] .31 ->
  /// .40 of the ceiling, c128[1639,374] 3.9 -> 2.9 ns a line. A line that leaves again waits for
  /// what it was.)
  void last_line(int64_t bytes) {
    line_of(bytes - program::line_bytes, (bytes + 1) % program::line_bytes);
  }
  /// The line in which a piece of the run begins, of which what it has before the piece is in
  /// memory, too.
  void joined_line() { line_of(0, 0); }
  /// What a run of so many bytes has of the line behind that.
  void end(int64_t bytes);

 private:
  /// The line in which byte `at` of the run lies, if the byte `behind` before that is in another
  /// one, or that is 0.
  void line_of(int64_t at, int64_t behind);

  Emitter& emitter_;
  const Machine& machine_;
  int stream_;
  int64_t from_, target_;
};

}  // namespace restride
