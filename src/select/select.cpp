// LoopNest -> Program: offsets of nodes move into the operations, strides of loops into steps of
// streams.
#include "select/select.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <span>
#include <utility>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/packed/mixed_box.hpp"
#include "select/box_code.hpp"
#include "select/fill_pattern.hpp"
#include "select/line_places.hpp"

namespace restride {

using program::Block;
using program::Body;
using program::For;
using program::Step;

namespace {

// Offsets up to this stay in the operations, where the encodings of all machines have room for
// them.
constexpr int64_t far = int64_t{1} << 30;

class Selector {
 public:
  Selector(const Schedule& schedule, const Target& target, const LoopNest& nest, Program& program)
      : schedule_(schedule),
        target_(target),
        nest_(nest),
        pointer_alignment_(std::gcd(program.operands[0].alignment, program.operands[0].phase)),
        tables_(program.tables),
        boxes_(target, schedule.vector_bytes, tables_) {}

  /// What the loops around a statement do to the streams.
  struct Around {
    Strides at{};           ///< where it stands, apart from the loops
    int64_t alignment = 1;  ///< of every position of the target stream, bytes, but for
    int64_t phase = 0;      ///< so many more
    Strides ahead{};        ///< from a box to the one whose source is asked for meanwhile
    int loops = 0;          ///< how many there are
  };

  Body body(const nest::Block& block, const Around& around) {
    Body result;
    for (const nest::Node& node : block) {
      Around here = around;
      for (size_t k = 0; k < here.at.size(); ++k) here.at[k] += node.offset[k];
      if (const nest::For* loop = std::get_if<nest::For>(&node.statement)) {
        append(result, this->loop(*loop, here));
      } else {
        append(result, tile(std::get<nest::Tile>(node.statement), here));
      }
    }
    return result;
  }

  /// The items of the root. Units of a packed target share no byte: iterations of a loop walk whole
  /// bytes, and all that is in no loop is one unit, with everything where a tail begins within a
  /// byte, or where digits do not nest.
  Body root(const nest::Block& block, const Around& around) {
    if (nest_.op.packing[0].bits == 0) return body(block, around);
    const std::vector<Loop>& loops = schedule_.space.loops;
    const bool nests =
        std::all_of(loops.begin(), loops.end(), [](const Loop& loop) { return loop.own.empty(); });
    const bool joined = schedule_.space.tail_begin % 8 != 0 || !nests;
    Around inside = around;
    inside.loops = 1;
    Body result, unit;
    for (const nest::Node& node : block) {
      const bool walks = std::holds_alternative<nest::For>(node.statement) && !joined;
      append(walks ? result : unit, body({node}, walks ? around : inside));
    }
    if (!unit.empty()) result.push_back(For{1, {}, std::move(unit)});
    return result;
  }

  int64_t scratch_bytes() const { return std::max(scratch_bytes_, boxes_.scratch_bytes()); }

 private:
  Body loop(const nest::For& loop, const Around& around) {
    const bool near = std::all_of(around.at.begin(), around.at.end(),
                                  [](int64_t at) { return std::abs(at) < far; });
    const nest::Side side = walked(loop.side);
    const Strides from = in_bytes(around.at, nest_.op);
    const bool nests = side.own.empty();
    const int64_t stands = near ? 0 : from[0] + around.phase;
    Strides ahead = nests ? side.stride : Strides{};
    for (int64_t& stride : ahead) stride *= boxes_ahead(loop);
    const Around inside{near ? around.at : Strides{},
                        std::gcd(std::gcd(around.alignment, stands), divisor(side)),
                        near ? around.phase : 0, ahead, around.loops + 1};
    Body result = repeat(side, body(loop.body, inside));
    For& made = std::get<For>(result.front());
    if (!near) {
      for (int stream = 0; stream <= source_count(nest_.op); ++stream) {
        start(made, stream, from[static_cast<size_t>(stream)]);
      }
    }
    if (schedule_.nontemporal && asks_ahead()) {
      made.steps.push_back(walks_ahead(loop, made, around));
    }
    if (nests) return result;
    return one_unit(std::move(result), around);
  }

