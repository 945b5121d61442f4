// What a loop nest moves, element by element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <variant>
#include <vector>

#include "loop_nest/loop_nest.hpp"

namespace restride::testing {

/// Where the source's elements go, of a nest.
class Moves {
 public:
  void add(const nest::Block& block, const Strides& at) {
    for (const nest::Node& node : block) {
      const Strides here = sum(at, node.offset);
      if (const nest::For* loop = std::get_if<nest::For>(&node.statement)) {
        for (int64_t i = 0; i < loop->side.extent; ++i)
          add(loop->body, sum(here, loop->side.at(i)));
      } else {
        add(std::get<nest::Tile>(node.statement).sides, 0, here);
      }
    }
  }

  std::multimap<int64_t, int64_t> to;  ///< of the source, by the target

 private:
  void add(const std::vector<nest::Side>& sides, size_t k, const Strides& at) {
    if (k == sides.size()) {
      to.emplace(at[0], at[1]);
      return;
    }
    for (int64_t i = 0; i < sides[k].extent; ++i) add(sides, k + 1, sum(at, sides[k].at(i)));
  }
};

}  // namespace restride::testing
