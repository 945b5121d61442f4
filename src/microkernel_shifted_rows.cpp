// Copies of long rows that begin between lines of the target, for arrays that do not stay in the
// caches: loads begin where a line of the target does, so that lines leave whole, around the
// caches. What two rows share of a line is written by stores that keep within it.
#include <algorithm>
#include <numeric>

#include "arithmetic.hpp"
#include "emitter.hpp"
#include "microkernel.hpp"

namespace restride {
namespace {

using program::Body;

constexpr int64_t looped_vectors = 8;
// Rows of 16 KB .43 -> .69 of a non-temporal copy; rows of 2 KB and 4 KB that do not follow each
// other in the source .61 -> .39 and .56 -> .50. Where phases are many the code grows.
constexpr int64_t least_row_bytes = 8 * 1024, most_rows = 32;

class ShiftedRows {
 public:
  explicit ShiftedRows(const Machine& machine) : machine_(machine) {}

  /// The rows of side `side` and inside: each has a phase of its own.
  Body rows(const std::vector<nest::Side>& sides, size_t side, const Strides& at) {
    if (side + 1 == sides.size()) return row(sides[side].extent * machine_.element_bytes, at);
    Body body;
    for (int64_t i = 0; i < sides[side].extent; ++i) {
      append(body, rows(sides, side + 1, after(at, i, sides[side].stride)));
    }
    return body;
  }

 private:
  static Strides after(const Strides& at, int64_t times, const Strides& stride) {
    return {at[0] + times * stride[0], at[1] + times * stride[1]};
  }

  Body row(int64_t bytes, const Strides& at) {
    const int64_t phase = remainder_above(at[0], vector_);
    const int64_t head = std::min(bytes, (vector_ - phase) % vector_);
    emitter_.copy_part(source_stream, at[1], target_stream, at[0], {head, phase});
    Body body = body_of(emitter_.take());
    const int64_t chunk = looped_vectors * vector_, chunks = (bytes - head) / chunk;
    lines(after(at, head, {1, 1}), chunk);
    append(body, repeat({chunks, {chunk, chunk}}, body_of(emitter_.take())));
    const int64_t rest = (bytes - head) % chunk, whole = rest / vector_ * vector_;
    const Strides end = after(at, bytes - rest, {1, 1});
    lines(end, whole);
    const Strides tail = after(end, whole, {1, 1});
    emitter_.copy_part(source_stream, tail[1], target_stream, tail[0], {rest - whole, 0});
    append(body, body_of(emitter_.take()));
    return body;
  }

  void lines(const Strides& at, int64_t bytes) {
    for (int64_t begin = 0; begin < bytes; begin += vector_) {
      const program::Reg line =
          emitter_.load(source_stream, at[1] + begin, static_cast<int>(vector_));
      emitter_.store_nontemporal(line, target_stream, at[0] + begin);
    }
  }

  const Machine& machine_;
  const int64_t vector_ = machine_.vector_bytes;
  Emitter emitter_{machine_.target, machine_.vector_bytes};
};

}  // namespace

int64_t shifted_rows(int64_t row_bytes, int64_t row_stride, const Target& target) {
  const int64_t rows = target.line_bytes / std::gcd(row_stride, target.line_bytes);
  return row_bytes >= least_row_bytes && rows <= most_rows ? rows : 1;
}

bool can_shift_rows(const nest::Tile& tile, const Machine& machine) {
  if (!machine.streams || machine.nontemporal || machine.alignment % machine.vector_bytes != 0) {
    return false;
  }
  int64_t rows = 1;
  for (size_t k = 0; k + 1 < tile.sides.size(); ++k) rows *= tile.sides[k].extent;
  const nest::Side& run = tile.sides.back();
  const int64_t bytes = machine.element_bytes;
  return run.stride[0] == bytes && run.stride[1] == bytes && rows <= most_rows &&
         run.extent * bytes >= least_row_bytes;
}

Body emit_shifted_rows(const nest::Tile& tile, const Strides& at, const Machine& machine) {
  return ShiftedRows(machine).rows(tile.sides, 0, at);
}

}  // namespace restride
