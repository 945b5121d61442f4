#include "microkernel/row_walk.hpp"

#include <utility>

#include "base/arithmetic.hpp"

namespace restride {

using program::Block;
using program::Body;

namespace {

class Walker {
 public:
  Walker(const RowWalk& walk, const std::function<Block(const std::vector<Run>&)>& emit)
      : walk_(walk), emit_(emit) {}

  /// The rows of sides `side` and inside: unrolled while the code stays short, else a loop.
  Body rows(size_t side, const Strides& at) const {
    int64_t groups = ceil_div(walk_.elements, walk_.group) + (walk_.first > 0 ? 1 : 0);
    for (size_t k = side; k < walk_.sides.size(); ++k) groups *= walk_.sides[k].extent;
    if (groups <= walk_.most_straight_groups) return {emit_(unrolled(side, at))};
    if (side < walk_.sides.size()) return repeat(walk_.sides[side], rows(side + 1, at));
    return row(at);
  }

 private:
  /// One long row.
  Body row(const Strides& at) const {
    const int64_t chunk = walk_.looped_groups * walk_.group;
    const int64_t elements = walk_.elements - walk_.first;
    const bool ends_in_vector = elements % walk_.group != 0;
    const int64_t looped = ends_in_vector ? elements / walk_.line * walk_.line : elements;
    const int64_t chunks = looped / chunk, rest = elements - chunks * chunk;
    const Strides begin = after(at, walk_.first);
    Body body;
    if (walk_.first > 0) body.push_back(emit_({{at, walk_.first}}));
    append(body, repeat({chunks, after({}, chunk)}, {emit_({{begin, chunk}})}));
    if (rest > 0) append(body, {emit_({{after(begin, chunks * chunk), rest}})});
    return body;
  }

  /// What is moved of a row together.
  std::vector<Run> parts(const Strides& at) const {
    if (walk_.first == 0) return {{at, walk_.elements}};
    return {{at, walk_.first}, {after(at, walk_.first), walk_.elements - walk_.first}};
  }

  Strides after(Strides at, int64_t elements) const {
    for (size_t k = 0; k < at.size(); ++k) at[k] += elements * walk_.advance[k];
    return at;
  }

  std::vector<Run> unrolled(size_t side, const Strides& at) const {
    std::vector<Run> runs = parts(at);
    for (size_t k = side; k < walk_.sides.size(); ++k) {
      std::vector<Run> repeated;
      for (const Run& run : runs) {
        for (int64_t i = 0; i < walk_.sides[k].extent; ++i) {
          Run next = run;
          for (size_t operand = 0; operand < next.at.size(); ++operand) {
            next.at[operand] += i * walk_.sides[k].stride[operand];
          }
          repeated.push_back(next);
        }
      }
      runs = std::move(repeated);
    }
    return runs;
  }

  const RowWalk& walk_;
  const std::function<Block(const std::vector<Run>&)>& emit_;
};

}  // namespace

Body walk_rows(const RowWalk& walk, const Strides& at,
               const std::function<Block(const std::vector<Run>&)>& emit) {
  return Walker(walk, emit).rows(0, at);
}

}  // namespace restride