  /// Whether boxes ask for the source of the next one by a stream of its own.
  bool asks_ahead() const {
    return schedule_.movement == Movement::transpose || schedule_.movement == Movement::mix ||
           schedule_.movement == Movement::permute;
  }

  /// A loop, in bytes of every operand.
  nest::Side walked(nest::Side side) const {
    side.stride = in_bytes(side.stride, nest_.op);
    for (OwnDigit& digit : side.own) {
      if (nest_.op.packing[static_cast<size_t>(digit.operand)].bits != 0) digit.stride /= 8;
    }
    return side;
  }

  static bool is_innermost(const nest::For& loop) {
    return std::none_of(loop.body.begin(), loop.body.end(), [](const auto& node) {
      return std::holds_alternative<nest::For>(node.statement);
    });
  }

  /// Of how many iterations ahead boxes ask for the source.
  int64_t boxes_ahead(const nest::For& loop) const {
    const int64_t most = std::max<int64_t>(loop.side.extent - 1, 1);
    return is_innermost(loop) ? std::min(schedule_.boxes_ahead, most) : 1;
  }

  /// How the stream moves that asks for the source some iterations of the innermost loop ahead: as
  /// the source, but behind the last iterations come the first ones of the next round.
  Step walks_ahead(const nest::For& loop, const For& made, const Around& around) const {
    Step step{prefetch_stream};
    for (const Step& walks : made.steps) {
      if (walks.stream == source_stream) step = walks;
    }
    step.stream = prefetch_stream;
    if (is_innermost(loop) && around.loops > 0 && made.extent > 1 && step.wraps.empty()) {
      const int64_t boxes = boxes_ahead(loop);
      step.start -= boxes * step.stride;
      step.phase = boxes;
      step.wraps = {{made.extent, around.ahead[1]}};
    }
    return step;
  }

  static void start(For& loop, int stream, int64_t offset) {
    for (Step& step : loop.steps) {
      if (step.stream == stream) {
        step.start = offset;
        return;
      }
    }
    loop.steps.push_back({stream, 0, offset});
  }

  /// Where a tile begins: sides with own digits stand where their count 0 would, and microkernels
  /// of transposes begin with the first count.
  static Around begun(const nest::Tile& tile, Around around) {
    for (const nest::Side& side : tile.sides) {
      if (!side.own.empty()) around.at = sum(around.at, side.at(0));
    }
    return around;
  }

  Body tile(const nest::Tile& tile, const Around& around) {
    const Around at = schedule_.movement == Movement::transpose ? begun(tile, around) : around;
    if (schedule_.joined_elements == 1 || tile.work == nest::Work::fill)
      return tile_at(tile, schedule_, at);
    if (tile.sides.back().extent != schedule_.joined_elements) return cut_elements(tile, at);
    nest::Tile whole = tile;
    whole.sides.pop_back();
    Schedule wide = schedule_;
    wide.space.op.bytes *= wide.joined_elements;
    --wide.tile_loops;
    wide.target_run &= ~(uint32_t{1} << wide.tile_loops);
    return tile_at(whole, wide, at);
  }

  /// Of the target's pointer, as far as elements that move as one lie like it.
  int64_t pointer_alignment() const {
    if (schedule_.joined_elements == 1) return pointer_alignment_;
    const int64_t bytes = schedule_.space.op.bytes, joined = bytes * schedule_.joined_elements;
    const auto& loops = schedule_.space.loops;
    const bool alike = std::all_of(loops.begin(), loops.end() - 1,
                                   [&](const Loop& loop) { return loop.stride[0] % joined == 0; });
    return alike ? pointer_alignment_ : std::gcd(pointer_alignment_, bytes);
  }

  /// Where bounds cut what moves as one, elements move one by one, and padding by itself.
  Body cut_elements(nest::Tile tile, const Around& around) {
    Schedule rows = schedule_;
    rows.movement = Movement::row;
    Body body;
    for (size_t k = 0; k < tile.sides.size(); ++k) {
      const int64_t filled = std::exchange(tile.sides[k].filled, 0);
      if (filled == 0) continue;
      const int64_t moved = tile.sides[k].extent - filled;
      nest::Tile padding{nest::Work::fill, tile.sides};
      for (nest::Side& side : padding.sides) side.filled = 0;
      padding.sides[k].extent = filled;
      tile.sides[k].extent = moved;
      Around behind = around;
      behind.at = sum(around.at, padding.sides[k].at(moved));
      append(body, tile_at(padding, rows, behind));
    }
    append(body, tile_at(tile, rows, around));
    return body;
  }

