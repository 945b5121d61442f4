// Rows: runs that are contiguous in the target and either contiguous in the source, one repeated
// element of it, or padding. Whole vectors, in batches of loads before stores; a masked or
// piecewise tail.
#include <algorithm>
#include <optional>

#include "base/arithmetic.hpp"
#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/row_walk.hpp"

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

/// Whether a run of so many bytes is stored by one operation, but for its end.
bool stores_run(RowValue value, int64_t bytes, const Machine& machine) {
  return machine.stores_runs && value == RowValue::splat && bytes >= machine.vector_bytes;
}

class Rows {
 public:
  /// `filled`: elements at the end of each run that are padding. `asks`: what is loaded through
  /// masks is asked for a page ahead. `first_line`: where one begins, if that is known.
  Rows(RowValue value, int64_t filled, bool asks, const Machine& machine,
       std::optional<int64_t> first_line = {})
      : value_(value),
        filled_bytes_(filled * machine.element_bytes),
        asks_(asks),
        machine_(machine),
        vector_(machine.vector_bytes),
        first_line_(first_line) {}

  /// Straight-line code for some runs.
  Block vectors(const std::vector<Run>& runs) {
    held_.clear();
    if (value_ == RowValue::fill || filled_bytes_ > 0)
      repeated_ = emitter_.constant(machine_.fill_table);
    for (const Run& run : runs) {
      if (value_ == RowValue::splat) {
        repeated_ =
            emitter_.splat(source_stream, run.at[1], static_cast<int>(machine_.element_bytes));
      }
      const int64_t run_bytes = run.elements * machine_.element_bytes;
      const int64_t stored =
          stores_run(value_, run_bytes, machine_) ? run_bytes / vector_ * vector_ : 0;
      if (stored > 0) emitter_.store_run(repeated_, target_stream, run.at[0], stored);
      const int64_t lines = in_whole_lines(run);
      for (int64_t begin = stored; begin < run_bytes; begin += vector_) {
        const int bytes = static_cast<int>(std::min<int64_t>(vector_, run_bytes - begin));
        const Reg value = value_ == RowValue::copy
                              ? loaded(run.at[1] + begin, bytes,
                                       std::min<int64_t>(bytes, run_bytes - filled_bytes_ - begin))
                              : repeated_;
        pending_.push_back({value, run.at[0] + begin, bytes, begin < lines});
        if (static_cast<int64_t>(pending_.size()) == batch) flush();
      }
    }
    flush();
    return emitter_.take();
  }

 private:
  struct Pending {
    Reg value;
    int64_t offset;
    int bytes;
    bool in_whole_line;
  };

  struct Held {
    Reg value;
    int64_t offset;
    int bytes;
  };

  /// How much of a run lies in lines that it has whole, as far as is known: of a line that leaves
  /// one half around the caches and the other one through them both would wait for memory.
  int64_t in_whole_lines(const Run& run) const {
    const int64_t line = machine_.target.line_bytes;
    const int64_t bytes = run.elements * machine_.element_bytes;
    const bool on_line = first_line_ && (run.at[0] - *first_line_) % line == 0;
    return on_line && bytes % vector_ != 0 ? bytes / line * line : bytes;
  }

  /// The first `read` bytes come from the source, what is left of `bytes` is padding.
  Reg loaded(int64_t offset, int bytes, int64_t read) {
    if (asks_ && read > 0 && read < vector_) emitter_.ask_ahead(source_stream, offset, read);
    if (read == bytes) return held(offset, bytes);
    return read <= 0 ? repeated_ : emitter_.load_over(repeated_, source_stream, offset, read);
  }

  /// A load, or the register of the same one in an earlier run: the row repeats.
  Reg held(int64_t offset, int bytes) {
    for (const Held& load : held_) {
      if (load.offset == offset && load.bytes == bytes) return load.value;
    }
    const Reg value = emitter_.load(source_stream, offset, bytes);
    if (static_cast<int64_t>(held_.size()) < most_held_vectors(machine_.target))
      held_.push_back({value, offset, bytes});
    return value;
  }

  void flush() {
    for (const Pending& store : pending_) {
      if (machine_.claimed_ahead == 0) break;
      emitter_.claim_ahead(store.offset, store.bytes, machine_.claimed_ahead);
    }
    for (const Pending& store : pending_) {
      if (machine_.nontemporal && store.bytes == vector_ && store.in_whole_line) {
        emitter_.store_nontemporal(store.value, target_stream, store.offset);
      } else {
        emitter_.store(store.value, target_stream, store.offset, store.bytes);
      }
    }
    pending_.clear();
  }

  const RowValue value_;
  const int64_t filled_bytes_;
  const bool asks_;
  const Machine& machine_;
  const int64_t vector_;
  const std::optional<int64_t> first_line_;
  Emitter emitter_{machine_.target, machine_.vector_bytes};
  std::vector<Pending> pending_;
  std::vector<Held> held_;
  Reg repeated_ = program::none;  // the value of a run that does not come from memory
};

/// A row whose source and target count for themselves: what lies side by side in both is one run.
std::vector<Run> pieces(const std::vector<nest::Side>& row, const Strides& at) {
  std::vector<Run> runs;
  int64_t inside = 1;  // elements of an iteration of the first side
  for (size_t k = 1; k < row.size(); ++k) inside *= row[k].extent;
  const int64_t bytes = row.back().stride[0];
  for (int64_t i = 0; i < row.front().extent; ++i) {
    Strides here = row.front().at(i);
    for (size_t k = 0; k < here.size(); ++k) here[k] += at[k];
    const bool continues = !runs.empty() &&
                           here[0] - runs.back().at[0] == runs.back().elements * bytes &&
                           here[1] - runs.back().at[1] == runs.back().elements * bytes;
    if (continues) {
      runs.back().elements += inside;
    } else {
      runs.push_back({here, inside});
    }
  }
  return runs;
}

