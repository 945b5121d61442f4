// See shifted_image.hpp.
#include "microkernel/transpose/shifted_image.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/arithmetic.hpp"
#include "microkernel/emitter.hpp"
#include "microkernel/transpose/copied_run.hpp"
#include "microkernel/transpose/shifted_lines.hpp"

namespace restride {
namespace {

using program::Body;
using program::Reg;
using program::Step;

/// Whether a run leaves as it stands. Of a line of which it has a vector and a part, that part
/// would go through the caches.
bool begins_line(const ImageRun& run, const Machine& machine) {
  const int64_t vector = machine.vector_bytes;
  const bool whole = !copies_to_lines(machine.target) || run.bytes % vector == 0;
  return whole && machine.alignment % vector == 0 && run.target % vector == 0;
}

/// A line from one place to another.
void copy_line(Emitter& emitter, int from_stream, int64_t from, int to_stream, int64_t to) {
  const int vector = emitter.vector_bytes();
  for (int64_t k = 0; k < program::line_bytes; k += vector)
    emitter.store(emitter.load(from_stream, from + k, vector), to_stream, to + k, vector);
}

class ImageOut {
 public:
  ImageOut(const ImageRun& run, const Machine& machine, const SourceLines* ahead)
      : run_(run), machine_(machine), ahead_(ahead) {}

  Body emit() {
    around_caches_ = begins_line(run_, machine_);
    as_it_stands_ = around_caches_ || run_.bytes < least_bytes();
    Body body;
    if (as_it_stands_) {
      append(body, lines(0, vectors_));
      append(body, rest());
      return body;
    }
    append(body, begin());
    append(body, copies_ ? copied_lines() : lines(1, vectors_));
    append(body, end());
    // What is stored twice is of one unit of work.
    return loop_always(1, {}, std::move(body));
  }

  Body emit_piece(Piece piece) {
    Body body = piece == Piece::first ? begin() : joined_begin();
    append(body, copies_ ? copied_lines() : lines(1, vectors_));
    append(body, left_over());
    return body;
  }

 private:
  /// Of a run that is put together in lines.
  int64_t least_bytes() const { return copies_ ? least_copied_bytes : line_; }

  // ---- vector k of the run, and the line in which it begins

  Reg vector(Emitter& emitter, int64_t k) const { return vector_at(emitter, k * line_); }

  Reg vector_at(Emitter& emitter, int64_t at) const {
    const int64_t end = at + line_;
    const ColumnPlaces::Stretch here = run_.places.stretch(at);
    const int64_t image = run_.image + at + here.moved;
    if (here.end >= end) return emitter.load(panel_stream, image, machine_.vector_bytes);
    // The rest of the line is in the next page.
    const ColumnPlaces::Stretch next = run_.places.stretch(here.end);
    const Reg begin = emitter.load_part(program::none, panel_stream, image, {here.end - at, 0});
    return emitter.load_part(begin, panel_stream, run_.image + here.end + next.moved,
                             {end - here.end, here.end - at});
  }

  /// The first line behind `first` that is not made as that one is: of vectors that lie as its own
  /// do.
  int64_t alike_until(int64_t first, int64_t end) const {
    const int64_t before = as_it_stands_ ? first : first - 1;
    const int64_t stretch_end = run_.places.stretch(before * line_).end;
    return std::clamp(stretch_end / line_, first + 1, end);
  }

  int64_t at(int64_t k) const { return run_.target + k * line_; }

  ShiftedLines shifted(Emitter& emitter) const {
    return {emitter, machine_, run_.target, [&](int64_t k) { return vector(emitter, k); }};
  }

  CopiedRun copied(Emitter& emitter) const {
    return {emitter, machine_, panel_stream, run_.image, run_.target};
  }

  /// For the vectors of a line, of which `k` is the first.
  void ask_for_line(Emitter& emitter, int64_t k) const {
    for (int64_t vector = k; vector < k + in_line_; ++vector) ask(emitter, vector);
  }

  void ask(Emitter& emitter, int64_t k) const {
    if (ahead_ == nullptr || k % asking_vectors() != 0) return;
    const int64_t line = k / asking_vectors();
    const int64_t row = ahead_->rows.at(1, line / ahead_->row_lines);
    emitter.ask(prefetch_stream, ahead_->first + row + line % ahead_->row_lines * ahead_->bytes);
  }

