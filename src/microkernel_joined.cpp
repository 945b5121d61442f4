// Transposes of a box whose rows of the target touch and are no multiple of a line, for arrays that
// do not stay in the caches.
//
// A panel of columns is transposed into an image in L1, where its rows touch as well. A vector of
// columns makes whole lines of rows of any length, so the image leaves line by line, around the
// caches, and no line is written twice:
//
//     target   |line....|line....|line....|        rows   aaaaaabbbbbbccccccdddddd
//
// The next box of each row is asked for meanwhile, a line of every row.
#include <algorithm>
#include <utility>

#include "emitter.hpp"
#include "microkernel.hpp"
#include "panel_image.hpp"
#include "tile_run.hpp"

namespace restride {
namespace {

using program::Body;
using program::Step;

class JoinedTranspose {
 public:
  JoinedTranspose(const TileRun& rows, const TileRun& columns, const Strides& at,
                  const Machine& machine)
      : machine_(machine), rows_(rows), columns_(columns), at_(at), image_(rows, at, machine) {}

  int64_t image_bytes() const { return image_.bytes(); }

  Body emit() const {
    Body body = image_.emit();
    append(body, lines_out());
    std::vector<Step> steps{columns_.step(target_stream, 0, image_.columns()),
                            {source_stream, machine_.vector_bytes}};
    if (machine_.ahead != 0) steps.push_back({prefetch_stream, machine_.vector_bytes});
    // All panels live on one scratch: wherever the box stands, they are one unit of work.
    return loop_always(
        1, {},
        loop_always(columns_.extent() / image_.columns(), std::move(steps), std::move(body)));
  }

 private:
  /// As many lines leave as the box has rows.
  Body lines_out() const {
    constexpr int64_t at_once = 8;
    const int64_t lines = rows_.extent(), whole = lines / at_once * at_once;
    Body body;
    if (whole > 0) {
      const int64_t bytes = at_once * machine_.vector_bytes;
      std::vector<Step> steps{{target_stream, bytes}, {panel_stream, bytes}};
      if (machine_.ahead != 0) steps.push_back(rows_.step(prefetch_stream, 1, at_once));
      append(body, loop_always(whole / at_once, std::move(steps), {lines_out(0, at_once)}));
    }
    if (whole < lines) body.push_back(lines_out(whole, lines));
    return body;
  }

  program::Block lines_out(int64_t first, int64_t end) const {
    constexpr int second_level = 2;
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t line = first; line < end; ++line) {
      const int64_t from = line * machine_.vector_bytes;
      emitter.store_nontemporal(emitter.load(panel_stream, from, machine_.vector_bytes),
                                target_stream, at_[0] + from);
      if (machine_.ahead != 0) {
        emitter.prefetch(prefetch_stream, at_[1] + rows_.at(1, line) + machine_.ahead,
                         second_level);
      }
    }
    return emitter.take();
  }

  const Machine& machine_;
  TileRun rows_;     // make runs of the target
  TileRun columns_;  // make runs of the source
  Strides at_;
  PanelImage image_;
};

}  // namespace

bool can_join(const TileRun& rows, const TileRun& columns, const Machine& machine) {
  const int64_t element = machine.element_bytes, vector = machine.vector_bytes;
  const int64_t run = rows.extent() * element, panel = vector / element;
  if (!machine.streams || machine.alignment % vector != 0 || !machine.target.byte_masks ||
      run % vector == 0 || run < vector || panel * run > program::max_scratch_bytes) {
    return false;
  }
  if (!rows.is_contiguous(0, element) || !columns.is_contiguous(1, element)) return false;
  return rows.sides() == 1 && columns.divides(panel) && columns.is_contiguous(0, run);
}

Body emit_joined_transpose(const TileRun& rows, const TileRun& columns, const Strides& at,
                           const Machine& machine, int64_t& scratch_bytes) {
  const JoinedTranspose transpose(rows, columns, at, machine);
  scratch_bytes = std::max(scratch_bytes, transpose.image_bytes());
  return transpose.emit();
}

}  // namespace restride
