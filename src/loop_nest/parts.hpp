// Parts of a schedule that are lowered apart: what is peeled, what is spliced, and all between.
#pragma once

#include <cstdint>
#include <vector>

#include "loop_nest/loop_nest.hpp"
#include "loop_nest/schedule.hpp"

namespace restride {

/// A part of a schedule, and where it begins.
struct Part {
  Schedule schedule;
  Strides offset{};
  /// Of an axis whose loop has own digits: the count with which it begins.
  struct From {
    int axis;
    int64_t count;
  };
  std::vector<From> from{};
};

/// Appends the statements of a part, without a look at its peels.
void lower_plainly(const Part& part, nest::Block& block);

/// Appends the statements of all parts that the peels of a schedule make.
void lower_peeled(const Part& whole, nest::Block& block);

}  // namespace restride
