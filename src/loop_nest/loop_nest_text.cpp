// The text of a loop nest.
#include <utility>

#include "loop_nest/loop_nest.hpp"

namespace restride {
namespace {

using nest::Block;
using nest::For;
using nest::Node;
using nest::Tile;
using nest::Work;

class Printer {
 public:
  explicit Printer(const ElementOp& op) : sources_(source_count(op)), computes_(!is_move(op)) {}

  void print(const Block& block, size_t depth) {
    for (const Node& node : block) {
      text_.append(2 * depth, ' ');
      if (const For* loop = std::get_if<For>(&node.statement)) {
        text_ += "for " + std::to_string(loop->side.extent) + "  " + strides(loop->side) +
                 counts(loop->side) + at(node.offset) + '\n';
        print(loop->body, depth + 1);
        continue;
      }
      const Tile& tile = std::get<Tile>(node.statement);
      text_ += tile.work == Work::fill ? "fill" : computes_ ? "compute" : "move";
      for (const nest::Side& side : tile.sides) {
        text_ += ' ' + std::to_string(side.extent) + filled(side) + " (";
        if (tile.work == Work::compute) text_ += numbers(side) + " -> ";
        text_ += walk_text(side.stride, side.own, 0) + counts(side) + ")";
      }
      text_ += at(node.offset) + '\n';
    }
  }

  std::string take() { return std::move(text_); }

 private:
  /// Those of the sources.
  std::string numbers(const nest::Side& of) const {
    std::string text = walk_text(of.stride, of.own, 1);
    for (int k = 2; k <= sources_; ++k) text += ", " + walk_text(of.stride, of.own, k);
    return text;
  }
  std::string strides(const nest::Side& of) const {
    return (sources_ > 1 ? "sources " : "source ") + numbers(of) + ", target " +
           walk_text(of.stride, of.own, 0);
  }
  static std::string counts(const nest::Side& side) {
    return side.first == 0 ? "" : " from " + std::to_string(side.first);
  }
  static std::string filled(const nest::Side& side) {
    return side.filled == 0 ? "" : " with " + std::to_string(side.filled) + " filled";
  }
  std::string at(const Strides& offset) const {
    return offset == Strides{} ? "" : "  at " + strides({1, offset});
  }

  const int sources_;
  const bool computes_;
  std::string text_;
};

}  // namespace

std::string to_string(const LoopNest& nest) {
  Printer printer(nest.op);
  printer.print(nest.root, 0);
  return to_string(nest.op) + '\n' + printer.take();
}

}  // namespace restride
