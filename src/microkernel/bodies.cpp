// What all microkernels make bodies and tables of programs with.
#include <utility>
#include <vector>

#include "microkernel/microkernel.hpp"

namespace restride {

using program::Body;
using program::For;
using program::Step;

Body repeat(const nest::Side& side, Body body) {
  if (side.extent == 0) return {};
  if (side.extent == 1) return body;
  For loop{side.extent, {}, std::move(body)};
  loop.steps.reserve(side.stride.size());
  for (size_t operand = 0; operand < side.stride.size(); ++operand) {
    Step step{static_cast<int>(operand), side.stride[operand], 0, side.first};
    for (const OwnDigit& digit : side.own) {
      if (static_cast<size_t>(digit.operand) != operand) continue;
      step.wraps.push_back({digit.every, digit.stride});
    }
    if (step.stride != 0 || !step.wraps.empty()) loop.steps.push_back(std::move(step));
  }
  Body result;
  result.push_back(std::move(loop));
  return result;
}

void append(Body& to, Body from) {
  if (to.empty()) {
    to = std::move(from);
    return;
  }
  for (auto& item : from) to.push_back(std::move(item));
}

int Tables::add(std::vector<uint8_t> table) {
  for (size_t k = 0; k < tables_.size(); ++k) {
    if (tables_[k] == table) return static_cast<int>(k);
  }
  tables_.push_back(std::move(table));
  return static_cast<int>(tables_.size()) - 1;
}

}  // namespace restride
