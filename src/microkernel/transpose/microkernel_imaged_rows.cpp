// Rows that source and target both have, shorter than a few lines, which follow each other in other
// orders and begin between lines of the target, for arrays that do not stay in the caches.
//
// Some that touch in the target make a run. A panel of columns, runs whose rows touch in the
// source, is put together in L1 row by row; each run leaves from there in whole lines, around the
// caches:
//
//     source   aaaaabbbbbccccc ..      image   run 0   aaaaaAAAAA ..
//              AAAAABBBBBCCCCC ..              run 1   bbbbbBBBBB ..
//
// Rows are written in whole powers of two, over what comes next in the run.
#include <algorithm>
#include <bit>
#include <utility>

#include "base/arithmetic.hpp"
#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/column_images.hpp"
#include "microkernel/transpose/shifted_image.hpp"

namespace restride {
namespace {

using program::Body;
using program::Step;

// So many rows of a run are copied at a time.
constexpr int64_t most_rows_at_once = 16;

class ImagedRows {
 public:
  ImagedRows(const TileRun& rows, const TileRun& columns, const Strides& at, const Machine& machine)
      : machine_(apart(for_columns(columns.digits(), machine))),
        rows_(rows),
        columns_(columns),
        at_(at) {}

  int64_t image_bytes() const { return columns_.extent() * pitch_; }

  Body emit() const {
    const int64_t columns = columns_.extent();
    Body body = each_column(columns_, columns, claim_ends({run_}, machine_), {});
    append(body, rows_in());
    Body leaves = asks();
    append(leaves, emit_image_out(run_, machine_, nullptr));
    std::vector<Step> steps{{panel_stream, pitch_}};
    if (machine_.ahead != 0) steps.push_back(rows_.step(prefetch_stream, 1, asked_rows_ * row_));
    append(body, each_column(columns_, columns, std::move(leaves), std::move(steps)));
    // All of it lives on one scratch: wherever the box stands, it is one unit of work.
    return loop_always(1, {}, std::move(body));
  }

 private:
  int64_t rows_at_once() const {
    int64_t count = most_rows_at_once;
    while (!rows_.divides(count * row_)) --count;
    return count;
  }

  Body rows_in() const {
    const int64_t count = rows_at_once() * row_;
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t first = 0; first < count; first += row_) copy(emitter, first);
    Body body = loop_always(columns_.extent(),
                            {columns_.step(source_stream, 1, 1), {scratch_stream, pitch_}},
                            body_of(emitter.take()));
    return loop_always(
        rows_.extent() / count,
        {rows_.step(source_stream, 1, count), {scratch_stream, count * machine_.element_bytes}},
        std::move(body));
  }

  /// The row that begins with element `first` of the run.
  void copy(Emitter& emitter, int64_t first) const {
    const int64_t from = at_[1] + rows_.at(1, first), to = first * machine_.element_bytes;
    for (int64_t begin = 0; begin < row_bytes_; begin += machine_.vector_bytes) {
      const int64_t bytes = std::min<int64_t>(row_bytes_ - begin, machine_.vector_bytes);
      const auto written = std::bit_ceil(static_cast<uint64_t>(bytes));
      emitter.store(emitter.load(source_stream, from + begin, static_cast<int>(bytes)),
                    scratch_stream, to + begin, static_cast<int>(written));
    }
  }

  /// Asks for some rows of the next box, all columns at once.
  Body asks() const {
    if (machine_.ahead == 0) return {};
    const int64_t line = machine_.target.line_bytes, bytes = columns_.extent() * row_bytes_;
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t row = 0; row < asked_rows_; ++row) {
      const int64_t first = at_[1] + machine_.ahead + rows_.at(1, row * row_);
      for (int64_t begin = 0; begin < bytes; begin += line)
        emitter.ask(prefetch_stream, first + std::min(begin + line, bytes) - 1);
    }
    return body_of(emitter.take());
  }

  Machine machine_;
  TileRun rows_;     // make runs of the target; the first digit is a row
  TileRun columns_;  // rows that touch in the source
  Strides at_;
  int64_t row_ = rows_.digits().front().extent;
  int64_t row_bytes_ = row_ * machine_.element_bytes;
  ImageRun run_{0, at_[0], rows_.extent() * machine_.element_bytes};
  int64_t pitch_ = image_pitch(run_.bytes + machine_.vector_bytes, machine_.vector_bytes);
  int64_t asked_rows_ = ceil_div(rows_.extent() / row_, columns_.extent());
};

}  // namespace

bool can_image_rows(const TileRun& rows, const TileRun& columns, const Machine& machine) {
  const int64_t element = machine.element_bytes;
  if (machine.staging != Staging::images || !can_shift_images(machine) || rows.sides() == 0 ||
      rows.digits().front().stride != Strides{element, element}) {
    return false;
  }
  const int64_t pitch =
      image_pitch(rows.extent() * element + machine.vector_bytes, machine.vector_bytes);
  return rows.is_contiguous(0, element) && columns.extent() * pitch <= program::scratch_in_l1_bytes;
}

Body emit_imaged_rows(const TileRun& rows, const TileRun& columns, const Strides& at,
                      const Machine& machine, int64_t& scratch_bytes) {
  const ImagedRows imaged(rows, columns, at, machine);
  scratch_bytes = std::max(scratch_bytes, imaged.image_bytes());
  return imaged.emit();
}

}  // namespace restride
