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
//
// Runs that are too long for images in L1 come in pieces, all columns of the box a piece. What a
// piece has of the line in which it ends waits for the next one, a line a column:
//
//     image   piece 0 of columns 0 to 15, 16 to 31, ..    left over   of column 0, 1, 2, ..
//             piece 1 of columns 0 to 15, 16 to 31, ..
#include <algorithm>
#include <numeric>
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
  Machine result = apart(for_columns(columns.digits(), machine));
  // Of two lanes where those are loaded at once: Zen 4, eight permutations with odd sizes .95 of
  // the time.
  const bool narrow = program::lane_bytes / machine.element_bytes >= machine.target.registers;
  result.network_column_bytes =
      narrow ? machine.vector_bytes : network_piece_bytes(machine.target, machine.element_bytes);
  return result;
}

// Fewer columns may ask for so many times the rows that each had to: what is asked for by the last
// ones comes late. 23 cases of 200 MB in .94 of the time, f32[7,9,24,16,16,80]{0,3,1,4,2,5} .57,
// where a seventh of the rows had been left out; 28 of 4 to 64 MB 1.03; twice the rows alone 1.05
// times as long as four times, the first half of the panels asking 1.03.
constexpr int64_t most_asked_times = 4;
// The ends of pieces are joined to lines of two.
constexpr int64_t least_piece_lines = 2;

/// How many rows, at most so many, look alike wherever they are taken and leave no more than one
/// digit to walk; 0, if there are no such.
int64_t rows_alike(const TileRun& rows, int64_t most) {
  int64_t count = 1;
  size_t digits = rows.sides();
  for (const nest::Side& digit : rows.digits()) {
    int64_t part = std::min(digit.extent, most / count);
    while (part > 0 && digit.extent % part != 0) --part;
    count *= std::max<int64_t>(part, 1);
    if (part < digit.extent) break;
    --digits;
  }
  return digits <= 1 ? count : 0;
}

/// Rows of an image of so many columns.
int64_t piece_rows(const TileRun& rows, int64_t columns, const Machine& machine) {
  const int64_t most = most_imaged_run_bytes(columns, machine.target, machine.long_images);
  return rows_alike(rows, most / machine.element_bytes);
}

/// Rows that are asked for while a column leaves, and by how many columns of a panel; and how many
/// are from a panel to the next one, which begins behind what these have asked for, or before.
struct Asked {
  int64_t rows, columns, of_panel;
};

/// Whole digits but the slowest, so many of it a column, of which a few may be asked for twice. (8
/// problems .87 of the time of leaving out a fifth to a third: u16[3,2157,2704] reversed .20 -> .29
/// of the ceiling, f32[5,722,1577] .25 -> .32.)
Asked asked_digits(const TileRun& rows, int64_t columns, int64_t panels) {
  const int64_t digits = rows.digits().back().extent, rows_of_digit = rows.extent() / digits;
  const int64_t together = ceil_div(digits, columns * panels);
  const int64_t asking = ceil_div(digits, together * panels);
  const int64_t left = digits - together * asking;
  const int64_t of_panel = panels > 1 ? left / (panels - 1) : 0;
  return {rows_of_digit * together, asking, rows_of_digit * of_panel};
}

/// The fewest rows that look alike wherever they are taken and that columns get through; with one
/// digit as many as each has to ask for.
Asked asked_rows(const TileRun& rows, int64_t columns, int64_t panels) {
  const int64_t fewest = ceil_div(rows.extent(), columns * panels);
  if (rows.sides() == 1) return {fewest, columns, fewest * columns};
  for (int64_t count = fewest; count <= most_asked_times * fewest; ++count) {
    if (!rows.divides(count)) continue;
    for (int64_t asking = columns; count * asking * panels >= rows.extent(); --asking) {
      if (panels == 1 || rows.divides(count * asking)) return {count, asking, count * asking};
    }
  }
  return asked_digits(rows, columns, panels);
}

/// Bytes from an image to the next one: what is written behind a run is not in the next one.
int64_t imaged_pitch(int64_t run_bytes, int64_t line_bytes) {
  return image_pitch(run_bytes + program::lane_bytes, line_bytes);
}

class ImagedTranspose {
 public:
  ImagedTranspose(const TileRun& rows, const TileRun& columns, const Strides& at,
                  const Machine& machine)
      : machine_(for_networks(columns, machine)),
        rows_(rows),
        columns_(columns),
        at_(at),
        panel_columns_(panel_columns(columns, machine)),
        piece_(rows.first(piece_rows(rows, panel_columns_, machine))) {
    if (pieces_ > 1) machine_.alignment = std::gcd(machine_.alignment, run_.bytes);
  }

