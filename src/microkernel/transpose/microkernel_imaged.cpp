// Transposes of a box whose runs of the target are made of several loops, or are short, and begin
// anywhere in a line, for arrays that do not stay in the caches.
//
// A panel of columns after the other is transposed into an image in L1; each column leaves from
// there in whole lines, around the caches:
//
//     source   rows (0,0) (0,1) .. (1,0) (1,1) ..      image   column 0   00 01 .. 10 11 ..
//              columns side by side                            column 1   00 01 .. 10 11 ..
//
// Where columns begin between lines, the lines that they share with others are asked for before the
// panel comes in, and written by masks. Rows of the next box are asked for while columns leave, all
// panels of a row at once: memory gives lines that lie side by side sooner. (Alone, reads take 2.4
// ns a line, 4 where single lines are read, stores 3.5, one after the other 6 to 7, with lines that
// are asked for meanwhile 4.5 to 5.)
#include <algorithm>
#include <utility>

#include "base/arithmetic.hpp"
#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/column_images.hpp"
#include "microkernel/transpose/panel_image.hpp"
#include "microkernel/transpose/shifted_image.hpp"

namespace restride {
namespace {

using program::Body;
using program::Step;

/// How many columns come in at a time: as many as the schedule takes, of those that fall into as
/// many.
int64_t panel_columns(const TileRun& columns, const Machine& machine) {
  int64_t count = machine.network_column_bytes / machine.element_bytes;
  while (!columns.divides(count)) --count;
  return count;
}

Machine for_networks(const TileRun& columns, const Machine& machine) {
  Machine result = for_columns(columns, machine);
  result.network_column_bytes = program::lane_bytes;
  return result;
}

class ImagedTranspose {
 public:
  ImagedTranspose(const TileRun& rows, const TileRun& columns, const Strides& at,
                  const Machine& machine)
      : machine_(for_networks(columns, machine)),
        rows_(rows),
        columns_(columns),
        at_(at),
        panel_columns_(panel_columns(columns, machine)) {}

  int64_t image_bytes() const { return panel_columns_ * pitch_; }

  Body emit() const {
    Body body = each_column(columns_, panel_columns_, claim_ends({run_}, machine_), {});
    append(body, PanelImage(rows_, panel_columns_, pitch_, at_, machine_).emit());
    Body leaves = asks();
    append(leaves, emit_image_out(run_, machine_, nullptr));
    append(body, each_column(columns_, panel_columns_, std::move(leaves),
                             asking({{panel_stream, pitch_}}, asked_rows_)));
    // All of it lives on one scratch: wherever the box stands, it is one unit of work.
    return loop_always(1, {}, each_panel(std::move(body)));
  }

 private:
  int64_t panels() const { return columns_.extent() / panel_columns_; }

  Body each_panel(Body body) const {
    if (panels() == 1) return body;
    std::vector<Step> steps{columns_.step(target_stream, 0, panel_columns_),
                            columns_.step(source_stream, 1, panel_columns_)};
    return loop_always(panels(), asking(std::move(steps), asked_rows_ * panel_columns_),
                       std::move(body));
  }

  // ---- what the next box has of some rows is asked for while a column leaves

  std::vector<Step> asking(std::vector<Step> steps, int64_t rows) const {
    if (machine_.ahead != 0) steps.push_back(rows_.step(prefetch_stream, 1, rows));
    return steps;
  }

  /// The last byte of each of its panels: the one before has had the others.
  Body asks() const {
    if (machine_.ahead == 0) return {};
    constexpr int second_level = 2;
    const int64_t bytes = panel_columns_ * machine_.element_bytes;
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t row = 0; row < asked_rows_; ++row) {
      const int64_t first = at_[1] + machine_.ahead + rows_.at(1, row);
      for (int64_t panel = 1; panel <= panels(); ++panel)
        emitter.prefetch(prefetch_stream, first + panel * bytes - 1, second_level);
    }
    return body_of(emitter.take());
  }

  Machine machine_;
  TileRun rows_;     // make runs of the target
  TileRun columns_;  // make runs of the source
  Strides at_;
  ImageRun run_{0, at_[0], rows_.extent() * machine_.element_bytes};
  int64_t pitch_ = image_pitch(run_.bytes + program::lane_bytes, machine_);
  int64_t panel_columns_;
  int64_t asked_rows_ = ceil_div(rows_.extent(), columns_.extent());
};

}  // namespace

int64_t most_imaged_run_bytes(int64_t columns, int64_t line_bytes) {
  // 17 cases (f32[8,71,13,50,10] reversed .13 -> .6 of the ceiling, f32[28,256,1000] .2 -> .65,
  // u8[57,71,5000] .18 -> .45) in .93 of the time that they take with 4 KB, with 2 KB in .95.
  constexpr int64_t most = 1024;
  return std::min(most, (program::max_scratch_bytes / columns / line_bytes - 2) * line_bytes);
}

bool can_image(const TileRun& rows, const TileRun& columns, const Machine& machine) {
  const int64_t element = machine.element_bytes;
  const int64_t most = most_imaged_run_bytes(panel_columns(columns, machine), machine.vector_bytes);
  return machine.staging == Staging::images && can_shift_images(machine) && rows.extent() > 1 &&
         rows.extent() * element <= most && rows.is_contiguous(0, element) &&
         columns.is_contiguous(1, element);
}

Body emit_imaged_transpose(const TileRun& rows, const TileRun& columns, const Strides& at,
                           const Machine& machine, int64_t& scratch_bytes) {
  const ImagedTranspose transpose(rows, columns, at, machine);
  scratch_bytes = std::max(scratch_bytes, transpose.image_bytes());
  return transpose.emit();
}

}  // namespace restride
