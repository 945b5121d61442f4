// See shifted_image.hpp.
#include "microkernel/transpose/shifted_image.hpp"

#include <algorithm>
#include <utility>

#include "base/arithmetic.hpp"
#include "microkernel/emitter.hpp"
#include "microkernel/transpose/shifted_lines.hpp"

namespace restride {
namespace {

using program::Body;
using program::Reg;
using program::Step;

bool begins_line(const ImageRun& run, const Machine& machine) {
  return machine.alignment % machine.vector_bytes == 0 && run.target % machine.vector_bytes == 0;
}

class ImageOut {
 public:
  ImageOut(const ImageRun& run, const Machine& machine, const SourceLines* ahead)
      : run_(run), machine_(machine), ahead_(ahead) {}

  Body emit() const {
    Body body;
    if (begins_line(run_, machine_) || vectors_ == 0) {
      append(body, lines(0, vectors_));
      append(body, rest());
      return body;
    }
    append(body, begin());
    append(body, lines(1, vectors_));
    append(body, end());
    // What is stored twice is of one unit of work.
    return loop_always(1, {}, std::move(body));
  }

  Body emit_piece(Piece piece) const {
    Body body = piece == Piece::first ? begin() : joined_begin();
    append(body, lines(1, vectors_));
    append(body, left_over());
    return body;
  }

 private:
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
    const int64_t before = begins_line(run_, machine_) ? first : first - 1;
    const int64_t stretch_end = run_.places.stretch(before * line_).end;
    return std::clamp(stretch_end / line_, first + 1, end);
  }

  int64_t at(int64_t k) const { return run_.target + k * line_; }

  ShiftedLines shifted(Emitter& emitter) const {
    return {emitter, machine_, run_.target, [&](int64_t k) { return vector(emitter, k); }};
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
    shifted(emitter).begin();
    ask(emitter, 0);
    return body_of(emitter.take());
  }

  /// The line that the piece before and this one share.
  Body joined_begin() const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    const auto piece = [&](int64_t k) {
      return k < 0 ? emitter.load(left_over_stream, 0, machine_.vector_bytes) : vector(emitter, k);
    };
    ShiftedLines(emitter, machine_, run_.target, piece).lines(0, 1, {});
    return body_of(emitter.take());
  }

  /// The last whole line, once more where it is the one before, and what goes on in the next piece.
  Body left_over() const {
    const int64_t last = run_.bytes - line_;
    Emitter emitter(machine_.target, machine_.vector_bytes);
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
    return lines_at_once * asking_vectors() / row_vectors() * row_vectors();
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
    if (!begins_line(run_, machine_)) {
      shifted(emitter).lines(first, end, after);
      return emitter.take();
    }
    for (int64_t k = first; k < end; ++k) {
      emitter.store_nontemporal(vector(emitter, k), target_stream, at(k));
      after(k);
    }
    return emitter.take();
  }

  Body end() const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
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
};

}  // namespace

bool can_shift_images(const Machine& machine) {
  return machine.streams && machine.vector_bytes == machine.target.vector_bytes &&
         shifts_lines(machine);
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
  const auto left_over = [&](int64_t) {
    return emitter.load(left_over_stream, 0, machine.vector_bytes);
  };
  ShiftedLines(emitter, machine, end, left_over).end(0);
  return body_of(emitter.take());
}

}  // namespace restride
