// Permutations of a small block: its source bytes are loaded as whole windows of contiguous bytes,
// every window of the target is gathered from them by constant two-source permutes, and is stored
// whole.
//
//     source  R G B R G B R G B ...   3 windows
//     target  R R R ...               window 0 = permute(permute(w0, w1), w2)
//             G G G ...               window 1 = ...
//
// A target window that needs k source windows takes k - 1 permutes (one, if k = 1 and the order
// differs). Small inner dimensions, where transposes would move pieces of a few bytes, keep that
// number low. Networks that share partial results between target windows are not in here.
#include <algorithm>

#include "emitter.hpp"
#include "microkernel.hpp"

namespace restride {
namespace {

using nest::Side;
using program::Body;
using program::Reg;

/// One element on its way.
struct Move {
  int64_t target, source;
};

/// Contiguous bytes of one operand that fit a vector.
struct Window {
  int64_t begin;
  int64_t bytes;
};

std::vector<Move> moves(const std::vector<Side>& sides) {
  std::vector<Move> result{{0, 0}};
  for (const Side& side : sides) {
    std::vector<Move> repeated;
    repeated.reserve(result.size() * static_cast<size_t>(side.extent));
    for (const Move& outer : result) {
      for (int64_t i = 0; i < side.extent; ++i) {
        repeated.push_back({outer.target + i * side.stride[0], outer.source + i * side.stride[1]});
      }
    }
    result = std::move(repeated);
  }
  std::sort(result.begin(), result.end(),
            [](const Move& a, const Move& b) { return a.target < b.target; });
  return result;
}

/// Cuts sorted offsets of elements into windows.
std::vector<Window> windows(const std::vector<int64_t>& offsets, int64_t element, int64_t vector) {
  std::vector<Window> result;
  for (const int64_t offset : offsets) {
    const bool continues = !result.empty() && result.back().begin + result.back().bytes == offset &&
                           result.back().bytes + element <= vector;
    if (continues) {
      result.back().bytes += element;
    } else {
      result.push_back({offset, element});
    }
  }
  return result;
}

class Permutation {
 public:
  Permutation(const nest::Tile& tile, const Strides& at, const Machine& machine, Tables& tables)
      : machine_(machine),
        tables_(tables),
        at_(at),
        element_(machine.element_bytes),
        vector_(machine.vector_bytes),
        moves_(moves(tile.sides)),
        emitter_(machine.target, machine.vector_bytes) {
    std::vector<int64_t> targets, sources;
    for (const Move& move : moves_) {
      targets.push_back(move.target);
      sources.push_back(move.source);
    }
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    targets_ = windows(targets, element_, vector_);
    sources_ = windows(sources, element_, vector_);
    loaded_.assign(sources_.size(), program::none);
  }

  Body emit() {
    size_t first = 0;
    for (const Window& window : targets_) {
      const size_t count = static_cast<size_t>(window.bytes / element_);
      store(window, gather(first, count));
      first += count;
    }
    return {emitter_.take()};
  }

 private:
  size_t source_window(int64_t source) const {
    const auto after =
        std::upper_bound(sources_.begin(), sources_.end(), source,
                         [](int64_t offset, const Window& w) { return offset < w.begin; });
    return static_cast<size_t>(after - sources_.begin()) - 1;
  }

  Reg load(size_t window) {
    // Registers left for results while every source window keeps its own.
    constexpr size_t reserve = 6;
    const bool keeps = sources_.size() + reserve <= static_cast<size_t>(machine_.target.registers);
    if (keeps && loaded_[window] != program::none) return loaded_[window];
    const Window& source = sources_[window];
    loaded_[window] =
        emitter_.load(source_stream, at_[1] + source.begin, static_cast<int>(source.bytes));
    return loaded_[window];
  }

  /// The register that holds moves [first, first + count) side by side.
  Reg gather(size_t first, size_t count) {
    std::vector<size_t> window(count), needed;
    for (size_t k = 0; k < count; ++k) {
      window[k] = source_window(moves_[first + k].source);
      needed.push_back(window[k]);
    }
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());

    const size_t slots = static_cast<size_t>(vector_ / element_);
    Reg result = load(needed[0]);
    for (size_t n = needed.size() == 1 ? 0 : 1; n < needed.size(); ++n) {
      std::vector<uint8_t> table(slots, program::undefined);
      bool identity = n == 0;
      for (size_t k = 0; k < count; ++k) {
        const Window& from = sources_[window[k]];
        const auto slot = static_cast<size_t>((moves_[first + k].source - from.begin) / element_);
        if (n > 0 && window[k] == needed[n]) {
          table[k] = static_cast<uint8_t>(slots + slot);
        } else if (window[k] == needed[0] && n <= 1) {
          table[k] = static_cast<uint8_t>(slot);
        } else if (window[k] < needed[n]) {
          table[k] = static_cast<uint8_t>(k);
        }
        identity = identity && table[k] == k;
      }
      if (identity) break;
      const Reg second = n > 0 ? load(needed[n]) : program::none;
      result = emitter_.permute(static_cast<int>(element_), result, second,
                                tables_.add(std::move(table)));
    }
    return result;
  }

  void store(const Window& window, Reg value) {
    const int64_t offset = at_[0] + window.begin;
    const bool aligned = machine_.alignment % vector_ == 0 && window.begin % vector_ == 0;
    if (aligned && window.bytes == vector_) {
      emitter_.store_nontemporal(value, target_stream, offset);
    } else {
      emitter_.store(value, target_stream, offset, static_cast<int>(window.bytes));
    }
  }

  const Machine& machine_;
  Tables& tables_;
  Strides at_;
  int64_t element_, vector_;
  std::vector<Move> moves_;  // in the order of the target
  std::vector<Window> targets_, sources_;
  std::vector<Reg> loaded_;
  Emitter emitter_;
};

}  // namespace

Body emit_permutation(const nest::Tile& tile, const Strides& at, const Machine& machine,
                      Tables& tables) {
  return Permutation(tile, at, machine, tables).emit();
}

}  // namespace restride
