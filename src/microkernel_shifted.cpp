// Transposes of a box whose rows of the target begin between lines, for arrays that do not stay in
// the caches.
//
// A panel of columns is transposed into an image in L1, row behind row as the target wants them.
// Each row of the image then leaves by loads that begin where a line of the target does:
//
//     target   ...|.head|line....|line....|tail...|      phase: where in its line a row begins
//     image         head line     line     tail
//
// Lines leave whole, around the caches. What shares a line with a neighbouring box leaves by masks
// that keep within it: a store that touches a line on its way around the caches calls it back.
// The rows of the box ahead are asked for meanwhile.
#include <algorithm>
#include <bit>
#include <utility>

#include "box_ahead.hpp"
#include "emitter.hpp"
#include "microkernel.hpp"
#include "panel_image.hpp"
#include "tile_run.hpp"

namespace restride {
namespace {

using program::Block;
using program::Body;
using program::Reg;
using program::Step;

class ShiftedTranspose {
 public:
  ShiftedTranspose(const TileRun& rows, const TileRun& columns, const Strides& at,
                   const Machine& machine)
      : machine_(machine),
        rows_(rows),
        columns_(columns),
        at_(at),
        box_ahead_(rows, columns, at, machine, {}) {}

  int64_t image_bytes() const { return image_.bytes(); }

  Body emit() const {
    Body body = image_.emit();
    body.push_back(rows_out());
    std::vector<Step> steps{columns_.step(target_stream, 0, panel_columns_),
                            {source_stream, vector_}};
    box_ahead_.add_panel_step(steps);
    // All panels live on one scratch: wherever the box stands, they are one unit of work.
    return loop_always(
        1, {}, loop_always(columns_.extent() / panel_columns_, std::move(steps), std::move(body)));
  }

 private:
  int64_t run_bytes() const { return rows_.extent() * element_; }
  // ---- out of the image

  Block rows_out() const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t row = 0; row < panel_columns_; ++row) row_out(emitter, row);
    return emitter.take();
  }

  void row_out(Emitter& emitter, int64_t row) const {
    const int64_t to = at_[0] + columns_.at(0, row), from = row * image_.pitch();
    const int64_t phase = ((to % vector_) + vector_) % vector_, head = (vector_ - phase) % vector_;
    emitter.copy_part(panel_stream, from, target_stream, to, {head, phase});
    int64_t begin = head;
    for (int64_t written = 0; written < run_bytes(); written += vector_) {
      box_ahead_.ask(emitter, row, written);
      if (begin + vector_ > run_bytes()) continue;
      const Reg line = emitter.load(panel_stream, from + begin, static_cast<int>(vector_));
      emitter.store_nontemporal(line, target_stream, to + begin);
      begin += vector_;
    }
    emitter.copy_part(panel_stream, from + begin, target_stream, to + begin,
                      {run_bytes() - begin, 0});
  }

  const Machine& machine_;
  TileRun rows_;     // make runs of the target
  TileRun columns_;  // make runs of the source
  Strides at_;
  BoxAhead box_ahead_;
  int64_t element_ = machine_.element_bytes;
  int64_t vector_ = machine_.vector_bytes;
  int64_t panel_columns_ = vector_ / element_;
  // A line more between its rows than they hold: a power of two would put them all into one set of
  // the cache.
  PanelImage image_{rows_, at_, machine_, run_bytes() + vector_};
};

}  // namespace

bool can_shift(const TileRun& rows, const TileRun& columns, const Machine& machine) {
  const int64_t element = machine.element_bytes, vector = machine.vector_bytes;
  if (!machine.streams || machine.nontemporal || machine.alignment % vector != 0 ||
      !machine.target.byte_masks) {
    return false;
  }
  if (!rows.is_contiguous(0, element) || !columns.is_contiguous(1, element)) return false;
  const int64_t chunk = vector / element;
  if (!rows.divides(chunk) || !columns.divides(chunk) || rows.extent() == chunk) return false;
  // Every panel begins where the one before it does in a line.
  const Step panels = columns.step(target_stream, 0, chunk);
  bool phases = panels.stride % vector == 0;
  for (const program::Wrap& wrap : panels.wraps) phases = phases && wrap.stride % vector == 0;
  return phases && chunk * (rows.extent() * element + vector) <= program::max_scratch_bytes;
}

Body emit_shifted_transpose(const TileRun& rows, const TileRun& columns, const Strides& at,
                            const Machine& machine, int64_t& scratch_bytes) {
  const ShiftedTranspose transpose(rows, columns, at, machine);
  scratch_bytes = std::max(scratch_bytes, transpose.image_bytes());
  return transpose.emit();
}

}  // namespace restride
