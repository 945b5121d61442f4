// LoopNest -> Program: offsets of nodes move into the operations, strides of loops into steps of
// streams.
#include "select.hpp"

#include <cstdlib>
#include <numeric>
#include <utility>

#include "emitter.hpp"
#include "microkernel.hpp"

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
    int64_t ahead = 0;      ///< what the innermost loop adds to the source
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
    const bool near = std::abs(around.at[0]) < far && std::abs(around.at[1]) < far;
    const Around inside{near ? around.at : Strides{},
                        std::gcd(near ? around.alignment : std::gcd(around.alignment, around.at[0]),
                                 loop.side.stride[0]),
                        loop.side.stride[1]};
    Body result = repeat(loop.side, body(loop.body, inside));
    For& made = std::get<For>(result.front());
    if (!near) {
      for (const int stream : {target_stream, source_stream}) {
        start(made, stream, around.at[static_cast<size_t>(stream)]);
      }
    }
    if (schedule_.nontemporal && schedule_.movement == Movement::transpose) {
      const int64_t from = near ? 0 : around.at[1];
      made.steps.push_back({prefetch_stream, loop.side.stride[1], from});
    }
    return result;
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
                          fills ? tables_.add(fill_pattern()) : 0,
                          schedule_.nontemporal && alignment % schedule_.vector_bytes == 0,
                          schedule_.nontemporal ? std::gcd(around.alignment, around.at[0]) : 1,
                          around.ahead};
    if (fills) return emit_rows(tile, RowValue::fill, around.at, machine);
    switch (schedule_.movement) {
      case Movement::row:
        return emit_rows(tile, RowValue::copy, around.at, machine);
      case Movement::splat:
        return emit_rows(tile, RowValue::splat, around.at, machine);
      case Movement::transpose:
        return emit_transpose(tile, schedule_.target_run, around.at, machine, tables_,
                              scratch_bytes_);
      case Movement::permute:
        return emit_permutation(tile, around.at, machine, tables_);
    }
    return {};
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
  Program program;
  program.vector_bytes = schedule.vector_bytes;
  const ByteRange to = touched_bytes(schedule.space, 0), from = touched_bytes(schedule.space, 1);
  program.operands = {{program::Role::target, to.begin, to.end, alignment},
                      {program::Role::source, from.begin, from.end, 1}};
  program.streams = {0, 1};
  Selector selector(schedule, target, nest, program);
  Selector::Around around;
  around.alignment = alignment;
  program.root = selector.body(nest.root, around);
  if (selector.scratch_bytes() > 0) {
    program.operands.push_back({program::Role::scratch, 0, selector.scratch_bytes(), 64});
    program.streams.insert(program.streams.end(), {2, 2, 1});
  } else {
    drop_steps(program.root, prefetch_stream);
  }
  return program;
}

}  // namespace restride
