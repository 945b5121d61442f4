#include "select/placed_body.hpp"

#include <utility>
#include <variant>

#include "base/arithmetic.hpp"

namespace restride {
namespace {

using program::Block;
using program::Body;
using program::For;
using program::Step;

/// Moves the stream whose place in a line a load goes by.
void place_line(program::Op& op, std::span<const Place> places) {
  const Place& place = places[op.select];
  op.at = static_cast<uint8_t>(remainder_above(op.at + place.at, program::line_bytes));
  op.select = static_cast<uint8_t>(place.stream);
}

}  // namespace

Body placed(Body body, std::span<const Place> places) {
  for (auto& item : body) {
    if (For* loop = std::get_if<For>(&item)) {
      for (Step& step : loop->steps) step.stream = places[static_cast<size_t>(step.stream)].stream;
      loop->body = placed(std::move(loop->body), places);
      continue;
    }
    for (program::Op& op : std::get<Block>(item)) {
      if (!names_memory(op.code)) continue;
      if (op.code == program::Code::load_for_line) place_line(op, places);
      if (is_copy(op.code)) {
        op.copied += places[op.select].at;
        op.select = static_cast<uint8_t>(places[op.select].stream);
      }
      op.offset += places[op.stream].at;
      op.stream = static_cast<uint8_t>(places[op.stream].stream);
    }
  }
  return body;
}

void ask_behind_loads(Body& body, int stream, int64_t bytes, int level) {
  for (auto& item : body) {
    if (For* loop = std::get_if<For>(&item)) {
      ask_behind_loads(loop->body, stream, bytes, level);
      continue;
    }
    Block asking;
    for (program::Op& op : std::get<Block>(item)) {
      asking.push_back(op);
      if (op.code != program::Code::load || op.stream != stream) continue;
      asking.push_back({.code = program::Code::prefetch,
                        .stream = op.stream,
                        .width = static_cast<uint8_t>(level),
                        .offset = op.offset + bytes});
    }
    std::get<Block>(item) = std::move(asking);
  }
}

void take_tables(Body& body, const std::vector<std::vector<uint8_t>>& from, Tables& tables) {
  for (auto& item : body) {
    if (For* loop = std::get_if<For>(&item)) {
      take_tables(loop->body, from, tables);
      continue;
    }
    for (program::Op& op : std::get<Block>(item)) {
      if (names_table(op.code))
        op.table = static_cast<int16_t>(tables.add(from[static_cast<size_t>(op.table)]));
    }
  }
}

}  // namespace restride
