// How often a program's text has each operation, counted once however often loops repeat it.
#pragma once

#include <map>
#include <utility>
#include <variant>

#include "plan/planner.hpp"
#include "program/program.hpp"
#include "support/asked_lines.hpp"
#include "support/scheduled.hpp"

namespace restride::testing {

struct Counted {
  std::map<std::pair<program::Code, int>, int> operations;  // by code and width

  int of(program::Code code, int width) const {
    const auto found = operations.find({code, width});
    return found == operations.end() ? 0 : found->second;
  }

  int of(program::Code code) const {
    int count = 0;
    for (const auto& [operation, times] : operations) count += operation.first == code ? times : 0;
    return count;
  }

  void add(const program::Body& body) {
    for (const auto& item : body) {
      if (const program::For* loop = std::get_if<program::For>(&item)) {
        add(loop->body);
        continue;
      }
      for (const program::Op& op : std::get<program::Block>(item))
        ++operations[{op.code, op.width}];
    }
  }
};

inline Counted planned(const char* text, const Target& target) {
  Counted counted;
  counted.add(on_lines(plan_programs(simplified_space(text), target)).root);
  return counted;
}

}  // namespace restride::testing
