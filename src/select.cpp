// LoopNest -> Program: offsets of nodes move into the operations, strides of loops into steps of
// streams.
#include "select.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <span>
#include <utility>

#include "emitter.hpp"
#include "microkernel.hpp"
#include "relaid_ahead.hpp"
#include "relaid_tile.hpp"
#include "rewrites.hpp"

namespace restride {

using program::Block;
using program::Body;
using program::For;
using program::Step;

Body repeat(const nest::Side& side, Body body) {
  if (side.extent == 0) return {};
  if (side.extent == 1) return body;
  For loop{side.extent, {}, std::move(body)};
  for (size_t stream = 0; stream < side.stride.size(); ++stream) {
    if (side.stride[stream] != 0)
      loop.steps.push_back({static_cast<int>(stream), side.stride[stream]});
  }
  Body result;
  result.push_back(std::move(loop));
  return result;
}

void append(Body& to, Body from) {
  for (auto& item : from) to.push_back(std::move(item));
}

int Tables::add(std::vector<uint8_t> table) {
  for (size_t k = 0; k < tables_.size(); ++k) {
    if (tables_[k] == table) return static_cast<int>(k);
  }
  tables_.push_back(std::move(table));
  return static_cast<int>(tables_.size()) - 1;
}

namespace {

// Offsets up to this stay in the operations, where the encodings of all machines have room for
// them.
constexpr int64_t far = int64_t{1} << 30;

class Selector {
 public:
  Selector(const Schedule& schedule, const Target& target, const LoopNest& nest, Program& program)
      : schedule_(schedule), target_(target), nest_(nest), tables_(program.tables) {}

  /// What the loops around a statement do to the streams.
  struct Around {
    Strides at{};           ///< where it stands, apart from the loops
    int64_t alignment = 1;  ///< of every position of the target stream, bytes
    Strides ahead{};        ///< what the innermost loop adds to the operands
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

  int64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  Body loop(const nest::For& loop, const Around& around) {
    const bool near = std::all_of(around.at.begin(), around.at.end(),
                                  [](int64_t at) { return std::abs(at) < far; });
    const Around inside{near ? around.at : Strides{},
                        std::gcd(near ? around.alignment : std::gcd(around.alignment, around.at[0]),
                                 loop.side.stride[0]),
                        loop.side.stride, around.loops + 1};
    Body result = repeat(loop.side, body(loop.body, inside));
    For& made = std::get<For>(result.front());
    if (!near) {
      for (int stream = 0; stream <= source_count(nest_.op); ++stream) {
        start(made, stream, around.at[static_cast<size_t>(stream)]);
      }
    }
    if (schedule_.nontemporal && schedule_.movement == Movement::transpose) {
      const int64_t from = near ? 0 : around.at[1];
      made.steps.push_back({prefetch_stream, loop.side.stride[1], from});
    }
    return result;
  }

  /// Where a stream of a body made apart goes.
  struct Place {
    int stream;
    int64_t at;  ///< bytes
  };

  static void place_streams(Body& body, std::span<const Place> places) {
    for (auto& item : body) {
      if (For* loop = std::get_if<For>(&item)) {
        for (Step& step : loop->steps)
          step.stream = places[static_cast<size_t>(step.stream)].stream;
        place_streams(loop->body, places);
        continue;
      }
      for (program::Op& op : std::get<Block>(item)) {
        if (!names_memory(op.code)) continue;
        op.offset += places[op.stream].at;
        op.stream = static_cast<uint8_t>(places[op.stream].stream);
      }
    }
  }