  // ---- what leaves

  Body begin() const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    if (copies_) {
      copied(emitter).begin();
      return body_of(emitter.take());
    }
    shifted(emitter).begin();
    ask(emitter, 0);
    return body_of(emitter.take());
  }

  /// The line that the piece before and this one share.
  Body joined_begin() const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    if (copies_) {
      copied(emitter).joined_line();
      return body_of(emitter.take());
    }
    const auto piece = [&](int64_t k) {
      return k < 0 ? emitter.load(left_over_stream, 0, machine_.vector_bytes) : vector(emitter, k);
    };
    ShiftedLines(emitter, machine_, run_.target, piece).lines(0, 1, {});
    return body_of(emitter.take());
  }

  /// The last whole line, once more where it is the one before, and what goes on in the next piece.
  Body left_over() const {
    const int64_t last = run_.bytes - program::line_bytes;
    Emitter emitter(machine_.target, machine_.vector_bytes);
    if (copies_) {
      copy_line(emitter, panel_stream, run_.image + last, left_over_stream, 0);
      return body_of(emitter.take());
    }
    const auto from_end = [&](int64_t k) {
      return emitter.load(panel_stream, run_.image + last + k * line_, machine_.vector_bytes);
    };
    if (run_.bytes % line_ != 0)
      ShiftedLines(emitter, machine_, run_.target + last, from_end).lines(0, 1, {});
    emitter.store(from_end(0), left_over_stream, 0, machine_.vector_bytes);
    return body_of(emitter.take());
  }

  /// Vectors of which the first asks for a line.
  int64_t asking_vectors() const { return ahead_ == nullptr ? 1 : ahead_->bytes / line_; }

  /// Vectors with which a whole row is asked for.
  int64_t row_vectors() const {
    return ahead_ == nullptr ? 1 : ahead_->row_lines * asking_vectors();
  }

  /// Vectors that leave in an iteration, with whole rows asked for.
  int64_t in_iteration() const {
    const int64_t at_once = machine_.short_images ? lines_at_once / 4 : lines_at_once;
    const int64_t count =
        std::max<int64_t>(1, at_once * asking_vectors() / row_vectors()) * row_vectors();
    return std::lcm(count, in_line_);
  }

  Body lines(int64_t first, int64_t end) const {
    Body body;
    for (int64_t k = first; k < end;) {
      const int64_t until = alike_until(k, end);
      append(body, lines_alike(k, until));
      k = until;
    }
    append(body, rest_of_row_asked(end));
    return body;
  }

  Body lines_alike(int64_t first, int64_t end) const {
    const int64_t count = in_iteration(), times = (end - first) / count;
    const int64_t whole = first + times * count;
    Body body;
    if (times > 0) {
      std::vector<Step> steps{{target_stream, count * line_}, {panel_stream, count * line_}};
      if (ahead_ != nullptr) {
        steps.push_back(ahead_->rows.step(prefetch_stream, 1, count / row_vectors()));
      }
      append(body, loop_always(times, std::move(steps), body_of(some_lines(first, first + count))));
    }
    if (whole < end) append(body, body_of(some_lines(whole, end)));
    return body;
  }

  /// All that a run fills which is copied.
  Body copied_lines() const {
    const int64_t last = CopiedRun::lines(run_.bytes) * in_line_;
    Body body;
    if (last > 0) append(body, lines_alike(0, last));
    Emitter emitter(machine_.target, machine_.vector_bytes);
    copied(emitter).last_line(run_.bytes);
    ask_for_line(emitter, last);
    append(body, body_of(emitter.take()));
    append(body, rest_of_row_asked(last + in_line_));
    return body;
  }

