// Transposes in the caches: which lines meet in the sets of L1.
//
// A transpose writes columns of the source, a line of each before it comes back to the first:
//
//     column 0   line 0 ...      where columns are nearly a power of two apart, all these lines
//     column 1   line 0 ...      belong to few sets, more than those have ways: each is gone
//     column 2   line 0 ...      before it is full
//
// and reads rows of the source, of which the same is true.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/draft.hpp"
#include "schedule/page_walks.hpp"

namespace restride::scheduling {

/// Whether its sets have room for so many lines that are `stride` bytes apart.
bool l1_holds_lines(const Target& target, int64_t stride, int64_t count);

/// Whether lines of the source that a transpose reads together crowd sets of L1, so that each is
/// gone before the rest of it is read. Rows are long enough then to be copied to scratch first.
bool source_rows_crowd(const Draft& draft);

/// The rows of the source that make runs of the target so far, the innermost first, but no more
/// than `most`.
std::vector<Walk> taken_rows(const Draft& draft, int64_t most);

/// Whether panels are to be as wide as lines: where rows of the source that a box takes crowd sets,
/// what vectors leave of their lines is gone when its turn comes.
bool wants_wide_panels(const Draft& draft);

/// Whether rows of the source stay in L1 from one network to the next, however few columns these
/// write.
bool source_rows_stay(const Draft& draft);

/// How blocks go on along rows of the source before they take the next ones.
struct SourceWalk {
  int64_t rows = 0;          ///< of a block: those of a network, which stay in L1; 0: it does not
  bool wants_lines = false;  ///< only a target that begins on a line is written faster so
};

/// Where more rows of the source would drive each other out of L1, and columns of the target do not
/// do that, too; and where rows begin between lines, so that networks beside each other share some,
/// but write whole ones.
SourceWalk walk_along_source(const Draft& draft);

/// Whether columns that begin between lines of the target crowd sets of L1, be networks as narrow
/// as they can. Rows are long enough then to be made in scratch first.
bool target_columns_crowd(const Draft& draft);

/// The same of wide elements, of which networks write few columns. Where rows of both operands are
/// an element longer than pages, or halves of them, what is read lies where another network has
/// just written, as far as processors compare addresses at first: loads wait for stores. And where
/// they are nearly so long, all lines of a network belong to one set on either side.
bool wide_columns_wait(const Draft& draft);

/// How long rows of the target's finest digit are, bytes, if the next ones soon go on in the lines
/// in which they end; 0 where they are long.
int64_t short_row_bytes(const Draft& draft);

/// Prepares networks for columns of the target that crowd sets of L1: rows go on first then, for
/// longer. False where they do not, or where that does not help.
bool make_room_in_l1(Draft& draft);

/// Whether lines of neighbouring columns of the target meet in sets of L1, so that networks write
/// two of a column before they go on with the next ones.
bool columns_meet(const Draft& draft);

}  // namespace restride::scheduling