  /// As a schedule of the selector's, or one like it, moves it.
  Body tile_at(const nest::Tile& tile, const Schedule& schedule, const Around& around) {
    const ElementOp& op = schedule.space.op;
    const int64_t at = in_bytes(around.at, op)[0];
    const bool joins = schedule.movement == Movement::row && schedule.window_loop < 0 &&
                       tile.work == nest::Work::compute && can_join_rows(tile, op.bytes, target_);
    const int64_t alignment = std::gcd(std::gcd(around.alignment, at + around.phase),
                                       divisor_within(tile, schedule, joins));
    const bool fills = tile.work == nest::Work::fill;
    const bool fills_within = std::any_of(tile.sides.begin(), tile.sides.end(),
                                          [](const nest::Side& side) { return side.filled > 0; });
    const int64_t before =
        around.phase == 0 ? 0 : to_vectors(tile, schedule, around.alignment, at + around.phase);
    const bool whole = alignment % schedule.vector_bytes == 0 || before > 0;
    const Machine machine{
        target_,
        schedule.vector_bytes,
        tile.is_end ? program::lane_bytes : schedule.network_column_bytes,
        op.bytes,
        schedule.nontemporal,
        tile.is_end ? Staging::registers : schedule.staging,
        schedule.stages_lines,
        schedule.wide_panels,
        schedule.strips_rows,
        schedule.shifts_runs,
        fills || fills_within ? tables_.add(fill_pattern(schedule)) : 0,
        schedule.nontemporal && whole && !pads_cached_lines(tile, schedule, alignment),
        schedule.nontemporal ? std::gcd(around.alignment, at + around.phase) : 1,
        schedule.stores_runs,
        schedule.claimed_ahead,
        schedule.asked_sources,
        schedule.reads_between,
        around.ahead[1],
        schedule.target_first,
        pointer_alignment(),
        schedule.short_code,
        before,
        schedule.long_images,
        schedule.short_images,
        schedule.images_blocks,
        schedule.skews_rows,
        schedule.lane_rows,
        tile.is_end};
    const bool fills_bytes = op.packing[0].bits == 0;
    if (fills && fills_bytes) return emit_rows(tile, RowValue::fill, around.at, machine);
    if (fills && schedule.movement == Movement::mix && has_whole_bytes(tile, op)) {
      return emit_rows(filled_bytes(tile, op), RowValue::fill, in_bytes(around.at, op), machine);
    }
    switch (schedule.movement) {
      case Movement::row:
        if (schedule.window_loop >= 0)
          return one_unit(emit_rows_of_pieces(tile, around.at, machine), around);
        if (joins) return emit_joined_rows(tile, around.at, machine);
        if (can_shift_rows(tile, machine)) return emit_shifted_rows(tile, around.at, machine);
        return emit_rows(tile, RowValue::copy, around.at, machine);
      case Movement::splat:
        return emit_rows(tile, RowValue::splat, around.at, machine);
      case Movement::transpose:
        if (!std::has_single_bit(static_cast<uint64_t>(op.bytes))) {
          return emit_uneven_transpose(tile, schedule.target_run, around.at, machine, tables_,
                                       scratch_bytes_);
        }
        return emit_transpose(tile, schedule.target_run, around.at, machine, tables_,
                              scratch_bytes_);
      case Movement::permute:
        return emit_permutation(tile, schedule.target_run, around.at, machine, tables_,
                                scratch_bytes_);
      case Movement::repeat:
      case Movement::gather:
      case Movement::compute:
      case Movement::mix:
        return one_unit(computed(tile, schedule, around, machine), around);
    }
    return {};
  }

