// Transposes of a box whose rows of the target touch and are no multiple of a line, for arrays that
// do not stay in the caches.
//
// A panel of columns is transposed into an image in L1, where its rows touch as well. A vector of
// columns makes whole vectors of rows of any length, so the image leaves line by line, around the
// caches; without masks where it begins on a vector of the target:
//
//     target   |line....|line....|line....|        rows   aaaaaabbbbbbccccccdddddd
//
// Rows may be made of several digits, and have padding behind them; columns of several digits touch
// along the fastest. Where the image begins between lines, those that it shares with others are
// written twice: some panels make an image then. The next box is asked for meanwhile, as many lines
// as leave: of many rows all lines of one after the other, of few rows a line of every row and
// panel; of several digits as rows come in.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>

#include "base/arithmetic.hpp"
#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/packed/row_mixing.hpp"
#include "microkernel/tile_run.hpp"
#include "microkernel/transpose/column_images.hpp"
#include "microkernel/transpose/paced_asks.hpp"
#include "microkernel/transpose/panel_image.hpp"
#include "microkernel/transpose/shifted_image.hpp"
#include "microkernel/transpose/transpose_network.hpp"

namespace restride {
namespace {

using program::Body;
using program::Step;

// Shorter images between lines are made of several panels: f32 10 x N .65 -> .81 of the ceiling, 12
// x N .70 -> .84, f64 13 x N .65 -> .92, u16 15 x N .48 -> .70; up to 1 and 4 KB a tenth less.
constexpr int64_t most_joined_panels_bytes = 2 * 1024;

// Of so many rows on all lines of one are asked for at once, which memory answers sooner. 25
// problems of 89 to 589 rows in .87 of the time, f32[521,500,192]{1,2,0} .48 -> .69 of the ceiling,
// c128[322,16384] transposed .36 -> .64, f32[40,420,3840]{1,2,0} .41 -> .73; 20 of 16 to 72 rows,
// which the processor reads ahead in by itself, 1.03.
constexpr int64_t many_rows = 80;
// Zen 4: those of rows on lines are asked for as others come in, and so are fewer rows whole pages
// apart, whose lines meet in few sets of L1. 30 problems .95 of the time: u16[100,300,1000]{0,2,1}
// .63 -> .85 of the ceiling, f32[32,7,7,2048]{2,1,3,0} .55 -> .71; fewer rows elsewhere 1.0 to 1.3,
// c128 .91 to 1.4, rows between lines 1.07.

/// What is known where any run of columns that touch begins.
Machine for_digits(const TileRun& columns, const Machine& machine) {
  return for_columns(std::span(columns.digits()).subspan(1), machine);
}

/// How much of each row of the source a panel takes.
int64_t panel_row_bytes(const Machine& machine) {
  return machine.wide_panels ? machine.target.line_bytes : machine.vector_bytes;
}

class JoinedTranspose {
 public:
  /// `filled`: elements of padding behind each row.
  JoinedTranspose(const TileRun& rows, int64_t filled, const TileRun& columns, const Strides& at,
                  const Machine& machine)
      : machine_(for_digits(columns, machine)),
        rows_(rows),
        columns_(columns),
        at_(at),
        filled_(filled * machine.element_bytes) {}

  int64_t image_bytes() const {
    const int64_t panels = std::min(panels_, panels_of_digit());
    return (panels - 1) * panel_bytes() + panel(panel_columns_).bytes() + filled_;
  }

  Body emit() const {
    Body body = asks_of_digit();
    append(body, digit());
    if (digits() > 1) body = loop_always(digits(), walked_digits(), std::move(body));
    // All panels live on one scratch: wherever the box stands, they are one unit of work.
    return loop_always(1, {}, std::move(body));
  }

 private:
  /// How many runs of columns that touch there are.
  int64_t digits() const { return columns_.extent() / digit_; }
  int64_t panels_of_digit() const { return ceil_div(digit_, panel_columns_); }

  /// The columns of one.
  Body digit() const {
    const int64_t columns = panels_ * panel_columns_, images = digit_ / columns;
    const int64_t rest = digit_ % columns;
    Body body;
    if (images > 0) append(body, loop_always(images, walked(columns, 0), image(columns)));
    if (rest > 0) append(body, loop_always(1, walked(columns, images), image(rest)));
    return body;
  }

  std::vector<Step> walked_digits() const {
    std::vector<Step> steps{columns_.step(target_stream, 0, digit_),
                            {source_stream, digit_ * element_}};
    if (asks_by_digit()) {
      paced_asks().add_step(steps, 0);
    } else if (asks_as_rows_come()) {
      Step asks = asks_step();
      asks.stride *= panels_of_digit();
      steps.push_back(std::move(asks));
    }
    return steps;
  }