  int64_t scratch_bytes() const {
    return left_over_at() + (pieces_ > 1 ? columns_.extent() * program::line_bytes : 0);
  }

  Body emit() const {
    // All of it lives on one scratch: wherever the box stands, it is one unit of work.
    if (pieces_ == 1) return loop_always(1, {}, each_panel(whole_runs()));
    Body body = first_piece();
    append(body, other_pieces());
    append(body, left_over_out());
    return loop_always(1, {{left_over_stream, 0, left_over_at()}}, std::move(body));
  }

 private:
  int64_t panels() const { return columns_.extent() / panel_columns_; }
  /// Behind the images.
  int64_t left_over_at() const { return panel_columns_ * pitch_; }

  Body each_panel(Body body) const {
    if (panels() == 1) return body;
    std::vector<Step> steps{columns_.step(target_stream, 0, panel_columns_),
                            columns_.step(source_stream, 1, panel_columns_)};
    if (pieces_ > 1) steps.push_back({left_over_stream, panel_columns_ * program::line_bytes});
    if (machine_.ahead != 0) steps.push_back(asks_of_panels());
    return loop_always(panels(), std::move(steps), std::move(body));
  }

  PanelImage image() const { return {piece_, panel_columns_, ColumnPlaces(pitch_), at_, machine_}; }

  Body images_in() const {
    const bool asks = asks_as_rows_come_ && machine_.ahead != 0;
    Body body = asks ? image().emit(asks_of_box()) : image().emit();
    if (run_.image == 0) return body;
    return loop_always(1, {{scratch_stream, 0, run_.image}}, std::move(body));
  }

  PanelImage::Asks asks_of_box() const {
    // Of pieces, the stream stands where the next one begins.
    return {pieces_ == 1 ? machine_.ahead : 0, panels(), panel_columns_ * machine_.element_bytes};
  }

  /// Columns of a panel leave one after the other.
  Body images_out(Body column, std::vector<Step> steps) const {
    Body body;
    if (machine_.ahead != 0 && !asks_as_rows_come_) {
      body = asks();
      steps.push_back(asks_of_columns());
    }
    append(body, std::move(column));
    return each_column(columns_, panel_columns_, std::move(body), std::move(steps));
  }

  Body whole_runs() const {
    Body body;
    // Once is enough.
    if (!asks_as_rows_come_ || machine_.target.columns_claimed_again == 0)
      body = each_column(columns_, panel_columns_, claim_ends({run_}, machine_), {});
    append(body, images_in());
    Body column = claimed_again();
    append(column, emit_image_out(run_, machine_, nullptr));
    append(body, images_out(std::move(column), {{panel_stream, pitch_}}));
    return body;
  }

  /// Where images drive what was asked for out of L1, the ends of a column that leaves soon.
  Body claimed_again() const {
    const int64_t ahead = machine_.target.columns_claimed_again;
    if (ahead == 0) return {};
    ImageRun next = run_;
    next.target += columns_.at(0, 1) * ahead;
    return claim_ends({next}, machine_);
  }

  // ---- pieces

  Body piece(Piece which) const {
    const std::vector<Step> steps{{panel_stream, pitch_}, {left_over_stream, program::line_bytes}};
    Body body;
    if (which == Piece::other && run_.image > 0)
      body = each_column(columns_, panel_columns_, emit_left_over_in(machine_), steps);
    append(body, images_in());
    append(body, images_out(emit_piece_out(which, run_, machine_), steps));
    return body;
  }

  /// Where piece `number` begins in the source.
  int64_t after(int64_t number) const { return rows_.at(1, number * piece_.extent()); }

  /// Asks for the second piece, which is there.
  Body first_piece() const {
    std::vector<Step> steps;
    if (machine_.ahead != 0) steps.push_back({prefetch_stream, 0, after(1)});
    return loop_always(1, std::move(steps), each_panel(piece(Piece::first)));
  }

  Body other_pieces() const {
    const int64_t source = after(1);
    std::vector<Step> steps{{source_stream, source, source},
                            {target_stream, run_.bytes, run_.bytes}};
    // Behind the last piece comes the first one of the box ahead.
    Step asks{prefetch_stream, source, machine_.ahead};
    if (pieces_ > 2) {
      asks.start = after(2);
      asks.wraps.push_back({pieces_ - 2, machine_.ahead - after(2)});
    }
    if (machine_.ahead != 0) steps.push_back(std::move(asks));
    return loop_always(pieces_ - 1, std::move(steps), each_panel(piece(Piece::other)));
  }