/// The first of the innermost sides that lie side by side in source and target, but for digits of
/// their own.
size_t row_begin(const nest::Tile& tile, int64_t bytes) {
  size_t k = tile.sides.size();
  while (k > 0 && tile.sides[k - 1].stride[0] == bytes && tile.sides[k - 1].stride[1] == bytes) {
    --k;
    if (!tile.sides[k].own.empty()) break;
    bytes *= tile.sides[k].extent;
  }
  return k;
}

/// Whether a tile of elements of so many bytes is one run of the source.
bool is_run_of_source(const nest::Tile& tile, int64_t bytes) {
  for (auto side = tile.sides.rbegin(); side != tile.sides.rend(); ++side) {
    if (side->stride[1] != bytes || !side->own.empty()) return false;
    bytes *= side->extent;
  }
  return true;
}

}  // namespace

Body emit_rows_of_pieces(const nest::Tile& tile, const Strides& at, const Machine& machine) {
  Machine regular = machine;
  regular.nontemporal = false;
  const auto row =
      tile.sides.begin() + static_cast<std::ptrdiff_t>(row_begin(tile, machine.element_bytes));
  Rows rows(RowValue::copy, 0, false, regular);
  Body body = body_of(rows.vectors(pieces({row, tile.sides.end()}, at)));
  for (auto side = row; side != tile.sides.begin();) body = repeat(*--side, std::move(body));
  return body;
}

namespace {

/// Rows with padding that are too long for straight-line code: whole lines of either, and the line
/// between.
Body emit_long_filled_rows(const nest::Tile& tile, const Strides& at, const Machine& machine) {
  const int64_t bytes = machine.element_bytes;
  const int64_t in_line = std::max<int64_t>(machine.target.line_bytes / bytes, 1);
  const nest::Side& run = tile.sides.back();
  const int64_t moved = run.extent - run.filled, whole = moved / in_line * in_line;
  const int64_t joined = std::min(ceil_div(moved, in_line) * in_line, run.extent);
  const auto part = [&](int64_t begin, int64_t end, RowValue value) {
    if (begin == end) return Body{};
    nest::Tile some = tile;
    nest::Side& elements = some.sides.back();
    elements.extent = end - begin;
    elements.filled = value == RowValue::copy ? std::max<int64_t>(end - moved, 0) : 0;
    return emit_rows(some, value, sum(at, run.at(begin)), machine);
  };
  Body body = part(0, whole, RowValue::copy);
  append(body, part(whole, joined, RowValue::copy));
  append(body, part(joined, run.extent, RowValue::fill));
  return body;
}

}  // namespace

Body emit_rows(const nest::Tile& tile, RowValue value, const Strides& at, const Machine& machine) {
  if (begin_between_lines(tile, value, machine))
    return emit_rows_between_lines(tile, value, at, machine);
  RowWalk walk{.sides = tile.sides,
               .most_straight_groups = most_straight_vectors,
               .looped_groups = looped_vectors};
  const int64_t bytes = machine.element_bytes;
  const bool run = !walk.sides.empty() && walk.sides.back().stride[0] == bytes;
  walk.elements = run ? walk.sides.back().extent : 1;
  const int64_t filled = run ? walk.sides.back().filled : 0;
  if (filled > 0 && walk.elements > most_straight_vectors * machine.vector_bytes / bytes)
    return emit_long_filled_rows(tile, at, machine);
  if (run) walk.sides.pop_back();
  walk.advance = {bytes, value == RowValue::copy ? bytes : 0};
  walk.group = std::max<int64_t>(1, machine.vector_bytes / bytes);
  // One load that takes every step is seen to go through the source.
  if (machine.nontemporal && machine.target.reads_ahead_by_step && value == RowValue::copy &&
      filled == 0 && is_run_of_source(tile, bytes)) {
    walk.most_straight_groups = walk.looped_groups = 1;
  }
  if (machine.nontemporal && value == RowValue::copy) walk.streams = machine.target.row_streams;
  const bool repeats =
      value == RowValue::copy && !walk.sides.empty() && walk.sides.back().stride[1] == 0;
  if (repeats) walk.most_straight_groups *= repeated_rows;
  if (filled == 0 && run) walk.first = machine.to_vectors / bytes;
  if (stores_run(value, walk.elements * bytes, machine)) {
    walk.group = walk.elements;
    walk.most_straight_groups = walk.looped_groups = 1;
  }
  const bool asks = !walk.sides.empty() && asks_page_ahead(machine, walk.sides.back().stride[1]);
  const int64_t line = machine.target.line_bytes;
  const bool on_lines = machine.alignment % line == 0 &&
                        std::all_of(walk.sides.begin(), walk.sides.end(), [&](const auto& side) {
                          return side.own.empty() && side.stride[0] % line == 0;
                        });
  if (on_lines) walk.line = std::max<int64_t>(line / bytes, 1);
  Rows rows(value, filled, asks, machine, on_lines ? std::optional(at[0]) : std::nullopt);
  return walk_rows(walk, at, [&](const std::vector<Run>& runs) { return rows.vectors(runs); });
}

}  // namespace restride
