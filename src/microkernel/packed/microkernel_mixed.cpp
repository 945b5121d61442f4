// Mixed rows: groups of rows whose bytes hold what one operand has together become groups of rows
// whose bytes hold what the other one has together. One of the two is an image in scratch.
//
// Not here: how registers are mixed (row_mixing).
#include <algorithm>
#include <vector>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/packed/mixed_box.hpp"
#include "microkernel/packed/row_mixing.hpp"
#include "microkernel/row_walk.hpp"

namespace restride {
namespace {

using program::Body;
using program::Reg;

// Vectors in straight-line code; longer rows loop.
constexpr int64_t most_straight_vectors = 16;

class RowMixer {
 public:
  RowMixer(const MixedBox& box, const Machine& machine, int64_t ahead)
      : box_(box), ahead_(ahead), emitter_(machine.target, machine.vector_bytes) {
    bool lines = machine.alignment % machine.vector_bytes == 0 &&
                 box.mixing.to.stride % machine.vector_bytes == 0;
    for (const nest::Side& side : box.sides) {
      lines = lines && side.stride[0] % machine.vector_bytes == 0;
    }
    nontemporal_ = lines;
  }

  Body rows(const RowWalk& walk) {
    return walk_rows(walk, {}, [&](const std::vector<Run>& runs) {
      for_each_vector(runs, walk,
                      [&](const Strides& at, int bytes) { vectors(at[0], at[1], bytes); });
      return emitter_.take();
    });
  }

 private:
  /// A vector of every row of a group.
  void vectors(int64_t to, int64_t from, int bytes) {
    const RowMixing& mixing = box_.mixing;
    const std::vector<Reg> rows = mixed_rows(emitter_, mixing, [&](int64_t row) {
      const int64_t at = from + row * mixing.from.stride;
      if (ahead_ != 0) emitter_.ask(source_stream, at + ahead_);
      return emitter_.load(source_stream, at, bytes);
    });
    for (int64_t row = 0; row < mixing.to.rows; ++row) {
      const int64_t at = to + row * mixing.to.stride;
      const Reg value = rows[static_cast<size_t>(row)];
      if (nontemporal_ && bytes == emitter_.vector_bytes()) {
        emitter_.store_nontemporal(value, target_stream, at);
      } else {
        emitter_.store(value, target_stream, at, bytes);
      }
    }
  }

  const MixedBox& box_;
  const int64_t ahead_;
  bool nontemporal_;
  Emitter emitter_;
};

}  // namespace

Body emit_mixed_rows(const MixedBox& box, int64_t ahead, const Machine& machine) {
  const int64_t groups = std::max<int64_t>(
      1, most_straight_vectors / std::max(box.mixing.from.rows, box.mixing.to.rows));
  const RowWalk walk{.sides = box.sides,
                     .elements = box.row_bytes,
                     .advance = {1, 1},
                     .group = machine.vector_bytes,
                     .most_straight_groups = groups,
                     .looped_groups = groups};
  return RowMixer(box, machine, ahead).rows(walk);
}

}  // namespace restride
