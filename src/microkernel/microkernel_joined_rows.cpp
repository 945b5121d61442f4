// Rows that begin between lines but follow each other in the target: as many as make whole lines
// are one run, moved line by line. A line in which rows meet is put together from the ends of both.
//
//     rows of 5    aaaaabbbbbccccc      lines of 4    aaaa abbb bbcc ccc.
#include <algorithm>
#include <numeric>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"

namespace restride {
namespace {

using program::Body;
using program::Reg;

// Shorter rows that lie apart take a masked load each: u8[1000,1000,n]{2,0,1} for n of 3, 6, 12 and
// 24 .18, .39, .54, .88 of the ceiling one by one, .11, .25, .43, .86 joined; of 40 and 48 bytes
// .38 -> .68 and .31 -> .54 by joining.
constexpr int64_t least_row_bytes = 32;
// Straight-line code: two operations a line and one more for each row.
constexpr int64_t most_joined_bytes = 8 * 1024;
// Loads ahead of the stores that need them.
constexpr int64_t batch = 4;

class JoinedRows {
 public:
  JoinedRows(const nest::Tile& tile, const Machine& machine)
      : machine_(machine),
        sides_(tile.sides),
        row_bytes_(sides_.back().extent * machine.element_bytes),
        read_bytes_(row_bytes_ - sides_.back().filled * machine.element_bytes),
        asks_(asks_page_ahead(machine, sides_[sides_.size() - 2].stride[1])) {}

  Body lines(const Strides& at) {
    int64_t rows = 1;
    for (size_t k = 0; k + 1 < sides_.size(); ++k) rows *= sides_[k].extent;
    const int64_t vector = machine_.vector_bytes, bytes = rows * row_bytes_;
    for (int64_t begin = 0; begin < bytes; begin += batch * vector) {
      std::vector<Reg> values;
      const int64_t end = std::min(bytes, begin + batch * vector);
      for (int64_t line = begin; line < end; line += vector) {
        values.push_back(loaded(at[1], line, std::min(vector, bytes - line)));
      }
      for (size_t k = 0; k < values.size(); ++k) {
        const int64_t line = begin + static_cast<int64_t>(k) * vector;
        store(values[k], at[0] + line, static_cast<int>(std::min(vector, bytes - line)));
      }
    }
    return body_of(emitter_.take());
  }

 private:
  /// Where row `row` begins in the source.
  int64_t source_of(int64_t row) const {
    int64_t at = 0;
    for (size_t k = sides_.size() - 1; k-- > 0; row /= sides_[k].extent) {
      at += row % sides_[k].extent * sides_[k].stride[1];
    }
    return at;
  }

  /// `bytes` bytes of the run from `begin` on.
  Reg loaded(int64_t source, int64_t begin, int64_t bytes) {
    Reg value = read_bytes_ < row_bytes_ ? emitter_.constant(machine_.fill_table) : program::none;
    for (int64_t at = 0; at < bytes;) {
      const int64_t row = (begin + at) / row_bytes_, in_row = (begin + at) % row_bytes_;
      const int64_t part = std::min(bytes - at, row_bytes_ - in_row);
      const VectorPart read{std::min(part, read_bytes_ - in_row), at};
      const int64_t from = source + source_of(row) + in_row;
      if (read.bytes > 0 && asks_) emitter_.ask_ahead(source_stream, from, read.bytes);
      if (read.bytes > 0) value = emitter_.load_part(value, source_stream, from, read);
      at += part;
    }
    return value;
  }

  void store(Reg value, int64_t offset, int bytes) {
    if (machine_.claimed_ahead != 0) {
      emitter_.claim_ahead(offset, bytes, machine_.claimed_ahead);
    }
    if (machine_.nontemporal && bytes == machine_.vector_bytes) {
      emitter_.store_nontemporal(value, target_stream, offset);
    } else {
      emitter_.store(value, target_stream, offset, bytes);
    }
  }

  const Machine& machine_;
  const std::vector<nest::Side>& sides_;
  const int64_t row_bytes_, read_bytes_;  // of the target, and of the source
  const bool asks_;
  Emitter emitter_{machine_.target, machine_.vector_bytes};
};

}  // namespace

int64_t joined_rows(int64_t row_bytes, const Target& target) {
  const int64_t rows = target.line_bytes / std::gcd(row_bytes, target.line_bytes);
  const bool joins = row_bytes >= least_row_bytes && rows * row_bytes <= most_joined_bytes;
  return target.byte_masks && joins ? rows : 1;
}

bool can_join_rows(const nest::Tile& tile, int64_t element_bytes, const Target& target) {
  if (!target.byte_masks || tile.sides.size() < 2) return false;
  const nest::Side& row = tile.sides.back();
  const int64_t row_bytes = row.extent * element_bytes;
  if (row.stride[1] != element_bytes || row_bytes < least_row_bytes ||
      row_bytes % target.line_bytes == 0) {
    return false;
  }
  int64_t run = element_bytes;
  for (size_t k = tile.sides.size(); k-- > 0;) {
    if (k + 1 < tile.sides.size() && tile.sides[k].filled > 0) return false;
    // A row that is read again would be loaded from before where its operand begins, masked: as
    // slow as a fault where no page is mapped there.
    const nest::Side& side = tile.sides[k];
    if (side.stride[0] != run || side.stride[1] == 0 || !side.own.empty()) return false;
    run *= side.extent;
  }
  return run <= most_joined_bytes;
}

Body emit_joined_rows(const nest::Tile& tile, const Strides& at, const Machine& machine) {
  return JoinedRows(tile, machine).lines(at);
}

}  // namespace restride
