// Plain nested loops in the order of the target, as the compiler optimises them: what a user writes
// who has no library.
#include <cstdint>

#include "permutation.hpp"

namespace {

using namespace restride::bench;  // NOLINT: a module of one file

struct Element16 {
  uint64_t low, high;
};

template <class Element>
Move make_move(const Work& work) {
  std::vector<Dimension> outer = work.dimensions;
  if (outer.empty()) outer.push_back({1, 0, 0});
  const Dimension inner = outer.back();
  outer.pop_back();
  return [outer, inner](const std::byte* source, std::byte* target) {
    for_each(outer, source, target, [&](const std::byte* from, std::byte* to) {
      for (int64_t i = 0; i < inner.extent; ++i) {
        *reinterpret_cast<Element*>(to + i * inner.target_stride) =
            *reinterpret_cast<const Element*>(from + i * inner.source_stride);
      }
    });
  };
}

restride::Result<Move> prepare(const Work& work) {
  if (work.threads > 1) return does_not_apply("one thread only");
  switch (work.element_bytes) {
    case 1:
      return make_move<uint8_t>(work);
    case 2:
      return make_move<uint16_t>(work);
    case 4:
      return make_move<uint32_t>(work);
    case 8:
      return make_move<uint64_t>(work);
    default:
      return make_move<Element16>(work);
  }
}

constexpr Peer peer = {"naive", "-O3", prepare};

}  // namespace

const Peer* restride_peer() { return &peer; }