  void take_tables(Body& body, const std::vector<std::vector<uint8_t>>& tables) {
    for (auto& item : body) {
      if (For* loop = std::get_if<For>(&item)) {
        take_tables(loop->body, tables);
        continue;
      }
      for (program::Op& op : std::get<Block>(item)) {
        if (names_table(op.code))
          op.table = static_cast<int16_t>(tables_.add(tables[static_cast<size_t>(op.table)]));
      }
    }
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

  Body tile(const nest::Tile& tile, const Around& around) {
    int64_t alignment = std::gcd(around.alignment, around.at[0]);
    for (const nest::Side& side : tile.sides) {
      const int64_t stride = side.stride[0];
      // Along the run of the target code moves by whole vectors.
      if (side.extent > 1 && stride >= schedule_.vector_bytes)
        alignment = std::gcd(alignment, stride);
    }
    const bool fills = tile.work == nest::Work::fill;
    const Machine machine{target_,
                          schedule_.vector_bytes,
                          schedule_.network_column_bytes,
                          nest_.op.bytes,
                          schedule_.nontemporal,
                          schedule_.staged,
                          fills ? tables_.add(fill_pattern()) : 0,
                          schedule_.nontemporal && alignment % schedule_.vector_bytes == 0,
                          schedule_.nontemporal ? std::gcd(around.alignment, around.at[0]) : 1,
                          around.ahead[1]};
    if (fills) return emit_rows(tile, RowValue::fill, around.at, machine);
    switch (schedule_.movement) {
      case Movement::row:
        if (can_shift_rows(tile, machine)) return emit_shifted_rows(tile, around.at, machine);
        return emit_rows(tile, RowValue::copy, around.at, machine);
      case Movement::splat:
        return emit_rows(tile, RowValue::splat, around.at, machine);
      case Movement::transpose:
        return emit_transpose(tile, schedule_.target_run, around.at, machine, scratch_bytes_);
      case Movement::permute:
        return emit_permutation(tile, around.at, machine, tables_);
      case Movement::compute:
        return one_unit(computed(tile, around, machine), around);
    }
    return {};
  }

  /// Items of the root are units of their own; what belongs together there gets a loop around it.
  static Body one_unit(Body body, const Around& around) {
    if (around.loops > 0 || body.size() == 1) return body;
    Body unit;
    unit.push_back(For{1, {}, std::move(body)});
    return unit;
  }

  using Places = std::array<Place, max_operands>;

  /// Sources that do not lie in rows of the target are relaid into scratch, then the rows are
  /// computed.
  Body computed(const nest::Tile& tile, const Around& around, const Machine& machine) {
    const RelaidTile relaid(tile, schedule_.target_run, nest_.op);
    const int sources = source_count(nest_.op);
    Strides at = around.at;
    Places places{};
    Body body;
    for (int operand = 1; operand <= sources; ++operand) {
      const auto k = static_cast<size_t>(operand);
      places[k] = {operand, 0};
      const Relayout* relayout = relaid.relayout(operand);
      if (relayout == nullptr) continue;
      places[k] = {sources + operand, 0};
      Program moves = plan_relayout(relayout->space);
      place_streams(moves.root, std::array<Place, 2>{{{places[k].stream, relayout->scratch_offset},
                                                      {operand, at[k]}}});
      take_tables(moves.root, moves.tables);
      append(body, std::move(moves.root));
      at[k] = relayout->scratch_offset;
    }
    scratch_bytes_ = std::max(scratch_bytes_, relaid.scratch_bytes());
    append(body, computed_rows(relaid, around, at, places, machine));
    return body;
  }

  /// The rows of a relaid box; meanwhile the sources of the next one are asked for.
  Body computed_rows(const RelaidTile& relaid, const Around& around, const Strides& at,
                     const Places& places, const Machine& machine) const {
    nest::Tile rows = relaid.rows();
    Block asked;
    std::vector<Step> steps;
    for (int operand = 1; machine.streams && operand <= source_count(nest_.op); ++operand) {
      const auto k = static_cast<size_t>(operand);
      const RelaidAhead ahead(relaid, operand, around.at[k], around.ahead[k], target_);
      if (ahead.asks()) ahead.add(asked, steps);
    }
    const nest::Side across = rows.sides.front();
    if (!asked.empty()) rows.sides.erase(rows.sides.begin());
    Body body = emit_computed_rows(rows, nest_.op, at, machine);
    if (!asked.empty()) body = repeat(across, std::move(body));
    place_streams(body, places);
    if (asked.empty()) return body;
    For& loop = std::get<For>(body.front());
    loop.body.emplace_back(std::move(asked));
    for (Step& step : steps) loop.steps.push_back(std::move(step));
    return body;
  }

  /// The program of a relayout within the caches.
  Program plan_relayout(IterationSpace space) const {
    simplify(space);
    Target caching = target_;
    caching.nontemporal = false;
    Schedule scheduled = restride::schedule(space, caching);
    scheduled.vector_bytes = schedule_.vector_bytes;
    return select(lower(scheduled), scheduled, target_, 1);
  }

  /// The padding element, repeated over a vector.
  std::vector<uint8_t> fill_pattern() const {
    std::vector<uint8_t> pattern;
    for (int k = 0; k < schedule_.vector_bytes; ++k) {
      const auto& fill = nest_.op.fill;
      pattern.push_back(static_cast<uint8_t>(fill[static_cast<size_t>(k) % fill.size()]));
    }
    return pattern;
  }

  const Schedule& schedule_;
  const Target& target_;
  const LoopNest& nest_;
  Tables tables_;
  int64_t scratch_bytes_ = 0;
};

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
               int64_t alignment) {
  const int sources = source_count(schedule.space.op);
  Program program;
  program.vector_bytes = schedule.vector_bytes;
  for (int operand = 0; operand <= sources; ++operand) {
    const ByteRange touched = touched_bytes(schedule.space, operand);
    const bool target_operand = operand == 0;
    program.operands.push_back({target_operand ? program::Role::target : program::Role::source,
                                touched.begin, touched.end, target_operand ? alignment : 1});
    program.streams.push_back(operand);
  }
  Selector selector(schedule, target, nest, program);
  Selector::Around around;
  around.alignment = alignment;
  program.root = selector.body(nest.root, around);
  const bool computes = !is_move(schedule.space.op);
  if (selector.scratch_bytes() > 0) {
    program.operands.push_back({program::Role::scratch, 0, selector.scratch_bytes(), 64});
    const int scratch = sources + 1;
    if (computes) {
      // A stream for what is relaid of each source.
      program.streams.insert(program.streams.end(), static_cast<size_t>(sources), scratch);
    } else {
      program.streams.insert(program.streams.end(), {scratch, scratch, 1});
    }
  } else if (!computes) {
    drop_steps(program.root, prefetch_stream);
  }
  return program;
}

}  // namespace restride
