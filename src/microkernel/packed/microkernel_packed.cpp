// Packed rows: between memory, where elements share bytes, and an image in scratch, where each has
// one. Bytes of memory go through registers whole; what is not of the row keeps its bits because
// the image holds them, too.
#include <algorithm>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/packed/packed_image.hpp"
#include "microkernel/row_walk.hpp"

namespace restride {
namespace {

using program::Body;
using program::none;
using program::Reg;

// Vectors of the image in straight-line code; longer rows loop.
constexpr int64_t most_straight_vectors = 16;
constexpr int64_t looped_vectors = 8;

class PackedRows {
 public:
  PackedRows(Packing packing, const Machine& machine)
      : packing_(packing), vector_(machine.vector_bytes), emitter_(machine.target, vector_) {}

  /// A vector of memory after the other; places are those of the image and of memory.
  template <class Move>
  Body walk(const RowWalk& rows, const Strides& at, const Move& move) {
    return walk_rows(rows, at, [&](const std::vector<Run>& runs) {
      for_each_vector(runs, rows, [&](const Strides& to, int bytes) { move(to[0], to[1], bytes); });
      return emitter_.take();
    });
  }

  void spread(int64_t to, int64_t from, int64_t bytes) {
    const Reg packed = emitter_.load(source_stream, from, static_cast<int>(bytes));
    for (int64_t done = 0; done < bytes * in_byte(); done += vector_) {
      const auto rest = static_cast<int>(std::min<int64_t>(vector_, bytes * in_byte() - done));
      const Reg elements = emitter_.spread(packing_, packed, static_cast<int>(done / in_byte()));
      emitter_.store(elements, target_stream, to + done, rest);
    }
  }

  void pack(int64_t to, int64_t from, int64_t bytes) {
    Reg packed = none;
    for (int64_t done = 0; done < bytes * in_byte(); done += vector_) {
      const auto rest = static_cast<int>(std::min<int64_t>(vector_, bytes * in_byte() - done));
      const Reg elements = emitter_.load(source_stream, from + done, rest);
      packed = emitter_.pack(packing_, elements, static_cast<int>(done / in_byte()), packed);
    }
    emitter_.store(packed, target_stream, to, static_cast<int>(bytes));
  }

  /// A walk of `bytes` bytes of memory for each row.
  RowWalk rows(const PackedRow& row, int64_t bytes) const {
    return {.sides = row.sides,
            .elements = bytes,
            .advance = {in_byte(), 1},
            .group = vector_,
            .most_straight_groups = std::max<int64_t>(1, most_straight_vectors / in_byte()),
            .looped_groups = std::max<int64_t>(1, looped_vectors / in_byte())};
  }

  int64_t in_byte() const { return 8 / packing_.bits; }

 private:
  const Packing packing_;
  const int vector_;
  Emitter emitter_;
};

}  // namespace

Body emit_spread_rows(const PackedImage& image, int64_t at, const Machine& machine) {
  PackedRows rows(image.packing(), machine);
  const auto move = [&](int64_t to, int64_t from, int64_t bytes) { rows.spread(to, from, bytes); };
  Body body;
  for (const PackedRow& row : image.rows(at)) {
    append(body, rows.walk(rows.rows(row, row.bytes), {row.image_at, row.memory_at}, move));
  }
  return body;
}

Body emit_kept_bytes(const PackedImage& image, int64_t at, const Machine& machine) {
  PackedRows rows(image.packing(), machine);
  const auto move = [&](int64_t to, int64_t from, int64_t bytes) { rows.spread(to, from, bytes); };
  Body body;
  for (const PackedRow& row : image.rows(at)) {
    const auto keep = [&](int64_t from, int64_t bytes) {
      const Strides begin{row.image_at + from * rows.in_byte(), row.memory_at + from};
      append(body, rows.walk(rows.rows(row, bytes), begin, move));
    };
    if (!image.is_dense()) {
      keep(0, row.bytes);
      continue;
    }
    if (row.shares_first) keep(0, 1);
    if (row.shares_last && (row.bytes > 1 || !row.shares_first)) keep(row.bytes - 1, 1);
  }
  return body;
}

Body emit_packed_rows(const PackedImage& image, int64_t at, const Machine& machine) {
  PackedRows rows(image.packing(), machine);
  Body body;
  for (const PackedRow& row : image.rows(at)) {
    RowWalk walk = rows.rows(row, row.bytes);
    walk.advance = {1, rows.in_byte()};
    for (nest::Side& side : walk.sides) std::swap(side.stride[0], side.stride[1]);
    append(body,
           rows.walk(walk, {row.memory_at, row.image_at},
                     [&](int64_t to, int64_t from, int64_t bytes) { rows.pack(to, from, bytes); }));
  }
  return body;
}

}  // namespace restride
