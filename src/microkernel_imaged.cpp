// Transposes of a box whose runs of the target are made of several loops, or are short, and begin
// anywhere in a line, for arrays that do not stay in the caches.
//
// A panel of columns is transposed into an image in L1, a digit of the run after the other; each
// column leaves from there in whole lines, around the caches:
//
//     source   rows (0,0) (0,1) .. (1,0) (1,1) ..      image   column 0   00 01 .. 10 11 ..
//              columns side by side                            column 1   00 01 .. 10 11 ..
//
// Where columns begin between lines, the lines that they share with others are asked for before the
// panel comes in, and written by masks.
#include <algorithm>
#include <numeric>
#include <utility>

#include "arithmetic.hpp"
#include "emitter.hpp"
#include "microkernel.hpp"
#include "panel_image.hpp"
#include "shifted_image.hpp"
#include "tile_run.hpp"

namespace restride {
namespace {

using program::Body;
using program::Step;

/// Bytes from a column of the image to the next one: whole lines, an odd number of them, so that
/// columns do not crowd sets of L1, with room for what the last piece of a column is written over.
int64_t image_pitch(int64_t run_bytes, const Machine& machine) {
  const int64_t line = machine.vector_bytes;
  return (ceil_div(run_bytes + program::lane_bytes, line) | 1) * line;
}

/// What is known where any column begins; what comes in goes to the image through the caches.
Machine for_columns(const TileRun& columns, Machine machine) {
  for (const nest::Side& digit : columns.digits())
    machine.alignment = std::gcd(machine.alignment, digit.stride[0]);
  machine.nontemporal = false;
  return machine;
}

class ImagedTranspose {
 public:
  ImagedTranspose(const TileRun& rows, const TileRun& columns, const Strides& at,
                  const Machine& machine)
      : machine_(for_columns(columns, machine)), rows_(rows), columns_(columns), at_(at) {}

  int64_t image_bytes() const { return columns_.extent() * pitch_; }

  Body emit() const {
    Body body = each_column(claim_ends({run_}, machine_), {});
    append(body, panel_in());
    append(body, each_column(emit_image_out(run_, machine_, nullptr), {{panel_stream, pitch_}}));
    // All of it lives on one scratch: wherever the box stands, it is one unit of work.
    return loop_always(1, {}, std::move(body));
  }

 private:
  Body each_column(Body body, std::vector<Step> steps) const {
    if (body.empty()) return body;
    steps.push_back(columns_.step(target_stream, 0, 1));
    return loop_always(columns_.extent(), std::move(steps), std::move(body));
  }

  Body panel_in() const {
    const TileRun inner = rows_.first(rows_.digits().front().extent);
    const bool asks = machine_.ahead != 0;
    Body body = PanelImage(inner, columns_.extent(), pitch_, at_, machine_)
                    .emit(asks ? PanelImage::Ask::ahead : PanelImage::Ask::nothing);
    int64_t bytes = inner.extent() * machine_.element_bytes;
    for (size_t k = 1; k < rows_.sides(); ++k) {
      const nest::Side& digit = rows_.digits()[k];
      std::vector<Step> steps{{source_stream, digit.stride[1]}, {scratch_stream, bytes}};
      if (asks) steps.push_back({prefetch_stream, digit.stride[1]});
      body = loop_always(digit.extent, std::move(steps), std::move(body));
      bytes *= digit.extent;
    }
    return body;
  }

  Machine machine_;
  TileRun rows_;     // make runs of the target
  TileRun columns_;  // make runs of the source
  Strides at_;
  ImageRun run_{0, at_[0], rows_.extent() * machine_.element_bytes};
  int64_t pitch_ = image_pitch(run_.bytes, machine_);
};

}  // namespace

int64_t most_imaged_run_bytes(int64_t columns, int64_t line_bytes) {
  // 17 cases (f32[8,71,13,50,10] reversed .13 -> .6 of the ceiling, f32[28,256,1000] .2 -> .65,
  // u8[57,71,5000] .18 -> .45) in .93 of the time that they take with 4 KB, with 2 KB in .95.
  constexpr int64_t most = 1024;
  return std::min(most, (program::max_scratch_bytes / columns / line_bytes - 2) * line_bytes);
}

bool can_image(const TileRun& rows, const TileRun& columns, const Machine& machine) {
  const int64_t element = machine.element_bytes, count = columns.extent();
  return machine.staging == Staging::images && can_shift_images(machine) &&
         count * element <= machine.vector_bytes && rows.extent() > 1 &&
         rows.extent() * element <= most_imaged_run_bytes(count, machine.vector_bytes) &&
         rows.is_contiguous(0, element) && columns.is_contiguous(1, element);
}

Body emit_imaged_transpose(const TileRun& rows, const TileRun& columns, const Strides& at,
                           const Machine& machine, int64_t& scratch_bytes) {
  const ImagedTranspose transpose(rows, columns, at, machine);
  scratch_bytes = std::max(scratch_bytes, transpose.image_bytes());
  return transpose.emit();
}

}  // namespace restride
