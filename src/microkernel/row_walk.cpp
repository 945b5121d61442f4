#include "microkernel/row_walk.hpp"

#include <utility>

#include "base/arithmetic.hpp"

namespace restride {

using program::Block;
using program::Body;

namespace {

// Shorter parts would be over before the processor has read ahead of them.
constexpr int64_t least_chunks_of_stream = 4;

/// Elements that one step of a long row's loop takes of each stream.
int64_t chunk_elements(const RowWalk& walk, int64_t streams) {
  const int64_t groups = streams > 1 ? ceil_div(walk.looped_groups, 2) : walk.looped_groups;
  return groups * walk.group;
}

/// Elements from which a row is moved in streams.
int64_t least_streamed(const RowWalk& walk) {
  return least_chunks_of_stream * walk.streams * chunk_elements(walk, walk.streams);
}

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
  /// One long row:
  ///
  ///     first │ chunk chunk chunk … │ rest                        one stream
  ///     first │ chunk … │ chunk … │ chunk … │ chunk … │ rest      four: a chunk of each in turn
  Body row(const Strides& at) const {
    const int64_t elements = walk_.elements - walk_.first;
    const int64_t streams = elements >= least_streamed(walk_) ? walk_.streams : 1;
    const int64_t chunk = chunk_elements(walk_, streams);
    const bool ends_in_vector = elements % walk_.group != 0;
    const int64_t looped = ends_in_vector ? elements / walk_.line * walk_.line : elements;
    const int64_t chunks = looped / chunk / streams, moved = chunks * streams * chunk;
    const Strides begin = after(at, walk_.first);
    std::vector<Run> runs;
    for (int64_t k = 0; k < streams; ++k) runs.push_back({after(begin, k * chunks * chunk), chunk});
    Body body;
    if (walk_.first > 0) body.push_back(emit_({{at, walk_.first}}));
    append(body, repeat({chunks, after({}, chunk)}, {emit_(runs)}));
    if (elements > moved) append(body, {emit_({{after(begin, moved), elements - moved}})});
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
