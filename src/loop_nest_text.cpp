// The text of a loop nest.
#include "loop_nest.hpp"

namespace restride {
namespace {

using nest::Block;
using nest::For;
using nest::Node;
using nest::Tile;
using nest::Work;

std::string at(const Strides& offset) {
  if (offset == Strides{}) return "";
  return "  at source " + std::to_string(offset[1]) + ", target " + std::to_string(offset[0]);
}

void print(std::string& text, const Block& block, size_t depth) {
  for (const Node& node : block) {
    text.append(2 * depth, ' ');
    if (const For* loop = std::get_if<For>(&node.statement)) {
      text += "for " + std::to_string(loop->side.extent) + "  source " +
              std::to_string(loop->side.stride[1]) + ", target " +
              std::to_string(loop->side.stride[0]) + at(node.offset) + '\n';
      print(text, loop->body, depth + 1);
      continue;
    }
    const Tile& tile = std::get<Tile>(node.statement);
    text += tile.work == Work::fill ? "fill" : "move";
    for (const nest::Side& side : tile.sides) {
      text += ' ' + std::to_string(side.extent) + " (";
      if (tile.work == Work::compute) text += std::to_string(side.stride[1]) + " -> ";
      text += std::to_string(side.stride[0]) + ")";
    }
    text += at(node.offset) + '\n';
  }
}

}  // namespace

std::string to_string(const LoopNest& nest) {
  std::string text =
      "element " + std::to_string(nest.op.bytes) + (nest.op.bytes == 1 ? " byte\n" : " bytes\n");
  print(text, nest.root, 0);
  return text;
}

}  // namespace restride