  /// Lines of the row of which those before line `k` have been asked for.
  Body rest_of_row_asked(int64_t k) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (; k % row_vectors() != 0; ++k) ask(emitter, k);
    program::Block asks = emitter.take();
    return asks.empty() ? Body{} : body_of(std::move(asks));
  }

  program::Block some_lines(int64_t first, int64_t end) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    const auto after = [&](int64_t k) { ask(emitter, k); };
    if (copies_ && !as_it_stands_) {
      for (int64_t k = first; k < end; k += in_line_) {
        copied(emitter).line(k / in_line_);
        ask_for_line(emitter, k);
      }
      return emitter.take();
    }
    if (!as_it_stands_) {
      shifted(emitter).lines(first, end, after);
      return emitter.take();
    }
    for (int64_t k = first; k < end; ++k) {
      const Reg value = vector(emitter, k);
      if (around_caches_) {
        emitter.store_nontemporal(value, target_stream, at(k));
      } else {
        emitter.store(value, target_stream, at(k), machine_.vector_bytes);
      }
      after(k);
    }
    return emitter.take();
  }

  Body end() const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    if (copies_) {
      copied(emitter).end(run_.bytes);
      return body_of(emitter.take());
    }
    end_run(emitter, machine_, run_.target, run_.bytes, [&](int64_t at, int64_t bytes) {
      if (bytes == line_) return vector_at(emitter, at);
      return emitter.load(panel_stream, run_.image + at + run_.places.stretch(at).moved,
                          static_cast<int>(bytes));
    });
    return body_of(emitter.take());
  }

  /// What makes no vector.
  Body rest() const {
    int64_t at = vectors_ * line_;
    if (at == run_.bytes) return {};
    Emitter emitter(machine_.target, machine_.vector_bytes);
    while (at < run_.bytes) {
      const ColumnPlaces::Stretch here = run_.places.stretch(at);
      const int64_t end = std::min(here.end, run_.bytes);
      emitter.copy_part(panel_stream, run_.image + at + here.moved, target_stream, run_.target + at,
                        {end - at, 0});
      at = end;
    }
    return body_of(emitter.take());
  }

  const ImageRun& run_;
  const Machine& machine_;
  const SourceLines* ahead_;
  int64_t line_ = machine_.vector_bytes;
  int64_t vectors_ = run_.bytes / line_;
  bool around_caches_ = false, as_it_stands_ = false;
  bool copies_ = copies_to_lines(machine_.target);
  int64_t in_line_ = copies_ ? program::line_bytes / line_ : 1;  ///< vectors
};

}  // namespace

bool can_shift_images(const Machine& machine) {
  return machine.streams && machine.vector_bytes == machine.target.vector_bytes &&
         leaves_in_lines(machine.target, shifted_bytes(machine));
}

Machine apart(Machine machine) {
  if (copies_to_lines(machine.target) && machine.alignment % program::line_bytes != 0)
    machine.alignment = std::min<int64_t>(machine.alignment, machine.vector_bytes / 2);
  return machine;
}

int64_t joined_front_bytes(const Target& target) {
  return copies_to_lines(target) ? program::line_bytes : 0;
}

Body emit_left_over_in(const Machine& machine) {
  Emitter emitter(machine.target, machine.vector_bytes);
  copy_line(emitter, left_over_stream, 0, panel_stream, 0);
  return body_of(emitter.take());
}

Body claim_ends(const std::vector<ImageRun>& runs, const Machine& machine) {
  Emitter emitter(machine.target, machine.vector_bytes);
  for (const ImageRun& run : runs) {
    if (begins_line(run, machine)) continue;
    emitter.claim(run.target);
    emitter.claim(run.target + run.bytes);
  }
  program::Block claims = emitter.take();
  return claims.empty() ? Body{} : body_of(std::move(claims));
}

Body emit_image_out(const ImageRun& run, const Machine& machine, const SourceLines* ahead) {
  return ImageOut(run, machine, ahead).emit();
}

Body emit_piece_out(Piece piece, const ImageRun& run, const Machine& machine) {
  return ImageOut(run, machine, nullptr).emit_piece(piece);
}

Body emit_left_over_out(int64_t end, const Machine& machine) {
  Emitter emitter(machine.target, machine.vector_bytes);
  if (copies_to_lines(machine.target)) {
    constexpr int64_t line = program::line_bytes;
    CopiedRun(emitter, machine, left_over_stream, 0, end - line).end(line);
    return body_of(emitter.take());
  }
  const auto left_over = [&](int64_t) {
    return emitter.load(left_over_stream, 0, machine.vector_bytes);
  };
  ShiftedLines(emitter, machine, end, left_over).end(0);
  return body_of(emitter.take());
}

}  // namespace restride