  int64_t panel_bytes() const { return panel_columns_ * run_; }

  PanelImage panel(int64_t columns) const { return {rows_, columns, places_, at_, machine_}; }

  /// A panel comes in; what its rows have written behind their ends becomes padding.
  Body filled_panel(int64_t columns, const std::optional<PanelImage::Asks>& asks) const {
    Body body = panel(columns).emit(asks);
    if (filled_ == 0) return body;
    if (!places_.evenly()) {
      for (int64_t k = 0; k < columns; ++k) append(body, padding(places_.at(k)));
    } else {
      append(body, loop_always(columns, {{scratch_stream, run_}}, padding(0)));
    }
    return body;
  }

  /// Of the column that begins at byte `at` of the image.
  Body padding(int64_t at) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    const program::Reg fill = emitter.constant(machine_.fill_table);
    for (int64_t k = run_ - filled_; k < run_; k += line_) {
      const int64_t bytes = std::min(line_, run_ - k);
      emitter.store_part(fill, scratch_stream, at + k, static_cast<int>(bytes), 0);
    }
    return body_of(emitter.take());
  }

  /// How streams move in a loop over images of `columns` columns that begins with image `first`.
  std::vector<Step> walked(int64_t columns, int64_t first) const {
    const auto step = [&](int stream, int64_t bytes) { return Step{stream, bytes, first * bytes}; };
    std::vector<Step> steps{step(source_stream, columns * element_),
                            step(target_stream, columns * run_)};
    if (machine_.ahead == 0) return steps;
    if (asks_as_rows_come()) {
      const int64_t panels = columns / panel_columns_;
      Step asks = asks_step();
      asks.start = asks(first * panels);
      asks.stride *= panels;
      steps.push_back(std::move(asks));
      return steps;
    }
    if (!asks_as_image_leaves()) return steps;
    const int64_t asked = ceil_div(columns * run_, panel_row_bytes(machine_));
    const int64_t rows = ceil_div(asked, row_lines());
    steps.push_back(step(prefetch_stream, asks_rows() ? rows * rows_.digits().front().stride[1]
                                                      : columns * element_));
    return steps;
  }

  /// Lines of a row of the box.
  int64_t row_lines() const { return digits() * panels_of_digit(); }

  /// Whether all lines of a row are asked for at once, those of some rows with each image; else a
  /// line of all rows with each panel.
  bool asks_rows() const { return rows_.extent() >= many_rows && row_lines() <= lines_at_once; }

  /// Whether rows are asked for as others come in, not while the image leaves.
  bool asks_as_rows_come() const {
    if (digits() > 1) return machine_.ahead != 0 && !asks_by_digit();
    if (rows_.sides() > 1) return machine_.ahead != 0 && row_lines() <= panel_columns_;
    const bool on_lines = machine_.alignment % machine_.vector_bytes == 0;
    const bool crowded = std::abs(rows_.at(1, 1)) % machine_.target.page_bytes == 0;
    return machine_.target.asks_as_rows_come && machine_.ahead != 0 && on_lines &&
           element_ < program::lane_bytes && row_lines() <= panel_columns_ &&
           (rows_.extent() >= many_rows || crowded);
  }

  bool asks_as_image_leaves() const {
    return machine_.ahead != 0 && rows_.sides() == 1 && digits() == 1 && !asks_as_rows_come();
  }

  /// Whether there are more panels than rows, so that each digit asks for its share of a row.
  bool asks_by_digit() const {
    return digits() > 1 && machine_.ahead != 0 && row_lines() > rows_.extent();
  }

  PacedAsks paced_asks() const {
    const int64_t line = machine_.target.line_bytes, rows = rows_.extent();
    const int64_t lines = ceil_div(columns_.extent() * element_, line);
    int64_t share = ceil_div(rows * lines, digits());
    while (share < lines && digits() / ceil_div(lines, share) < rows) ++share;
    if (share > lines) share = ceil_div(share, lines) * lines;
    return {rows_, lines, at_[1] + machine_.ahead, machine_, {0, digits(), share}};
  }

  Body asks_of_digit() const {
    if (!asks_by_digit()) return {};
    const PacedAsks asks = paced_asks();
    Emitter emitter(machine_.target, machine_.vector_bytes);
    asks.ask(emitter);
    return body_of(emitter.take());
  }

  PanelImage::Asks asks_of_box() const {
    return {machine_.ahead, row_lines(), std::min(panel_row_bytes(machine_), digit_ * element_)};
  }

  /// How prefetch_stream moves on by a panel then.
  Step asks_step() const { return panel(panel_columns_).asks_step(asks_of_box()); }

