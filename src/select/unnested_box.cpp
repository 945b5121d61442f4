// See unnested_box.hpp.
#include "select/unnested_box.hpp"

#include <algorithm>
#include <utility>

#include "base/arithmetic.hpp"

namespace restride {
namespace {

using nest::Side;
using nest::Tile;

// Parts of the scratch begin on lines.
constexpr int64_t scratch_line_bytes = 64;

bool counts_for_itself(const Tile& box, size_t operand) {
  return std::any_of(box.sides.begin(), box.sides.end(), [&](const Side& side) {
    return std::any_of(side.own.begin(), side.own.end(), [&](const OwnDigit& digit) {
      return static_cast<size_t>(digit.operand) == operand;
    });
  });
}

/// How an operand is walked by strides along a side: by so much a count, from that count on.
struct Walk {
  int64_t stride = 0, first = 0;
};
using Walks = std::array<Walk, max_operands>;

/// Whose digits a side is cut by, and what it is called in the boxes that come of it.
struct Walker {
  size_t operand, as;
};

/// Appends a side, in boxes of the walker's digits, to every box. `walks`: of all others.
std::vector<NestedBox> along(const Side& side, const Walker& walker, const Walks& walks,
                             const std::vector<NestedBox>& boxes) {
  std::vector<NestedBox> result;
  const int64_t last = side.first + side.extent;
  for (const NumeralBox& part :
       numeral_boxes(numeral_of(side.stride, side.own, walker.operand, last), side.first, last)) {
    for (NestedBox box : boxes) {
      for (size_t k = 0; k < walks.size(); ++k) {
        box.at[k] += k == walker.as ? part.offset : (part.first - walks[k].first) * walks[k].stride;
      }
      for (const WeightedDigit& digit : part.digits) {
        Side nested{digit.extent, {}};
        for (size_t k = 0; k < walks.size(); ++k) {
          nested.stride[k] = k == walker.as ? digit.stride : digit.weight * walks[k].stride;
        }
        box.tile.sides.push_back(std::move(nested));
      }
      result.push_back(std::move(box));
    }
  }
  return result;
}

/// A source's elements in scratch.
struct Dense {
  std::vector<int64_t> strides;  ///< by side
  int64_t bytes;
};

Dense dense(const Tile& box, size_t operand, int64_t element_bytes) {
  Dense dense{std::vector<int64_t>(box.sides.size(), 0), element_bytes};
  for (size_t k = box.sides.size(); k-- > 0;) {
    if (box.sides[k].stride[operand] == 0 && box.sides[k].own.empty()) continue;
    dense.strides[k] = dense.bytes;
    dense.bytes *= box.sides[k].extent;
  }
  return dense;
}

}  // namespace

bool is_unnested(const Tile& box) {
  return std::any_of(box.sides.begin(), box.sides.end(),
                     [](const Side& side) { return !side.own.empty(); });
}

UnnestedBox unnested_box(const Tile& box, const ElementOp& op) {
  UnnestedBox result;
  const bool unnested = is_unnested(box);
  std::vector<Walks> walks(box.sides.size());
  for (size_t k = 0; k < box.sides.size(); ++k) {
    for (size_t operand = 0; operand < max_operands; ++operand) {
      walks[k][operand].stride = box.sides[k].stride[operand];
    }
  }
  for (int source = 1; source <= source_count(op); ++source) {
    const auto operand = static_cast<size_t>(source);
    if (unnested && !counts_for_itself(box, operand)) continue;
    const Dense scratch = dense(box, operand, element_bytes(op, source));
    std::vector<NestedBox>& gathered = result.gathered[operand];
    gathered = {{{box.work, {}}}};
    for (size_t k = 0; k < box.sides.size(); ++k) {
      const Walk walk = walks[k][operand] = {scratch.strides[k], box.sides[k].first};
      if (walk.stride != 0) gathered = along(box.sides[k], {operand, 1}, {walk}, gathered);
    }
    result.scratch_at[operand] = result.scratch_bytes;
    result.scratch_bytes += ceil_div(scratch.bytes, scratch_line_bytes) * scratch_line_bytes;
  }
  result.made = {{{box.work, {}}}};
  for (size_t k = 0; k < box.sides.size(); ++k) {
    result.made = along(box.sides[k], {0, 0}, walks[k], result.made);
  }
  return result;
}

}  // namespace restride
