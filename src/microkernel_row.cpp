// Rows: runs that are contiguous in the target and either contiguous in the source, one repeated
// element of it, or padding. Whole vectors, in batches of loads before stores; a masked or
// piecewise tail.
#include <algorithm>

#include "arithmetic.hpp"
#include "emitter.hpp"
#include "microkernel.hpp"

namespace restride {
namespace {

using program::Block;
using program::Body;
using program::Reg;

// Straight-line code of a row; longer rows loop. 16 vectors of 64 bytes are 1 KiB: past that the
// loop's two instructions do not show.
constexpr int64_t most_straight_vectors = 16;
constexpr int64_t looped_vectors = 8;
// Loads ahead of the stores that need them.
constexpr int64_t batch = 4;

class Rows {
 public:
  Rows(const nest::Tile& tile, RowValue value, const Machine& machine)
      : sides_(tile.sides), value_(value), machine_(machine), vector_(machine.vector_bytes) {
    const bool run = !sides_.empty() && sides_.back().stride[0] == machine.element_bytes;
    run_bytes_ = run ? sides_.back().extent * machine.element_bytes : machine.element_bytes;
    if (run) sides_.pop_back();
  }

  Body emit(const Strides& at) const { return rows(0, at); }

 private:
  /// The rows of sides `side` and inside: unrolled while the code stays short, else a loop.
  Body rows(size_t side, const Strides& at) const {
    int64_t vectors = ceil_div(run_bytes_, vector_);
    for (size_t k = side; k < sides_.size(); ++k) vectors *= sides_[k].extent;
    if (vectors <= most_straight_vectors) return {straight(side, at)};
    if (side < sides_.size()) return repeat(sides_[side], rows(side + 1, at));
    return row(at);
  }

  /// One long row.
  Body row(const Strides& at) const {
    const int64_t chunk = looped_vectors * vector_, chunks = run_bytes_ / chunk,
                  rest = run_bytes_ % chunk;
    const int64_t advance = value_ == RowValue::copy ? chunk : 0;
    Body body = repeat({chunks, {chunk, advance, 0}}, {vectors({{at, chunk}})});
    if (rest > 0) append(body, {vectors({{after(at, chunks * chunk), rest}})});
    return body;
  }

  struct Run {
    Strides at;
    int64_t bytes;
  };

  Strides after(const Strides& at, int64_t bytes) const {
    return {at[0] + bytes, at[1] + (value_ == RowValue::copy ? bytes : 0), 0};
  }

  Block straight(size_t side, const Strides& at) const {
    std::vector<Run> runs{{at, run_bytes_}};
    for (size_t k = side; k < sides_.size(); ++k) {
      std::vector<Run> repeated;
      for (const Run& run : runs) {
        for (int64_t i = 0; i < sides_[k].extent; ++i) {
          const Strides& stride = sides_[k].stride;
          repeated.push_back(
              {{run.at[0] + i * stride[0], run.at[1] + i * stride[1], 0}, run.bytes});
        }
      }
      runs = std::move(repeated);
    }
    return vectors(runs);
  }

  /// Straight-line code for some runs.
  Block vectors(const std::vector<Run>& runs) const {
    Emitter emitter(machine_.target, machine_.vector_bytes);
    struct Pending {
      Reg value;
      int64_t offset;
      int bytes;
    };
    std::vector<Pending> pending;
    const auto flush = [&] {
      for (const Pending& store : pending) {
        if (machine_.nontemporal && store.bytes == vector_) {
          emitter.store_nontemporal(store.value, target_stream, store.offset);
        } else {
          emitter.store(store.value, target_stream, store.offset, store.bytes);
        }
      }
      pending.clear();
    };
    Reg fill = value_ == RowValue::fill ? emitter.constant(machine_.fill_table) : program::none;
    for (const Run& run : runs) {
      Reg repeated = fill;
      if (value_ == RowValue::splat) {
        repeated =
            emitter.splat(source_stream, run.at[1], static_cast<int>(machine_.element_bytes));
      }
      for (int64_t begin = 0; begin < run.bytes; begin += vector_) {
        const int bytes = static_cast<int>(std::min<int64_t>(vector_, run.bytes - begin));
        const Reg value = value_ == RowValue::copy
                              ? emitter.load(source_stream, run.at[1] + begin, bytes)
                              : repeated;
        pending.push_back({value, run.at[0] + begin, bytes});
        if (static_cast<int64_t>(pending.size()) == batch) flush();
      }
    }
    flush();
    return emitter.take();
  }

  std::vector<nest::Side> sides_;  // repeat the row
  RowValue value_;
  const Machine& machine_;
  int64_t vector_;
  int64_t run_bytes_;
};

}  // namespace

Body emit_rows(const nest::Tile& tile, RowValue value, const Strides& at, const Machine& machine) {
  return Rows(tile, value, machine).emit(at);
}

}  // namespace restride