  /// Some columns come in, panel by panel, and leave.
  Body image(int64_t columns) const {
    const ImageRun run{0, at_[0], columns * run_, places_};
    const int64_t panels = columns / panel_columns_, rest = columns % panel_columns_;
    Body body = claim_ends({run}, machine_);
    std::optional<PanelImage::Asks> asks;
    if (asks_as_rows_come()) asks = asks_of_box();
    if (panels > 0) {
      std::vector<Step> steps{{source_stream, panel_row_bytes(machine_)},
                              {scratch_stream, panel_bytes()}};
      if (asks) steps.push_back(asks_step());
      append(body, loop_always(panels, std::move(steps), filled_panel(panel_columns_, asks)));
    }
    if (rest > 0) {
      std::vector<Step> steps{{source_stream, 0, panels * panel_row_bytes(machine_)},
                              {scratch_stream, 0, panels * panel_bytes()}};
      if (asks) steps.push_back({prefetch_stream, 0, panels * asks_step().stride});
      append(body, loop_always(1, std::move(steps), filled_panel(rest, asks)));
    }
    const SourceLines ahead{rows_, asks_rows() ? row_lines() : std::max<int64_t>(panels, 1),
                            at_[1] + machine_.ahead, panel_row_bytes(machine_)};
    append(body, emit_image_out(run, machine_, asks_as_image_leaves() ? &ahead : nullptr));
    return body;
  }

  /// How many panels make an image.
  int64_t panels_of_image() const {
    if (machine_.alignment % machine_.vector_bytes == 0 || rows_.sides() > 1) return 1;
    int64_t panels = 1;
    while (2 * panels <= lines_at_once && 2 * panels * panel_bytes() <= most_joined_panels_bytes) {
      panels *= 2;
    }
    return panels;
  }

  /// Vectors that lie in two pages take masks.
  ColumnPlaces places() const {
    if (!machine_.target.byte_masks) return ColumnPlaces(run_);
    return ColumnPlaces::in_pages(run_, panel_columns_, network_columns(machine_), line_,
                                  machine_.target.page_bytes);
  }

  Machine machine_;
  TileRun rows_;     // make runs of the target
  TileRun columns_;  // make runs of the source
  Strides at_;
  int64_t digit_ = columns_.digits().front().extent;  // columns that touch
  int64_t element_ = machine_.element_bytes;
  int64_t line_ = machine_.vector_bytes;
  int64_t filled_;  // bytes
  int64_t run_ = rows_.extent() * element_ + filled_;
  int64_t panel_columns_ = panel_row_bytes(machine_) / element_;
  int64_t panels_ = panels_of_image();
  ColumnPlaces places_ = places();
};

}  // namespace

bool can_join_digits(const TileRun& rows, int64_t element_bytes, int64_t vector_bytes) {
  // Less is written over what comes behind, which is the next column at last.
  return !rows.is_spliced() &&
         panel_chunk_rows(rows, vector_bytes / element_bytes) * element_bytes >=
             program::lane_bytes;
}

bool can_join(const TileRun& rows, int64_t filled, const TileRun& columns, const Machine& machine) {
  if (!machine.streams || machine.staging == Staging::shifted_panels || rows.extent() == 1 ||
      columns.extent() == 1 || columns.is_spliced())
    return false;
  const int64_t element = machine.element_bytes, vector = machine.vector_bytes;
  const int64_t run = (rows.extent() + filled) * element;
  // All columns of a lane come out of a network of short rows.
  const bool is_short = rows.extent() * element < vector;
  if (is_short && program::lane_bytes / element >= machine.target.registers) return false;
  const int64_t panel = panel_row_bytes(machine) / element;
  const nest::Side& digit = columns.digits().front();
  const bool whole =
      for_digits(columns, machine).alignment % vector == 0 && digit.extent % panel == 0;
  const bool stages = run % machine.target.line_bytes == 0 && machine.nontemporal &&
                      (rows.sides() == 1 || can_stage(rows, columns, {}, machine));
  if (stages || panel * run > program::scratch_in_l1_bytes || !(whole || can_shift_images(machine)))
    return false;
  // Boxes that are put together of images, or shifted, leave by longer runs than a digit's.
  const bool alone =
      columns.sides() == 1 || (machine.staging != Staging::images && !machine.shifts_runs);
  const bool touch = alone && rows.is_contiguous(0, element) && columns.is_contiguous(1, element) &&
                     digit.stride[0] == run;
  return touch && (rows.sides() == 1 || can_join_digits(rows, element, vector));
}

Body emit_joined_transpose(const TileRun& rows, int64_t filled, const TileRun& columns,
                           const Strides& at, const Machine& machine, int64_t& scratch_bytes) {
  const JoinedTranspose transpose(rows, filled, columns, at, machine);
  scratch_bytes = std::max(scratch_bytes, transpose.image_bytes());
  return transpose.emit();
}

}  // namespace restride
