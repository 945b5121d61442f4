// What shares its place in pages: columns of a target that streams, whose lines wait for each other
// in memory, and rows of a source, whose lines share a set of L1.
//
//     page 0   | a . . . . . . . |    columns a, b, c of the target, a page apart: of a line or
//     page 1   | b . . . . . . . |    two of each in turns memory takes one at a time
//     page 2   | c . . . . . . . |
//
//     page 0   | a a a a a a . . |    longer runs reach other places
#pragma once

#include <cstdint>

#include "schedule/draft.hpp"

namespace restride::scheduling {

/// Whether lines that go around the caches one after the other, of a column of the target each,
/// share their places in halves of pages: see Make::spreads_runs. The runs of a network are taken.
bool columns_share_places(const Draft& draft);

/// Whether rows of bytes of the source come to scratch first, whole lines of as many as make a lane
/// of the target: more of them share a set of L1 than it has ways, and a vector of narrow elements
/// reads each line four times.
bool wants_strips(const Draft& draft);

/// How long runs of the target are to be in these cases, behind `row` bytes of them; 0: as others.
int64_t spread_run_bytes(const Draft& draft, int64_t row);

/// How much of each row of the source boxes with such runs read: as many lines as before, of more
/// rows.
constexpr int64_t spread_column_bytes = 256;

}  // namespace restride::scheduling
