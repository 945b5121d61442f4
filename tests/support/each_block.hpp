// Every block of a program's body, and how often it runs.
#pragma once

#include <cstdint>

#include "program/program.hpp"

namespace restride::testing {

/// Calls `visit(block, times)` for the blocks of a body that runs so many `times`, in text order.
template <class Visit>
void each_block(const program::Body& body, const Visit& visit, int64_t times = 1) {
  for (const auto& item : body) {
    if (const program::For* loop = std::get_if<program::For>(&item)) {
      each_block(loop->body, visit, times * loop->extent);
    } else {
      visit(std::get<program::Block>(item), times);
    }
  }
}

}  // namespace restride::testing
