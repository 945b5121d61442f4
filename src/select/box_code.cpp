#include "select/box_code.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <variant>

#include "base/arithmetic.hpp"
#include "microkernel/emitter.hpp"
#include "microkernel/packed/crossed_block.hpp"
#include "microkernel/packed/mixed_box.hpp"
#include "schedule/scheduling.hpp"
#include "select/computed_image.hpp"
#include "select/imaged_block.hpp"
#include "select/placed_body.hpp"
#include "select/relaid_ahead.hpp"
#include "select/select.hpp"
#include "space/rewrites.hpp"

namespace restride {
namespace {

using program::Block;
using program::Body;
using program::For;
using program::Step;

// Images of columns of a block leave L1 room for the block. Of 3 KB the same.
constexpr int64_t most_image_bytes = 8 * 1024;

/// A block of elements that only move, as a problem of its own.
IterationSpace space_of(const nest::Tile& tile, int64_t bytes) {
  IterationSpace space;
  space.op.bytes = bytes;
  for (const nest::Side& side : tile.sides) {
    space.loops.push_back({static_cast<int>(space.axes.size()), 1, side.extent, side.stride});
    space.axes.push_back({side.extent, side.extent});
  }
  return space;
}

/// Loops over halves of a tile, or nearly so, along its longest side, in whole bytes of whatever is
/// packed.
Body halved(const nest::Tile& tile, const Strides& at, const ElementOp& op,
            const std::function<Body(const nest::Tile&, const Strides&)>& emit) {
  nest::Tile part = tile;
  nest::Side& side = *std::max_element(
      part.sides.begin(), part.sides.end(),
      [](const nest::Side& a, const nest::Side& b) { return a.extent < b.extent; });
  constexpr int64_t most_in_byte = 8;
  const nest::Side whole = side;
  side.extent = whole.extent / 2 / most_in_byte * most_in_byte;
  const auto moved = [&](Strides from, int64_t times) {
    for (size_t k = 0; k < from.size(); ++k) from[k] += times * whole.stride[k];
    return from;
  };
  Body body = repeat({2, in_bytes(moved({}, side.extent), op)}, emit(part, at));
  const Strides there = moved(at, 2 * side.extent);
  side.extent = whole.extent - 2 * side.extent;
  if (side.extent > 0) append(body, emit(part, there));
  return body;
}

}  // namespace

/// A relayout is planned like any other. Into scratch it stays within the caches; so do transposes,
/// whose panels would need scratch besides.
Body BoxCode::relaid(const Relayout& relayout, const std::array<Place, 2>& places,
                     int64_t alignment, CodeGoal goal) {
  IterationSpace space = relayout.space;
  simplify(space);
  Target caching = target_, around = target_;
  caching.nontemporal = false;
  stream_beyond(around, 0);
  const bool whole_vectors = alignment % vector_bytes_ == 0;
  const auto program = [&](const Target& target) {
    Schedule scheduled = schedule(space, target, goal);
    scheduled.staging = Staging::registers;
    // Images in scratch have places that nothing was written to.
    scheduled.reads_between = places[1].stream == source_stream;
    scheduled.vector_bytes = vector_bytes_;
    return select(lower(scheduled), scheduled, target_, {alignment});
  };
  Program moves = program(whole_vectors ? around : caching);
  // Operands are target, source and scratch.
  if (moves.operands.size() > 2) moves = program(caching);
  take_tables(moves.root, moves.tables, tables_);
  return placed(std::move(moves.root), places);
}

Body BoxCode::leaving(const nest::Tile& block, int64_t bytes, const std::array<Place, 3>& places,
                      int64_t used, int64_t alignment, const Machine& machine) {
  const auto& [target, scratch, image] = places;
  const int64_t room = std::min(program::max_scratch_bytes - used, most_image_bytes);
  const int64_t whole = machine.streams ? target_.line_bytes : 1;
  const auto imaged =
      machine.images_blocks ? imaged_block(block, bytes, whole, room) : std::nullopt;
  const CodeGoal goal = machine.claimed_ahead > 0 ? CodeGoal::leaving : CodeGoal::part;
  if (!imaged) return relaid({space_of(block, bytes), 0}, {target, scratch}, alignment, goal);
  scratch_bytes_ = std::max(scratch_bytes_, used + imaged->image_bytes);
  Body body = relaid({space_of(imaged->to_image, bytes), 0}, {image, scratch});
  append(body, relaid({space_of(imaged->to_target, bytes), 0}, {target, image}, alignment));
  if (imaged->parts.extent == 1) return body;
  Body parts;
  parts.push_back(
      For{imaged->parts.extent,
          {{target.stream, imaged->parts.stride[0]}, {scratch.stream, imaged->parts.stride[1]}},
          std::move(body)});
  return parts;
}

/// Sources that do not lie in rows of the target are relaid into scratch, then the rows are
/// computed.
Body BoxCode::computed(const nest::Tile& box, uint32_t target_run, const ElementOp& op,
                       const BoxPlaces& places, const Machine& machine) {
  const RelaidTile relaid_tile(box, target_run, op);
  const int sources = source_count(op);
  Places rows_at = places.operands;
  Body body;
  for (int operand = 1; operand <= sources; ++operand) {
    Place& place = rows_at[static_cast<size_t>(operand)];
    const Relayout* relayout = relaid_tile.relayout(operand);
    if (relayout == nullptr) continue;
    const Place scratch{relaid_stream(sources, operand), images_bytes_ + relayout->scratch_offset};
    append(body, relaid(*relayout, {scratch, place}));
    place = scratch;
  }
  scratch_bytes_ = std::max(scratch_bytes_, images_bytes_ + relaid_tile.scratch_bytes());
  append(body, rows(relaid_tile, op, places, rows_at, machine));
  return body;
}

Body BoxCode::computed_first(const nest::Tile& box, uint32_t target_run, const ElementOp& op,
                             const BoxPlaces& places, const Machine& machine) {
  const ComputedImage image = computed_image(box, target_run, op);
  const Place image_at{image_stream(source_count(op), 0), 0};
  BoxPlaces into = places;
  into.operands[0] = image_at;
  into.ahead[0] = 0;
  into.asks_rows = machine.asked_sources != 0;
  Machine within = machine;
  within.nontemporal = false;
  within.alignment = 1;
  within.asked_sources = 0;
  within.to_vectors = 0;
  images_bytes_ = ceil_div(image.bytes, program::line_bytes) * program::line_bytes;
  Body body = computed(image.computed, image.source_rows, op, into, within);
  append(body, leaving(image.moved, op.bytes,
                       {places.operands[0], image_at, {image_at.stream, images_bytes_}},
                       images_bytes_, machine.alignment, machine));
  scratch_bytes_ = std::max(scratch_bytes_, images_bytes_);
  images_bytes_ = 0;
  return body;
}

/// The rows of a relaid box; meanwhile the sources of the next one are asked for, and so are its
/// lines of the target, if those go through the caches.
Body BoxCode::rows(const RelaidTile& relaid, const ElementOp& op, const BoxPlaces& places,
                   const Places& rows_at, const Machine& machine) const {
  nest::Tile rows = relaid.rows();
  Machine reading = machine;
  Block asked;
  std::vector<Step> steps;
  for (int operand = 1; machine.streams && operand <= source_count(op); ++operand) {
    const auto k = static_cast<size_t>(operand);
    if (relaid.relayout(operand) != nullptr) reading.asked_sources &= ~(uint32_t{1} << k);
    const RelaidAhead ahead(relaid, operand, places.operands[k].at, places.ahead[k], target_);
    if (ahead.asks()) ahead.add(asked, steps);
  }
  const int64_t source_ahead = places.asks_rows && rows.sides.size() == 2 ? places.ahead[1] : 0;
  if (source_ahead != 0)
    ask_row_ahead(asked, places.operands[1].at + source_ahead,
                  rows.sides.back().extent * element_bytes(op, source_stream));
  const int64_t next = places.ahead[0];
  if (machine.claimed_ahead != 0 && !machine.nontemporal && next != 0 && rows.sides.size() == 2)
    claim_row_ahead(asked, places.operands[0].at + next, rows.sides.back().extent * op.bytes,
                    shifts_computed_rows(rows.sides.back(), op, machine));
  const nest::Side across = rows.sides.front();
  if (!asked.empty()) rows.sides.erase(rows.sides.begin());
  Body body = is_move(op) ? emit_rows(rows, RowValue::copy, {}, machine)
                          : emit_computed_rows(rows, op, {}, reading);
  if (!asked.empty()) body = repeat(across, std::move(body));
  body = placed(std::move(body), rows_at);
  if (asked.empty()) return body;
  For& loop = std::get<For>(body.front());
  loop.body.emplace_back(std::move(asked));
  for (Step& step : steps) loop.steps.push_back(std::move(step));
  return body;
}

/// Sources that count for themselves are gathered in scratch; from there on all digits nest.
Body BoxCode::unnested(const nest::Tile& box, const ElementOp& op, const BoxPlaces& places,
                       const Machine& machine) {
  const UnnestedBox steps = unnested_box(box, op);
  const auto moved = [](Place place, int64_t by) { return Place{place.stream, place.at + by}; };
  BoxPlaces from{places.operands};
  Body body;
  for (int source = 1; source <= source_count(op); ++source) {
    const auto k = static_cast<size_t>(source);
    if (steps.gathered[k].empty()) continue;
    from.operands[k] = {image_stream(source_count(op), source), steps.scratch_at[k]};
    for (const NestedBox& part : steps.gathered[k]) {
      Body copy =
          relaid({space_of(part.tile, element_bytes(op, source)), 0},
                 {moved(from.operands[k], part.at[0]), moved(places.operands[k], part.at[1])});
      if (places.rows_ahead > 0) {
        const int64_t row = part.tile.sides.front().stride[1];
        ask_behind_loads(copy, places.operands[k].stream, places.rows_ahead * row,
                         target_.asked_level);
      }
      append(body, std::move(copy));
    }
  }
  images_bytes_ = steps.scratch_bytes;
  scratch_bytes_ = std::max(scratch_bytes_, images_bytes_);
  for (const NestedBox& part : steps.made) {
    BoxPlaces at = from;
    for (size_t k = 0; k < at.operands.size(); ++k) {
      at.operands[k] = moved(at.operands[k], part.at[k]);
    }
    constexpr uint32_t any_side = ~uint32_t{0};
    append(body,
           is_move(op)
               ? leaving(part.tile, op.bytes,
                         {at.operands[0], at.operands[1], {image_stream(1, 0), images_bytes_}},
                         images_bytes_, std::gcd(machine.alignment, part.at[0]), machine)
               : computed(part.tile, any_side, op, at, machine));
  }
  images_bytes_ = 0;
  return body;
}

Body BoxCode::packed(const nest::Tile& box, const ElementOp& op, const Strides& at,
                     const Machine& machine) {
  if (const auto rows = realigned_rows(box, op)) {
    return stand_near(
        op, at, [&](const Strides& there) { return emit_realigned_rows(*rows, there, machine); });
  }
  Machine within = machine;
  within.alignment = block_alignment(box, op, machine.alignment);
  within.nontemporal = machine.nontemporal && within.alignment % machine.vector_bytes == 0;
  if (!within.nontemporal) within.alignment = 1;
  const bool crossed = is_crossed(box, op);
  return walk_blocks(box, op, at, [&](const nest::Tile& block, const Strides& there) {
    return crossed ? crossed_block(block, op, there, within)
                   : packed_block(block, op, there, within);
  });
}

Body BoxCode::mixed(const nest::Tile& tile, const Schedule& schedule, const Strides& at,
                    const Machine& machine) {
  const ElementOp& op = schedule.space.op;
  const MixedRuns runs(tile, schedule.target_run, op);
  if (machine.nontemporal && can_stage(runs.rows, runs.columns, runs.mixing, machine)) {
    return emit_staged_transpose(runs.rows, runs.columns, runs.mixing, in_bytes(at, op), machine,
                                 scratch_bytes_);
  }
  if (can_shift(runs.rows, runs.columns, runs.mixing, machine)) {
    return emit_shifted_transpose(runs.rows, runs.columns, runs.mixing, in_bytes(at, op), machine,
                                  tables_, scratch_bytes_);
  }
  return through_image(tile, schedule, at, machine);
}

/// Parts of a box, each with an image in scratch.
Body BoxCode::through_image(const nest::Tile& tile, const Schedule& schedule, const Strides& at,
                            const Machine& machine) {
  const ElementOp& op = schedule.space.op;
  const MixedBox box(tile, op, schedule.mixed);
  if (box.image_bytes > program::scratch_in_l1_bytes) {
    return halved(tile, at, op, [&](const nest::Tile& half, const Strides& there) {
      return through_image(half, schedule, there, machine);
    });
  }
  const Strides bytes = in_bytes(at, op);
  const Place target{target_stream, bytes[0]}, source{source_stream, bytes[1]};
  const Place image{scratch_stream, 0};
  scratch_bytes_ = std::max(scratch_bytes_, box.image_bytes);
  Machine within = machine;
  within.alignment = 1;
  if (schedule.mixed == MixedRows::source) {
    Body body = placed(emit_mixed_rows(box, machine.streams ? machine.ahead : 0, within),
                       std::array<Place, 2>{image, source});
    // Where it begins does not tell where its columns do.
    const int64_t alignment = machine.nontemporal ? machine.alignment : 1;
    append(body, leaving(box.moved, 1, {target, image, {panel_stream, box.image_bytes}},
                         box.image_bytes, alignment, machine));
    return body;
  }
  Body body = relaid({space_of(box.moved, 1), 0}, {image, source});
  append(body, placed(emit_mixed_rows(box, 0, machine), std::array<Place, 2>{target, image}));
  return body;
}

Body BoxCode::crossed_block(const nest::Tile& tile, const ElementOp& op, const Strides& at,
                            const Machine& machine) {
  const CrossedBlock block(tile, op);
  const Place target{target_stream, 0}, source{source_stream, 0};
  const Place in{image_stream(source_count(op), 1), 0};
  const Place out{image_stream(source_count(op), 0), block.image_bytes[0]};
  const bool straight = block.leaves_whole_bytes(at[0]);
  scratch_bytes_ =
      std::max(scratch_bytes_, block.image_bytes[0] + (straight ? 0 : block.image_bytes[1]));
  Machine within = machine;
  within.alignment = 1;
  Body body = placed(emit_crossed_rows(block, at[1], within), std::array<Place, 2>{in, source});
  if (straight) {
    append(body, relaid({space_of(block.moved_out(), 1), 0}, {{{target_stream, at[0] / 8}, in}}));
    return body;
  }
  append(body, relaid({space_of(block.moved, 1), 0}, {out, in}));
  append(body, placed(emit_realigned_rows(block.rows_out, {at[0], 0}, within),
                      std::array<Place, 2>{target, out}));
  return body;
}

Body BoxCode::packed_block(const nest::Tile& tile, const ElementOp& op, const Strides& at,
                           const Machine& machine) {
  const PackedBlock block = restride::packed_block(tile, op);
  const Strides bytes = in_bytes(at, op);
  Places places{}, images{};
  for (int operand = 0; operand < max_operands; ++operand) {
    const auto k = static_cast<size_t>(operand);
    images[k] = {image_stream(source_count(op), operand), block.image_at[k]};
    places[k] = {operand, bytes[k]};
    if (block.images[k]) places[k] = {images[k].stream, images[k].at + PackedImage::first_element};
  }
  Body body;
  for (int operand = 1; operand < max_operands; ++operand) {
    const auto k = static_cast<size_t>(operand);
    if (!block.images[k]) continue;
    append(body, placed(emit_spread_rows(*block.images[k], at[k], machine),
                        std::array<Place, 2>{{images[k], {operand, 0}}}));
  }
  const std::array<Place, 2> target{{{target_stream, 0}, images[0]}};
  const std::array<Place, 2> target_image{{images[0], {target_stream, 0}}};
  if (block.images[0])
    append(body, placed(emit_kept_bytes(*block.images[0], at[0], machine), target_image));
  images_bytes_ = block.scratch_bytes;
  scratch_bytes_ = std::max(scratch_bytes_, images_bytes_);
  append(body, on_images(block, op, places, machine));
  images_bytes_ = 0;
  if (block.images[0])
    append(body, placed(emit_packed_rows(*block.images[0], at[0], machine), target));
  return body;
}

/// A block once nothing in it is packed.
Body BoxCode::on_images(const PackedBlock& block, const ElementOp& op, const Places& places,
                        const Machine& machine) {
  if (block.tile.work == nest::Work::fill) {
    nest::Tile rows = block.tile;
    std::stable_sort(rows.sides.begin(), rows.sides.end(),
                     [](const auto& a, const auto& b) { return a.stride[0] > b.stride[0]; });
    return placed(emit_rows(rows, RowValue::fill, {}, machine), places);
  }
  if (only_packs(op)) {
    return relaid({space_of(block.tile, 1), 0}, {places[0], places[1]}, machine.alignment);
  }
  constexpr uint32_t any_side = ~uint32_t{0};
  return computed(block.tile, any_side, unpacked(op), {places}, machine);
}

}  // namespace restride
