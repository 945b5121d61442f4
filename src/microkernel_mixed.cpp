// Mixed rows: groups of rows whose bytes hold what one operand has together become groups of rows
// whose bytes hold what the other one has together. One of the two is an image in scratch.
//
//     width 4      |ab| |ef|  ──►  |ae| |bf|      a step for fields of every width: what a byte has
//     width 2, 1   likewise                       in its odd fields changes places with the even
//                                                 ones of the row `width` elements on
//
// A transpose of bits by log2 steps. A row that is not there is zero.
#include <algorithm>
#include <vector>

#include "emitter.hpp"
#include "microkernel.hpp"
#include "mixed_box.hpp"
#include "row_walk.hpp"

namespace restride {
namespace {

using program::Block;
using program::Body;
using program::none;
using program::Reg;

// Vectors in straight-line code; longer rows loop.
constexpr int64_t most_straight_vectors = 16;
constexpr int second_level = 2;

class RowMixer {
 public:
  RowMixer(const MixedBox& box, const Machine& machine, int64_t ahead)
      : box_(box), ahead_(ahead), emitter_(machine.target, machine.vector_bytes) {
    bool lines =
        machine.alignment % machine.vector_bytes == 0 && box.to.stride % machine.vector_bytes == 0;
    for (const nest::Side& side : box.sides) {
      lines = lines && side.stride[0] % machine.vector_bytes == 0;
    }
    nontemporal_ = lines;
  }

  Block runs(const std::vector<Run>& runs) {
    for (const Run& run : runs) {
      for (int64_t done = 0; done < run.elements; done += emitter_.vector_bytes()) {
        const int64_t bytes = std::min<int64_t>(emitter_.vector_bytes(), run.elements - done);
        vectors(run.at[0] + done, run.at[1] + done, static_cast<int>(bytes));
      }
    }
    return emitter_.take();
  }

 private:
  /// A vector of every row of a group.
  void vectors(int64_t to, int64_t from, int bytes) {
    std::vector<Reg> rows(static_cast<size_t>(8 / box_.bits), none);
    for (int64_t row = 0; row < box_.from.rows; ++row) {
      const int64_t at = from + row * box_.from.stride;
      rows[place(box_.from, row)] = emitter_.load(source_stream, at, bytes);
      if (ahead_ != 0) emitter_.prefetch(source_stream, at + ahead_, second_level);
    }
    mix(rows);
    for (int64_t row = 0; row < box_.to.rows; ++row) {
      const int64_t at = to + row * box_.to.stride;
      const Reg value = rows[place(box_.to, row)];
      if (nontemporal_ && bytes == emitter_.vector_bytes()) {
        emitter_.store_nontemporal(value, target_stream, at);
      } else {
        emitter_.store(value, target_stream, at, bytes);
      }
    }
  }

  void mix(std::vector<Reg>& rows) {
    for (size_t apart = 1; apart < rows.size(); apart *= 2) {
      const int width = box_.bits * static_cast<int>(apart);
      for (size_t row = 0; row < rows.size(); ++row) {
        if ((row & apart) != 0) continue;
        const Reg even = rows[row], odd = rows[row + apart];
        rows[row] = emitter_.mix_low(width, even, odd);
        rows[row + apart] = emitter_.mix_high(width, even, odd);
      }
    }
  }

  /// Which field of a byte the elements of a row are.
  static size_t place(const RowGroup& group, int64_t row) {
    return static_cast<size_t>(group.last_first ? group.rows - 1 - row : row);
  }

  const MixedBox& box_;
  const int64_t ahead_;
  bool nontemporal_;
  Emitter emitter_;
};

}  // namespace

Body emit_mixed_rows(const MixedBox& box, int64_t ahead, const Machine& machine) {
  const int64_t groups =
      std::max<int64_t>(1, most_straight_vectors / std::max(box.from.rows, box.to.rows));
  const RowWalk walk{.sides = box.sides,
                     .elements = box.row_bytes,
                     .advance = {1, 1},
                     .group = machine.vector_bytes,
                     .most_straight_groups = groups,
                     .looped_groups = groups};
  RowMixer mixer(box, machine, ahead);
  return walk_rows(walk, {}, [&](const std::vector<Run>& runs) { return mixer.runs(runs); });
}

}  // namespace restride
