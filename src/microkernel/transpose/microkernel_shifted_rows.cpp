// Rows that begin between lines of the target, for arrays that do not stay in the caches. Lines
// leave whole, around the caches; what two rows share of a line is written by stores that keep
// within it. Where long rows begin is known for a tile of them, and loads begin where a line of the
// target does; of others it is seen when the code runs.
#include <algorithm>
#include <numeric>

#include "base/arithmetic.hpp"
#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/copied_run.hpp"
#include "microkernel/transpose/shifted_lines.hpp"

namespace restride {
namespace {

using program::Body;
using program::Reg;

constexpr int64_t looped_vectors = 8;
// Where the processor reads ahead of the steps of a load. Zen 5, 8 problems of rows between lines
// .96 of the time; with one .99.
constexpr int64_t stepped_vectors = 4;
// Rows of 16 KB .43 -> .69 of a non-temporal copy; rows of 2 KB and 4 KB that do not follow each
// other in the source .61 -> .39 and .56 -> .50. Where phases are many the code grows.
constexpr int64_t least_row_bytes = 8 * 1024, most_rows = 32;

// Shorter ones share too many of their lines. Elements repeated for 400 bytes .25 -> .42 of memcpy,
// for 324 .17 -> .32, for 300 .31 -> .32; for 22 KB .32 -> .9 of memset.
constexpr int64_t least_repeated_bytes = 320;

class ShiftedRows {
 public:
  explicit ShiftedRows(const Machine& machine) : machine_(machine) {}

  /// The rows of side `side` and inside: each has a phase of its own.
  Body rows(const std::vector<nest::Side>& sides, size_t side, const Strides& at) {
    if (side + 1 == sides.size()) return row(sides[side].extent * machine_.element_bytes, at);
    Body body;
    for (int64_t i = 0; i < sides[side].extent; ++i) {
      append(body, rows(sides, side + 1, after(at, i, sides[side].stride)));
    }
    return body;
  }

 private:
  static Strides after(const Strides& at, int64_t times, const Strides& stride) {
    return {at[0] + times * stride[0], at[1] + times * stride[1]};
  }

  Body row(int64_t bytes, const Strides& at) {
    const int64_t phase = remainder_above(at[0], vector_);
    const int64_t head = std::min(bytes, (vector_ - phase) % vector_);
    emitter_.copy_part(source_stream, at[1], target_stream, at[0], {head, phase});
    Body body = body_of(emitter_.take());
    const int64_t chunk = looped_vectors * vector_, chunks = (bytes - head) / chunk;
    lines(after(at, head, {1, 1}), chunk);
    append(body, repeat({chunks, {chunk, chunk}}, body_of(emitter_.take())));
    const int64_t rest = (bytes - head) % chunk, whole = rest / vector_ * vector_;
    const Strides end = after(at, bytes - rest, {1, 1});
    lines(end, whole);
    const Strides tail = after(end, whole, {1, 1});
    emitter_.copy_part(source_stream, tail[1], target_stream, tail[0], {rest - whole, 0});
    append(body, body_of(emitter_.take()));
    return body;
  }

  void lines(const Strides& at, int64_t bytes) {
    for (int64_t begin = 0; begin < bytes; begin += vector_) {
      const program::Reg line =
          emitter_.load(source_stream, at[1] + begin, static_cast<int>(vector_));
      emitter_.store_nontemporal(line, target_stream, at[0] + begin);
    }
  }

  const Machine& machine_;
  const int64_t vector_ = machine_.vector_bytes;
  Emitter emitter_{machine_.target, machine_.vector_bytes};
};

/// Whether elements over and over look the same in all lines, which then need not be shifted.
bool repeats_anywhere(const Machine& machine) {
  return machine.pointer_alignment % machine.element_bytes == 0;
}

/// A row that begins anywhere in a line, seen when the code runs.
class RowBetweenLines {
 public:
  RowBetweenLines(RowValue value, int64_t bytes, const Strides& at, const Machine& machine)
      : value_(value), bytes_(bytes), at_(at), machine_(machine) {}

  Body emit() {
    const int64_t in_loop = machine_.target.reads_ahead_by_step ? stepped_vectors : looped_vectors;
    const int64_t vectors = bytes_ / line_, looped = (vectors - 1) / in_loop;
    claim_ends();
    ShiftedLines lines = shifted_lines(0);
    lines.begin();
    Body body = body_of(emitter_.take());
    if (looped > 0) {
      const int64_t step = in_loop * line_;
      whole_lines(lines, 1, 1 + in_loop);
      append(body, repeat({looped, {step, copies() ? step : 0}}, body_of(emitter_.take())));
    }
    const int64_t next = 1 + looped * in_loop;
    if (next < vectors) {
      whole_lines(lines, next, vectors);
      append(body, body_of(emitter_.take()));
    }
    shifted_lines(bytes_ - line_).end_of_run(bytes_ % line_ != 0);
    append(body, body_of(emitter_.take()));
    // What is stored twice is of one unit of work.
    return loop_always(1, {}, std::move(body));
  }

 private:
  bool copies() const { return value_ == RowValue::copy; }

