// Which problems the documented limits allow to be refused, worked out from the layouts alone.
#include <algorithm>

#include "support/cases.hpp"

namespace restride::testing {
namespace {

/// A range of one dimension's index: `extent` steps of `step` elements.
struct Piece {
  int64_t dimension, step, extent;
};
/// Most minor piece first: several once `*` has merged dimensions.
using Pieces = std::vector<Piece>;
/// One physical dimension. The remainder of a tile has no index past its size.
struct Physical {
  Pieces pieces;
  bool remainder = false;
};

/// Where the index of each dimension is cut; `nests` turns false at a cut that falls inside of a
/// piece.
struct Cuts {
  std::vector<std::vector<int64_t>> steps;  ///< by dimension
  bool nests = true;
};

/// Splits `from` at `tile` elements: what is left of it, and the remainder.
std::pair<Pieces, Pieces> split(const Physical& from, int64_t tile, Cuts& cuts) {
  Pieces quotient, remainder;
  for (size_t i = 0; i < from.pieces.size(); ++i) {
    const Piece& piece = from.pieces[i];
    const bool last = i + 1 == from.pieces.size();
    if (tile == 1) {
      quotient.push_back(piece);
    } else if (!last && tile % piece.extent == 0) {
      remainder.push_back(piece);
      tile /= piece.extent;
    } else {
      if ((!last || from.remainder) && piece.extent % tile != 0) cuts.nests = false;
      remainder.push_back({piece.dimension, piece.step, tile});
      quotient.push_back({piece.dimension, piece.step * tile, (piece.extent + tile - 1) / tile});
      tile = 1;
    }
  }
  return {quotient, remainder};
}

std::vector<Physical> apply(const std::vector<Physical>& from, const std::vector<int64_t>& tile,
                            Cuts& cuts) {
  const size_t untouched = from.size() - tile.size();
  std::vector<Physical> result(from.begin(), from.begin() + static_cast<int64_t>(untouched));
  std::vector<Physical> remainders;
  Physical merged;
  for (size_t i = 0; i < tile.size(); ++i) {
    Physical next = from[untouched + i];
    // Only the most major of merged dimensions can overhang.
    if (!merged.pieces.empty()) next.remainder = merged.remainder;
    // A merged dimension of one element counts for nothing, so a tile that reaches past the others
    // reaches past a remainder.
    if (!merged.pieces.empty() && merged.pieces.back().extent == 1) next.remainder = true;
    next.pieces.insert(next.pieces.end(), merged.pieces.begin(), merged.pieces.end());
    merged = next;
    if (tile[i] == Layout::combine) continue;
    const auto [quotient, remainder] = split(merged, tile[i], cuts);
    result.push_back({quotient, false});
    remainders.push_back({remainder, true});
    merged = {};
  }
  result.insert(result.end(), remainders.begin(), remainders.end());
  return result;
}

Cuts cuts_of(const Shape& shape) {
  Cuts cuts;
  cuts.steps.resize(shape.dimensions.size());
  const std::vector<int64_t>& sizes = shape.dimensions;
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return cuts;
  const Layout& layout = shape.layout;
  std::vector<Physical> physical;
  for (size_t k = layout.minor_to_major.size(); k-- > 0;) {
    const int64_t dimension = layout.minor_to_major[k];
    const auto d = static_cast<size_t>(dimension);
    const bool padded = !layout.padded_dimensions.empty();
    physical.push_back(
        {{{dimension, 1, padded ? layout.padded_dimensions[d] : shape.dimensions[d]}}, false});
  }
  for (const std::vector<int64_t>& tile : layout.tiles) physical = apply(physical, tile, cuts);
  for (const Physical& dimension : physical) {
    for (const Piece& piece : dimension.pieces) {
      if (piece.extent > 1) cuts.steps[static_cast<size_t>(piece.dimension)].push_back(piece.step);
    }
  }
  return cuts;
}

bool each_divides_the_next(std::vector<int64_t> steps) {
  std::sort(steps.begin(), steps.end());
  for (size_t i = 1; i < steps.size(); ++i) {
    if (steps[i] % steps[i - 1] != 0) return false;
  }
  return true;
}

}  // namespace

bool may_be_unsupported(const Problem& problem) {
  Cuts all = cuts_of(problem.target);
  bool is_packed = problem.target.layout.element_size_in_bits != 0;
  for (const Source& source : problem.sources) {
    is_packed = is_packed || source.shape.layout.element_size_in_bits != 0;
    const Cuts cuts = cuts_of(source.shape);
    if (!cuts.nests) return true;
    for (size_t k = 0; k < cuts.steps.size(); ++k) {
      if (source.shape.dimensions[k] == 1) continue;
      const size_t d = source.broadcast_dimensions.empty()
                           ? k
                           : static_cast<size_t>(source.broadcast_dimensions[k]);
      all.steps[d].insert(all.steps[d].end(), cuts.steps[k].begin(), cuts.steps[k].end());
    }
  }
  const bool nests = std::all_of(all.steps.begin(), all.steps.end(), each_divides_the_next);
  return !all.nests || (is_packed && !nests);
}

}  // namespace restride::testing
