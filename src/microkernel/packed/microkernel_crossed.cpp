// Rows of packed elements that begin anywhere in a byte, shifted to where one begins and mixed, a
// group of rows at a time. The first step of a crossed block.
#include <algorithm>

#include "base/arithmetic.hpp"
#include "microkernel/emitter.hpp"
#include "microkernel/packed/crossed_block.hpp"
#include "microkernel/packed/packed_shift.hpp"
#include "microkernel/packed/row_mixing.hpp"

namespace restride {
namespace {

using program::Block;
using program::Body;
using program::none;
using program::Reg;

class CrossedRows {
 public:
  CrossedRows(const CrossedBlock& block, int64_t at, const Machine& machine)
      : block_(block),
        at_(at),
        in_byte_(elements_in_byte(block.to)),
        mixing_{block.to.bits,
                {in_byte_, 0, block.to.order == PackingOrder::most_significant_first},
                {in_byte_, block.pitch, block.from.order == PackingOrder::most_significant_first}},
        emitter_(machine.target, machine.vector_bytes) {}

  Body emit() {
    const int64_t groups = block_.rows / in_byte_, rest = block_.rows % in_byte_;
    const int64_t step = in_byte_ * block_.row_stride / 8, image_step = in_byte_ * block_.pitch;
    Body body = repeat({groups, {image_step, step}}, body_of(group(0, in_byte_)));
    if (rest > 0) append(body, body_of(group(groups, rest)));
    return body;
  }

 private:
  /// Group `number`, of which so many rows are there; what others become may be anything.
  Block group(int64_t number, int64_t rows) {
    const int vector = emitter_.vector_bytes();
    for (int64_t done = 0; done < block_.bytes; done += vector) {
      const auto bytes = static_cast<int>(std::min<int64_t>(vector, block_.bytes - done));
      Reg first = none;
      const std::vector<Reg> mixed = mixed_rows(emitter_, mixing_, [&](int64_t row) {
        if (row >= rows) return first;
        const Reg loaded = load(number * in_byte_ + row, done, bytes);
        if (row == 0) first = loaded;
        return loaded;
      });
      for (int64_t row = 0; row < in_byte_; ++row) {
        emitter_.store(mixed[static_cast<size_t>(row)], target_stream,
                       (number * in_byte_ + row) * block_.pitch + done, bytes);
      }
    }
    return emitter_.take();
  }

  /// Bytes of a row from its byte `done` on, as if its first element began one.
  Reg load(int64_t row, int64_t done, int bytes) {
    const int64_t at = at_ + row * block_.row_stride, bit = remainder_above(at, 8);
    const int64_t touched = ceil_div(bit + block_.elements * block_.from.bits, 8);
    const auto part = [&](int64_t begin) {
      const int64_t count = std::min<int64_t>(bytes, touched - begin);
      return count <= 0
                 ? none
                 : emitter_.load(source_stream, (at - bit) / 8 + begin, static_cast<int>(count));
    };
    const Reg here = part(done);
    if (bit == 0) return here;
    const auto first = static_cast<int>(bit / block_.from.bits);
    return shifted_elements(emitter_, block_.from, first, here, part(done + 1));
  }

  const CrossedBlock& block_;
  const int64_t at_;  // bits of the source
  const int in_byte_;
  const RowMixing mixing_;
  Emitter emitter_;
};

}  // namespace

Body emit_crossed_rows(const CrossedBlock& block, int64_t at, const Machine& machine) {
  return CrossedRows(block, at, machine).emit();
}

}  // namespace restride
