// LoopNest -> Program: offsets of nodes move into the operations, strides of loops into steps of
// streams.
#include "select.hpp"

#include <cstdlib>
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

namespace {

// Offsets up to this stay in the operations, where the encodings of all machines have room for
// them.
constexpr int64_t far = int64_t{1} << 30;

class Selector {
 public:
  Selector(const Schedule& schedule, const Machine& machine)
      : schedule_(schedule), machine_(machine) {}

  Body body(const nest::Block& block, const Strides& at) const {
    Body result;
    for (const nest::Node& node : block) {
      Strides there = at;
      for (size_t k = 0; k < there.size(); ++k) there[k] += node.offset[k];
      if (const nest::For* loop = std::get_if<nest::For>(&node.statement)) {
        append(result, this->loop(*loop, there));
      } else {
        append(result, tile(std::get<nest::Tile>(node.statement), there));
      }
    }
    return result;
  }

 private:
  Body loop(const nest::For& loop, const Strides& at) const {
    const bool near = std::abs(at[0]) < far && std::abs(at[1]) < far;
    Body result = repeat(loop.side, body(loop.body, near ? at : Strides{}));
    if (near) return result;
    For& moved = std::get<For>(result.front());
    for (size_t stream = 0; stream < 2; ++stream)
      start(moved, static_cast<int>(stream), at[stream]);
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

  Body tile(const nest::Tile& tile, const Strides& at) const {
    if (tile.work == nest::Work::fill) return emit_rows(tile, RowValue::fill, at, machine_);
    switch (schedule_.movement) {
      case Movement::row:
        return emit_rows(tile, RowValue::copy, at, machine_);
      case Movement::splat:
        return emit_rows(tile, RowValue::splat, at, machine_);
      case Movement::transpose:
        return emit_transpose(tile, schedule_.target_run, at, machine_);
    }
    return {};
  }

  const Schedule& schedule_;
  const Machine& machine_;
};

}  // namespace

Program select(const LoopNest& nest, const Schedule& schedule, const Target& target,
               int64_t alignment) {
  Program program;
  program.vector_bytes = target.vector_bytes;
  const ByteRange to = touched_bytes(schedule.space, 0), from = touched_bytes(schedule.space, 1);
  program.operands = {{program::Role::target, to.begin, to.end, alignment},
                      {program::Role::source, from.begin, from.end, 1}};
  program.streams = {0, 1};
  std::vector<uint8_t> fill;
  for (int k = 0; k < program.vector_bytes; ++k) {
    fill.push_back(
        static_cast<uint8_t>(nest.op.fill[static_cast<size_t>(k) % nest.op.fill.size()]));
  }
  program.tables.push_back(std::move(fill));
  const Machine machine{target, program.vector_bytes, nest.op.bytes, false, 0};
  program.root = Selector(schedule, machine).body(nest.root, {});
  return program;
}

}  // namespace restride