  Body left_over_out() const {
    return each_column(columns_, columns_.extent(),
                       emit_left_over_out(at_[0] + pieces_ * run_.bytes, machine_),
                       {{left_over_stream, program::line_bytes}});
  }

  // ---- what the next box has of some rows is asked for while a column leaves, or as rows come in

  /// Columns and panels that have nothing left to ask for begin anew: what is there costs little.
  Step asks_of_columns() const {
    return then(piece_.step(prefetch_stream, 1, asked_.rows), asked_.columns, {prefetch_stream});
  }
  Step asks_of_panels() const {
    if (asks_as_rows_come_) return image().asks_step(asks_of_box());
    if (asked_.of_panel == 0) return {prefetch_stream};
    return then(piece_.step(prefetch_stream, 1, asked_.of_panel),
                ceil_div(piece_.extent(), asked_.of_panel), {prefetch_stream});
  }

  Body asks() const {
    const int64_t bytes = panel_columns_ * machine_.element_bytes;
    Emitter emitter(machine_.target, machine_.vector_bytes);
    for (int64_t row = 0; row < asked_.rows; ++row) {
      // Of pieces, the stream stands where the next one begins.
      const int64_t first = at_[1] + (pieces_ == 1 ? machine_.ahead : 0) + piece_.at(1, row);
      for (int64_t panel = 0; panel < panels(); ++panel)
        ask_for_panel(emitter, first + panel * bytes, bytes, machine_.target.line_bytes);
    }
    return body_of(emitter.take());
  }

  Machine machine_;
  TileRun rows_;     // make runs of the target
  TileRun columns_;  // make runs of the source
  Strides at_;
  int64_t panel_columns_;
  TileRun piece_;  // of the rows, what comes in at a time
  int64_t pieces_ = rows_.extent() / piece_.extent();
  ImageRun run_{pieces_ > 1 ? joined_front_bytes(machine_.target) : 0, at_[0],
                piece_.extent() * machine_.element_bytes};
  int64_t pitch_ = imaged_pitch(run_.image + run_.bytes, machine_.target.line_bytes);
  Asked asked_ = asked_rows(piece_, panel_columns_, panels());
  bool asks_as_rows_come_ = machine_.target.asks_as_rows_come;
};

}  // namespace

int64_t most_imaged_run_bytes(int64_t columns, const Target& target, bool long_images) {
  // 17 cases (f32[8,71,13,50,10] reversed .13 -> .6 of the ceiling, f32[28,256,1000] .2 -> .65,
  // u8[57,71,5000] .18 -> .45) in .93 of the time that they take with 4 KB, with 2 KB in .95.
  constexpr int64_t most = 1024;
  // Longer ones leave a fourth of L1 to what comes in.
  constexpr int64_t most_long = 2 * most, long_scratch = program::scratch_in_l1_bytes / 4 * 3;
  const int64_t line = target.line_bytes, front = joined_front_bytes(target);
  const auto fits = [&](int64_t scratch) { return (scratch / columns / line - 2) * line - front; };
  const int64_t run = std::min(most, fits(program::scratch_in_l1_bytes));
  return long_images ? std::max(run, std::min(most_long, fits(long_scratch))) : run;
}

bool can_image_pieces(int64_t run_bytes, int64_t columns, int64_t box_columns,
                      const Target& target) {
  const int64_t line = target.line_bytes, image = joined_front_bytes(target) + run_bytes;
  return run_bytes >= least_piece_lines * line &&
         columns * imaged_pitch(image, line) + box_columns * line <= program::scratch_in_l1_bytes;
}

bool can_image(const TileRun& rows, const TileRun& columns, const Machine& machine) {
  const int64_t element = machine.element_bytes;
  if (machine.staging != Staging::images || !can_shift_images(machine) || rows.extent() < 2 ||
      !rows.is_contiguous(0, element) || !columns.is_contiguous(1, element)) {
    return false;
  }
  const int64_t panel = panel_columns(columns, machine), piece = piece_rows(rows, panel, machine);
  return piece == rows.extent() ||
         can_image_pieces(piece * element, panel, columns.extent(), machine.target);
}

Body emit_imaged_transpose(const TileRun& rows, const TileRun& columns, const Strides& at,
                           const Machine& machine, int64_t& scratch_bytes) {
  const ImagedTranspose transpose(rows, columns, at, machine);
  scratch_bytes = std::max(scratch_bytes, transpose.scratch_bytes());
  return transpose.emit();
}

}  // namespace restride
