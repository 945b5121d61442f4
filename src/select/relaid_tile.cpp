#include "select/relaid_tile.hpp"

#include <algorithm>

namespace restride {
namespace {

using nest::Side;

// Parts of the scratch begin on lines.
constexpr int64_t scratch_line_bytes = 64;

}  // namespace

RelaidTile::RelaidTile(const nest::Tile& tile, uint32_t target_run, const ElementOp& op)
    : rows_{tile.work, {}} {
  const size_t row = row_begin(order(tile, target_run), op.bytes);
  for (int operand = 1; operand <= source_count(op); ++operand) {
    const int64_t bytes = element_bytes(op, operand);
    const auto k = static_cast<size_t>(operand);
    if (!follows(row, k, bytes)) relay(row, k, bytes);
  }
  join(row);
}

/// Sides of the row last, in the order of the target; returns where they begin. A box has no
/// bounds, so any order will do.
size_t RelaidTile::order(const nest::Tile& tile, uint32_t target_run) {
  std::vector<Side> row;
  for (size_t k = 0; k < tile.sides.size(); ++k) {
    if (tile.sides[k].extent == 1) continue;
    ((target_run >> k & 1) != 0 ? row : rows_.sides).push_back(tile.sides[k]);
  }
  std::stable_sort(row.begin(), row.end(),
                   [](const Side& a, const Side& b) { return a.stride[0] > b.stride[0]; });
  const size_t first = rows_.sides.size();
  rows_.sides.insert(rows_.sides.end(), row.begin(), row.end());
  return first;
}

/// The first of the sides that are one contiguous run of the target: a partial side ends it.
size_t RelaidTile::row_begin(size_t earliest, int64_t bytes) const {
  size_t first = rows_.sides.size();
  for (int64_t run = bytes; first > earliest && rows_.sides[first - 1].stride[0] == run; --first) {
    run *= rows_.sides[first - 1].extent;
  }
  return first;
}

bool RelaidTile::follows(size_t row, size_t operand, int64_t bytes) const {
  bool contiguous = true, repeats = true;
  for (size_t k = rows_.sides.size(); k-- > row;) {
    const Side& side = rows_.sides[k];
    contiguous = contiguous && side.stride[operand] == bytes;
    repeats = repeats && side.stride[operand] == 0;
    bytes *= side.extent;
  }
  return contiguous || repeats;
}

/// The source's box, dense in scratch: along the row every element, elsewhere only what differs.
void RelaidTile::relay(size_t row, size_t operand, int64_t bytes) {
  Relayout relayout{{}, scratch_bytes_};
  relayout.space.op.bytes = bytes;
  int64_t dense = bytes;
  for (size_t k = rows_.sides.size(); k-- > 0;) {
    Side& side = rows_.sides[k];
    if (k < row && side.stride[operand] == 0) continue;
    const int axis = static_cast<int>(relayout.space.axes.size());
    relayout.space.axes.push_back({side.extent, side.extent});
    relayout.space.loops.push_back({axis, 1, side.extent, {dense, side.stride[operand]}});
    side.stride[operand] = dense;
    dense *= side.extent;
  }
  std::reverse(relayout.space.loops.begin(), relayout.space.loops.end());
  relayouts_[operand] = std::move(relayout);
  scratch_bytes_ += (dense + scratch_line_bytes - 1) / scratch_line_bytes * scratch_line_bytes;
}

/// One side for the row.
void RelaidTile::join(size_t row) {
  std::vector<Side>& sides = rows_.sides;
  if (sides.size() == row) sides.push_back({1, {}});
  while (sides.size() > row + 1) {
    const int64_t extent = sides.back().extent * sides[sides.size() - 2].extent;
    sides.erase(sides.end() - 2);
    sides.back().extent = extent;
  }
}

}  // namespace restride
