// In which order boxes of a transpose that streams come, and how early their source is asked for.
//
//     outside    loops that follow the source
//     inside     those in which runs of the target go on soon
//     innermost  the one in which the source goes on, or the target
#pragma once

#include <cstdint>

#include "schedule/draft.hpp"

namespace restride::scheduling {

/// Orders the loops outside of a box that takes runs of `row` bytes of the target and of `column`
/// bytes of the source. `pages`: boxes are made of pages of the source.
void order_boxes(Draft& draft, int64_t row, int64_t column, bool pages);

/// Whether loops may leave boxes of other sizes.
enum class Rests : uint8_t { none, some };

/// Marks digits in which the source goes on behind `run` bytes, all that a box has of each row, if
/// these are little; returns how many it has then. With rests they have to be worth code of their
/// own.
int64_t widen_box(Draft& draft, int64_t run, Rests rests = Rests::none);

}  // namespace restride::scheduling