  void claim_ends() {
    if (!machine_.target.masked_stores_wait) return;
    emitter_.claim(at_[0]);
    emitter_.claim(at_[0] + bytes_);
  }

  /// The vectors from byte `first` on.
  ShiftedLines shifted_lines(int64_t first) {
    const auto vector = [this, first](int64_t k) { return this->vector(first + k * line_); };
    if (copies()) return {emitter_, machine_, at_[0] + first, vector};
    return ShiftedLines::repeated(emitter_, machine_, at_[0] + first, vector);
  }

  /// Copies come from where lines of the target begin: one load a line.
  void whole_lines(ShiftedLines& lines, int64_t first, int64_t end) {
    if (!copies()) return lines.lines(first, end, {});
    for (int64_t at = first * line_; at < end * line_; at += line_) {
      const Reg line = emitter_.load_for_line(source_stream, at_[1] + at, at_[0] + at);
      emitter_.store_line(line, target_stream, at_[0] + at);
    }
  }

  /// The vector that begins at byte `at` of the row.
  Reg vector(int64_t at) {
    switch (value_) {
      case RowValue::copy:
        return emitter_.load(source_stream, at_[1] + at, machine_.vector_bytes);
      case RowValue::splat:
        return emitter_.splat(source_stream, at_[1], static_cast<int>(machine_.element_bytes));
      case RowValue::fill:
        break;
    }
    return emitter_.constant(machine_.fill_table);
  }

  const RowValue value_;
  const int64_t bytes_;
  const Strides at_;
  const Machine& machine_;
  const int64_t line_ = machine_.vector_bytes;
  Emitter emitter_{machine_.target, machine_.vector_bytes};
};

/// The same of a copy where vectors are parts of lines.
Body copied_row(int64_t bytes, const Strides& at, const Machine& machine) {
  constexpr int64_t in_loop = 4, loop_bytes = in_loop * program::line_bytes;
  const int64_t lines = CopiedRun::lines(bytes), looped = lines / in_loop;
  Emitter emitter(machine.target, machine.vector_bytes);
  CopiedRun run(emitter, machine, source_stream, at[1], at[0]);
  run.begin();
  Body body = body_of(emitter.take());
  if (looped > 0) {
    for (int64_t k = 0; k < in_loop; ++k) run.line(k);
    append(body, repeat({looped, {loop_bytes, loop_bytes}}, body_of(emitter.take())));
  }
  for (int64_t k = looped * in_loop; k < lines; ++k) run.line(k);
  run.last_line(bytes);
  run.end(bytes);
  append(body, body_of(emitter.take()));
  // What is stored twice is of one unit of work.
  return loop_always(1, {}, std::move(body));
}

}  // namespace

bool begin_between_lines(const nest::Tile& rows, RowValue value, const Machine& machine) {
  const Target& target = machine.target;
  const int64_t bytes = machine.element_bytes, line = machine.vector_bytes;
  const bool copies = copies_to_lines(target) && value == RowValue::copy;
  if (!machine.streams || machine.nontemporal || line != target.vector_bytes ||
      !(masks_lines(target) || copies) || line % bytes != 0 || rows.sides.empty()) {
    return false;
  }
  const nest::Side& run = rows.sides.back();
  if (run.stride[0] != bytes || run.filled > 0 || !run.own.empty()) return false;
  if (value != RowValue::copy)
    return repeats_anywhere(machine) && run.extent * bytes >= least_repeated_bytes;
  return run.stride[1] == bytes && (copies || shifts_lines(machine)) &&
         run.extent * bytes >= least_shifted_row_bytes(target);
}

Body emit_rows_between_lines(const nest::Tile& rows, RowValue value, const Strides& at,
                             const Machine& machine) {
  const int64_t bytes = rows.sides.back().extent * machine.element_bytes;
  Body body = copies_to_lines(machine.target) ? copied_row(bytes, at, machine)
                                              : RowBetweenLines(value, bytes, at, machine).emit();
  for (size_t k = rows.sides.size() - 1; k-- > 0;) body = repeat(rows.sides[k], std::move(body));
  return body;
}

int64_t shifted_rows(int64_t row_bytes, int64_t row_stride, const Target& target) {
  const int64_t rows = target.line_bytes / std::gcd(row_stride, target.line_bytes);
  return row_bytes >= least_row_bytes && rows <= most_rows ? rows : 1;
}

bool can_shift_rows(const nest::Tile& tile, const Machine& machine) {
  if (!machine.streams || machine.nontemporal || machine.alignment % machine.vector_bytes != 0) {
    return false;
  }
  int64_t rows = 1;
  for (size_t k = 0; k + 1 < tile.sides.size(); ++k) rows *= tile.sides[k].extent;
  const nest::Side& run = tile.sides.back();
  const int64_t bytes = machine.element_bytes;
  return run.stride[0] == bytes && run.stride[1] == bytes && rows <= most_rows &&
         run.extent * bytes >= least_row_bytes;
}

Body emit_shifted_rows(const nest::Tile& tile, const Strides& at, const Machine& machine) {
  return ShiftedRows(machine).rows(tile.sides, 0, at);
}

}  // namespace restride
