// The box that comes after the one at hand: its source is asked for, row after row, while this one
// is written. Memory answers that fastest.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "emitter.hpp"
#include "microkernel.hpp"

namespace restride {

/// Asks for as many bytes of the box ahead as are written of this one.
class BoxAhead {
 public:
  /// A box of `rows` (a run of the target) by `columns` (a run of the source).
  BoxAhead(const nest::Side& rows, const nest::Side& columns, const Strides& at,
           const Machine& machine)
      : row_stride_(rows.stride[1]),
        run_bytes_(columns.extent * machine.element_bytes),
        first_(at[1] + machine.ahead),
        line_bytes_(machine.target.line_bytes) {
    const int64_t written = rows.extent * machine.element_bytes;
    const int64_t wide = std::max(written, run_bytes_), narrow = std::min(written, run_bytes_);
    asks_ = machine.ahead != 0 && wide % narrow == 0 &&
            std::has_single_bit(static_cast<uint64_t>(wide / narrow)) && narrow % line_bytes_ == 0;
  }

  bool asks() const { return asks_; }

  /// Where byte `at` of the box ahead is, its rows counted one after the other.
  int64_t offset(int64_t at) const { return at / run_bytes_ * row_stride_ + at % run_bytes_; }

  /// Asks for byte `at` of the box ahead where a line begins.
  void ask(Emitter& emitter, int64_t at) const {
    constexpr int second_level = 2;
    if (asks_ && at % line_bytes_ == 0) {
      emitter.prefetch(prefetch_stream, first_ + offset(at), second_level);
    }
  }

  /// How a loop moves the stream ahead whose iterations write `bytes` each: a power of two times or
  /// part of a row.
  void add_step(std::vector<program::Step>& steps, int64_t bytes) const {
    if (!asks_) return;
    if (bytes % run_bytes_ == 0) {
      steps.push_back({prefetch_stream, bytes / run_bytes_ * row_stride_});
    } else {
      steps.push_back({prefetch_stream, bytes, 0, 0, {{run_bytes_ / bytes, row_stride_}}});
    }
  }

 private:
  int64_t row_stride_, run_bytes_, first_, line_bytes_;
  bool asks_ = false;
};

}  // namespace restride