  Body computed(const nest::Tile& tile, const Schedule& schedule, const Around& around,
                const Machine& machine) {
    const ElementOp& op = schedule.space.op;
    if (schedule.movement == Movement::mix && tile.work == nest::Work::compute)
      return boxes_.mixed(tile, schedule, around.at, machine);
    if (is_packed(op)) return boxes_.packed(tile, op, around.at, machine);
    BoxPlaces places{{}, around.ahead, schedule.rows_ahead};
    for (size_t k = 0; k < places.operands.size(); ++k) {
      places.operands[k] = {static_cast<int>(k), around.at[k]};
    }
    if (schedule.computes_first)
      return boxes_.computed_first(tile, schedule.target_run, op, places, machine);
    if (schedule.movement == Movement::gather || is_unnested(tile))
      return boxes_.unnested(tile, op, places, machine);
    return boxes_.computed(tile, schedule.target_run, op, places, machine);
  }

  /// Items of the root are units of their own; what belongs together there gets a loop around it.
  static Body one_unit(Body body, const Around& around) {
    if (around.loops > 0 || (body.size() == 1 && only_walks(body.front()))) return body;
    Body unit;
    unit.push_back(For{1, {}, std::move(body)});
    return unit;
  }

  /// Whether an item can stand at the root.
  static bool only_walks(const std::variant<Block, For>& item) {
    const For* const loop = std::get_if<For>(&item);
    return loop == nullptr ||
           std::all_of(loop->steps.begin(), loop->steps.end(),
                       [](const Step& step) { return step.phase == 0 && step.wraps.empty(); });
  }

  const Schedule& schedule_;
  const Target& target_;
  const LoopNest& nest_;
  int64_t pointer_alignment_;
  Tables tables_;
  BoxCode boxes_;
  int64_t scratch_bytes_ = 0;
};

/// Whether boxes keep images of operands in scratch.
bool has_images(const Schedule& schedule) {
  const std::vector<Loop>& loops = schedule.space.loops;
  return schedule.movement == Movement::gather || schedule.computes_first ||
         is_packed(schedule.space.op) ||
         std::any_of(loops.begin(), loops.end(),
                     [](const Loop& loop) { return !loop.own.empty(); });
}

/// Forgets a stream that no operation uses.
void drop_steps(Body& body, int stream) {
  for (auto& item : body) {
    For* loop = std::get_if<For>(&item);
    if (loop == nullptr) continue;
    std::erase_if(loop->steps, [&](const Step& step) { return step.stream == stream; });
    drop_steps(loop->body, stream);
  }
}

}  // namespace

Program select(const LoopNest& nest, const Schedule& schedule, const Target& target,
               const TargetPointer& pointer) {
  const int sources = source_count(schedule.space.op);
  Program program;
  program.vector_bytes = schedule.vector_bytes;
  program.operands.reserve(program::max_operands);
  program.streams.reserve(program::max_operands);
  for (int operand = 0; operand <= sources; ++operand) {
    const ByteRange touched = touched_bytes(schedule.space, operand);
    const bool target_operand = operand == 0;
    program.operands.push_back({target_operand ? program::Role::target : program::Role::source,
                                touched.begin, touched.end, target_operand ? pointer.alignment : 1,
                                target_operand ? pointer.phase : 0});
    program.streams.push_back(operand);
  }
  Selector selector(schedule, target, nest, program);
  Selector::Around around;
  around.alignment = pointer.alignment;
  around.phase = pointer.phase;
  program.root = selector.root(nest.root, around);
  const bool has_boxes =
      schedule.movement == Movement::compute || schedule.movement == Movement::gather;
  if (selector.scratch_bytes() > 0) {
    program.operands.push_back({program::Role::scratch, 0, selector.scratch_bytes(), 64});
    const int scratch = sources + 1;
    if (has_boxes) {
      // Streams for what is relaid of each source, and for the image of each operand.
      const int images = has_images(schedule) ? sources + 1 : 0;
      program.streams.insert(program.streams.end(), static_cast<size_t>(sources + images), scratch);
    } else {
      program.streams.insert(program.streams.end(), {scratch, scratch, 1, scratch, scratch});
    }
  } else if (!has_boxes) {
    drop_steps(program.root, prefetch_stream);
  }
  return program;
}

}  // namespace restride
