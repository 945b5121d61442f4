// Each digit of a layout without `*` belongs to one dimension, and the place of an element is a sum
// over the digits. So it is a sum of one term per dimension, and the public index function tells
// the terms: those of the indices that are zero in all other dimensions.
//
// Two dimensions, the source's fastest and the target's fastest, are walked in blocks that stay in
// cache; an odometer walks the others.
#include "element_walk.hpp"

#include <algorithm>
#include <cstring>

#include "restride/index.hpp"

namespace restride::tools {
namespace {

constexpr int64_t block = 64;

/// What one dimension of the target contributes to the two places.
struct Terms {
  int64_t extent = 1;
  std::vector<int64_t> source, target;  ///< by index; empty: index * stride
  int64_t source_stride = 0, target_stride = 0;

  int64_t source_at(int64_t i) const {
    return source.empty() ? i * source_stride : source[static_cast<size_t>(i)];
  }
  int64_t target_at(int64_t i) const {
    return target.empty() ? i * target_stride : target[static_cast<size_t>(i)];
  }
};

bool has_terms(const Shape& shape) {
  const Layout& layout = shape.layout;
  for (const auto& tile : layout.tiles)
    if (std::find(tile.begin(), tile.end(), Layout::combine) != tile.end()) return false;
  return layout.element_size_in_bits == 0;
}

/// The terms of one dimension: a table where tiles cut it, else a stride.
void find_terms(const Shape& shape, size_t dim, std::vector<int64_t>& table, int64_t& stride) {
  std::vector<int64_t> index(shape.dimensions.size(), 0);
  const auto place = [&](int64_t i) {
    index[dim] = i;
    return multidimensional_index_to_linear_index(shape, index);
  };
  if (shape.layout.tiles.empty()) {
    stride = shape.dimensions[dim] > 1 ? place(1) : 0;
    return;
  }
  for (int64_t i = 0; i < shape.dimensions[dim]; ++i) table.push_back(place(i));
}

std::vector<Terms> make_terms(const Problem& problem) {
  const Source& source = problem.sources.front();
  std::vector<Terms> terms(problem.target.dimensions.size());
  for (size_t dim = 0; dim < terms.size(); ++dim) {
    terms[dim].extent = problem.target.dimensions[dim];
    find_terms(problem.target, dim, terms[dim].target, terms[dim].target_stride);
  }
  for (size_t k = 0; k < source.shape.dimensions.size(); ++k) {
    // A dimension of size 1 is stretched: its term is 0 throughout.
    if (source.shape.dimensions[k] == 1) continue;
    const bool mapped = !source.broadcast_dimensions.empty();
    Terms& term = terms[mapped ? static_cast<size_t>(source.broadcast_dimensions[k]) : k];
    find_terms(source.shape, k, term.source, term.source_stride);
  }
  return terms;
}

/// Moves the two dimensions of the blocks to the end.
void move_block_dimensions_last(std::vector<Terms>& terms) {
  const auto step_of = [](const Terms& term, auto at) {
    return term.extent < 2 || (term.*at)(1) == 0 ? INT64_MAX : (term.*at)(1);
  };
  for (const auto at : {&Terms::source_at, &Terms::target_at}) {
    const auto last = at == &Terms::source_at ? terms.end() : terms.end() - 1;
    if (last == terms.begin()) return;
    const auto fastest = std::min_element(terms.begin(), last, [&](const Terms& a, const Terms& b) {
      return step_of(a, at) < step_of(b, at);
    });
    std::iter_swap(fastest, last - 1);
  }
}

struct Walk {
  const std::byte* source;
  const std::byte* target;
  std::vector<bool>& computed;
  const Terms &row, &column;
};

/// One block at the given places.
template <size_t bytes>
bool compare_block(const Walk& walk, int64_t source_base, int64_t target_base, int64_t first_row,
                   int64_t first_column) {
  const int64_t end_row = std::min(first_row + block, walk.row.extent);
  const int64_t end_column = std::min(first_column + block, walk.column.extent);
  for (int64_t r = first_row; r < end_row; ++r) {
    const int64_t source_row = source_base + walk.row.source_at(r);
    const int64_t target_row = target_base + walk.row.target_at(r);
    for (int64_t c = first_column; c < end_column; ++c) {
      const int64_t from = source_row + walk.column.source_at(c);
      const int64_t to = target_row + walk.column.target_at(c);
      if (std::memcmp(walk.source + from * static_cast<int64_t>(bytes),
                      walk.target + to * static_cast<int64_t>(bytes), bytes) != 0)
        return false;
      if (!walk.computed.empty()) walk.computed[static_cast<size_t>(to)] = true;
    }
  }
  return true;
}

template <size_t bytes>
bool compare_blocks(const Walk& walk, int64_t source_base, int64_t target_base) {
  for (int64_t r = 0; r < walk.row.extent; r += block)
    for (int64_t c = 0; c < walk.column.extent; c += block)
      if (!compare_block<bytes>(walk, source_base, target_base, r, c)) return false;
  return true;
}

template <size_t bytes>
bool compare(std::vector<Terms> terms, std::span<const std::byte> source,
             std::span<const std::byte> target, std::vector<bool>& computed) {
  while (terms.size() < 2) terms.insert(terms.begin(), Terms{});
  move_block_dimensions_last(terms);
  const Walk walk = {source.data(), target.data(), computed, *(terms.end() - 2), terms.back()};
  std::vector<int64_t> index(terms.size() - 2, 0);
  while (true) {
    int64_t source_base = 0, target_base = 0;
    for (size_t i = 0; i < index.size(); ++i) {
      source_base += terms[i].source_at(index[i]);
      target_base += terms[i].target_at(index[i]);
    }
    if (!compare_blocks<bytes>(walk, source_base, target_base)) return false;
    size_t i = index.size();
    while (i > 0 && ++index[i - 1] == terms[i - 1].extent) index[--i] = 0;
    if (i == 0) return true;
  }
}

}  // namespace

int64_t count_equal_elements(const Problem& problem, std::span<const std::byte> source,
                             std::span<const std::byte> target, std::vector<bool>& computed) {
  if (is_zero_element(problem.target) || !has_terms(problem.target) ||
      !has_terms(problem.sources.front().shape))
    return 0;
  const int64_t elements = *element_count(problem.target);
  // Without padding there is nothing to tell apart.
  std::vector<bool> none;
  std::vector<bool>& marks = elements == std::ssize(computed) ? none : computed;
  const auto compare_of = [&](auto compare) {
    return compare(make_terms(problem), source, target, marks);
  };
  bool equal = false;
  switch (storage_bytes(problem.target.element_type)) {
    case 1:
      equal = compare_of(compare<1>);
      break;
    case 2:
      equal = compare_of(compare<2>);
      break;
    case 4:
      equal = compare_of(compare<4>);
      break;
    case 8:
      equal = compare_of(compare<8>);
      break;
    case 16:
      equal = compare_of(compare<16>);
      break;
    default:
      return 0;
  }
  if (!equal) return 0;
  if (&marks == &none) computed.assign(computed.size(), true);
  return elements;
}

}  // namespace restride::tools
