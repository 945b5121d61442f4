// Random problems: everything the notation can say about copies, biased to what goes wrong: sizes
// around powers of two, ragged tiles, sizes of 1 and 0. A draw that grows too big is thinned, never
// repeated.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

#include "support/cases.hpp"
#include "support/linear_index.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"

namespace restride::testing {
namespace {

using Sizes = std::vector<int64_t>;

int64_t random_size(Random& random) {
  constexpr std::array<int64_t, 4> powers{8, 16, 32, 64};
  const int64_t kind = random.between(0, 99);
  if (kind < 2) return 0;
  if (kind < 12) return 1;
  if (kind < 60) return random.between(2, 6);
  if (kind < 95) return random.choose(std::span<const int64_t>(powers)) + random.between(-1, 1);
  return random.between(60, 300);
}

int64_t product(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

Sizes random_sizes(Random& random, int64_t max_elements) {
  Sizes sizes(static_cast<size_t>(random.between(0, 6)));
  for (int64_t& size : sizes) size = random_size(random);
  while (product(sizes) > max_elements) {
    int64_t& largest = *std::max_element(sizes.begin(), sizes.end());
    largest = (largest + 1) / 2;
  }
  return sizes;
}

Sizes random_order(Random& random, size_t rank) {
  Sizes order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  if (!random.one_in(3)) random.shuffle(order);
  return order;
}

PaddingValue random_padding_value(Random& random, ElementType type) {
  if (type == ElementType::f8e8m0fnu) return PaddingValue::one;
  const bool complex = type == ElementType::c64 || type == ElementType::c128;
  constexpr std::array<PaddingValue, 5> values{PaddingValue::zero, PaddingValue::one,
                                               PaddingValue::unknown, PaddingValue::lowest,
                                               PaddingValue::highest};
  return values[static_cast<size_t>(random.between(0, complex ? 2 : 4))];
}

std::vector<Sizes> random_tiles(Random& random, size_t rank) {
  constexpr std::array<int64_t, 9> sides{1, 2, 4, 8, 16, 2, 4, 32, 128};
  std::vector<Sizes> tiles;
  size_t physical = rank;
  for (int64_t level = random.between(1, 2); level > 0; --level) {
    Sizes tile(static_cast<size_t>(
        random.between(1, std::min<int64_t>(3, static_cast<int64_t>(physical)))));
    size_t merged = 0;
    for (int64_t& side : tile) {
      side =
          random.one_in(6) ? random.between(1, 9) : random.choose(std::span<const int64_t>(sides));
      if (&side != &tile.back() && random.one_in(12)) {
        side = Layout::combine;
        ++merged;
      }
    }
    physical += tile.size() - 2 * merged;
    tiles.push_back(std::move(tile));
  }
  return tiles;
}

/// A random layout for the sizes and type of `shape`, whose buffer is at most `max_bytes`.
Layout random_layout(Random& random, Shape shape, int64_t max_bytes) {
  const size_t rank = shape.dimensions.size();
  Layout& layout = shape.layout;
  layout.minor_to_major = random_order(random, rank);
  const Layout plain = layout;
  const int64_t kind = random.between(0, 9);
  layout.padding_value = random_padding_value(random, shape.element_type);
  if (kind < 2 && rank > 0) {
    layout.padded_dimensions = shape.dimensions;
    for (int64_t& size : layout.padded_dimensions)
      size += random.one_in(3) ? random.between(0, 9) : 0;
  } else if (kind < 5 && rank > 0) {
    layout.tiles = random_tiles(random, rank);
  }
  if (layout.padded_dimensions.empty() && random.one_in(16)) {
    layout.tail_padding_alignment_in_elements = random.between(2, 130);
  }
  if (operand_extent(shape, {}).bytes() > max_bytes) return plain;
  return layout;
}

/// Strides that give every element bytes of its own, with gaps and either sign.
Sizes scattered_strides(Random& random, const Shape& shape) {
  Sizes strides(shape.dimensions.size());
  int64_t stride = storage_bytes(shape.element_type);
  for (const int64_t dimension : random_order(random, strides.size())) {
    const auto d = static_cast<size_t>(dimension);
    if (random.one_in(4)) stride += random.between(1, 3) * storage_bytes(shape.element_type);
    if (random.one_in(8)) stride += random.between(1, 7);
    strides[d] = random.one_in(3) ? -stride : stride;
    stride *= std::max<int64_t>(shape.dimensions[d], 1);
  }
  return strides;
}

Sizes source_strides(Random& random, const Shape& shape) {
  Sizes strides = scattered_strides(random, shape);
  for (int64_t& stride : strides) {
    if (random.one_in(5)) stride = 0;
    if (random.one_in(8)) stride = random.between(-64, 64);
  }
  return strides;
}

Layout default_layout(const Shape& shape) {
  Layout layout;
  layout.minor_to_major.resize(shape.dimensions.size());
  std::iota(layout.minor_to_major.rbegin(), layout.minor_to_major.rend(), 0);
  return layout;
}

/// The sizes of a source that broadcasts into the target, and where its dimensions go.
void broadcast_source(Random& random, const Shape& target, Source& source) {
  Sizes& sizes = source.shape.dimensions;
  sizes = target.dimensions;
  if (!random.one_in(3)) return;
  Sizes kept;
  for (size_t d = 0; d < target.dimensions.size(); ++d) {
    if (!random.one_in(3)) kept.push_back(static_cast<int64_t>(d));
  }
  if (random.one_in(3)) random.shuffle(kept);
  sizes.clear();
  for (const int64_t dimension : kept) {
    sizes.push_back(random.one_in(5) ? 1 : target.dimensions[static_cast<size_t>(dimension)]);
  }
  source.broadcast_dimensions = kept;
}

ElementType random_type(Random& random) {
  return static_cast<ElementType>(
      random.between(static_cast<int>(ElementType::pred), static_cast<int>(ElementType::c128)));
}

}  // namespace

void pack_elements(Random& random, Shape& shape) {
  const int least = bits(shape.element_type);
  if (least >= 8) return;
  shape.layout.element_size_in_bits = least;
  while (shape.layout.element_size_in_bits < 4 && random.one_in(4))
    shape.layout.element_size_in_bits *= 2;
  shape.layout.packing_order = random.one_in(4) ? PackingOrder::most_significant_first
                                                : PackingOrder::least_significant_first;
}

Problem random_problem(uint64_t seed) {
  Random random(seed);
  Problem problem;
  problem.sources.resize(1);
  Source& source = problem.sources[0];
  Shape& target = problem.target;
  target.element_type = source.shape.element_type = random_type(random);
  const int64_t max_bytes = random.one_in(40) ? 1 << 20 : (random.one_in(4) ? 1 << 16 : 1 << 12);
  target.dimensions = random_sizes(random, max_bytes / storage_bytes(target.element_type));
  broadcast_source(random, target, source);
  target.layout = random_layout(random, target, 2 * max_bytes);
  source.shape.layout = random_layout(random, source.shape, 2 * max_bytes);
  if (bits(target.element_type) < 8 && random.one_in(2)) {
    pack_elements(random, target);
    source.shape.layout.element_size_in_bits = target.layout.element_size_in_bits;
    source.shape.layout.packing_order = target.layout.packing_order;
    if (random.one_in(4)) pack_elements(random, source.shape);
    if (random.one_in(4)) source.shape.layout.element_size_in_bits = 0;
    if (random.one_in(8)) target.layout.element_size_in_bits = 0;
    return problem;
  }
  if (random.one_in(10)) {
    source.shape.layout = default_layout(source.shape);
    source.byte_strides = source_strides(random, source.shape);
  }
  if (random.one_in(10)) {
    target.layout = default_layout(target);
    problem.target_byte_strides = scattered_strides(random, target);
  }
  return problem;
}

}  // namespace restride::testing
