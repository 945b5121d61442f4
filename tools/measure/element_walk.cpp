// Each digit of a layout without `*` belongs to one dimension, and the place of an element is a sum
// over the digits. So it is a sum of one term per dimension, and the public index function tells
// the terms: those of the indices that are zero in all other dimensions.
//
// Two dimensions, the first source's fastest and the target's fastest, are walked in blocks that
// stay in cache; an odometer walks the others.
#include "element_walk.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "element_meaning.hpp"
#include "restride/index.hpp"

namespace restride::tools {
namespace {

constexpr int64_t block = 64;

/// Operands of a walk: the target, two sources, and the index that chooses the factors of an affine
/// conversion. Places count elements.
constexpr size_t target_operand = 0, first_source = 1, factor_operand = 3, operand_count = 4;
using Places = std::array<int64_t, operand_count>;

/// What one dimension of the target contributes to the places.
struct Terms {
  struct Term {
    int64_t stride = 0;
    std::vector<int64_t> table;  ///< by index; empty: index * stride

    int64_t at(int64_t i) const {
      return table.empty() ? i * stride : table[static_cast<size_t>(i)];
    }
  };
  int64_t extent = 1;
  std::array<Term, operand_count> of = {};

  /// The places at index i, from those at index 0.
  template <size_t operands>
  void add(int64_t i, Places& places) const {
    for (size_t k = 0; k < operands; ++k) places[k] += of[k].at(i);
  }
};

bool has_terms(const Shape& shape) {
  const Layout& layout = shape.layout;
  for (const auto& tile : layout.tiles)
    if (std::find(tile.begin(), tile.end(), Layout::combine) != tile.end()) return false;
  return layout.element_size_in_bits == 0;
}

/// The term of one dimension: a table where tiles cut it, else a stride.
Terms::Term find_term(const Shape& shape, size_t dim) {
  std::vector<int64_t> index(shape.dimensions.size(), 0);
  const auto place = [&](int64_t i) {
    index[dim] = i;
    return multidimensional_index_to_linear_index(shape, index);
  };
  Terms::Term term;
  if (shape.layout.tiles.empty()) {
    term.stride = shape.dimensions[dim] > 1 ? place(1) : 0;
    return term;
  }
  for (int64_t i = 0; i < shape.dimensions[dim]; ++i) term.table.push_back(place(i));
  return term;
}

std::vector<Terms> make_terms(const Problem& problem) {
  std::vector<Terms> terms(problem.target.dimensions.size());
  for (size_t dim = 0; dim < terms.size(); ++dim) {
    terms[dim].extent = problem.target.dimensions[dim];
    terms[dim].of[target_operand] = find_term(problem.target, dim);
  }
  for (size_t s = 0; s < problem.sources.size(); ++s) {
    const Source& source = problem.sources[s];
    for (size_t k = 0; k < source.shape.dimensions.size(); ++k) {
      // A dimension of size 1 is stretched: its term is 0 throughout.
      if (source.shape.dimensions[k] == 1) continue;
      const bool mapped = !source.broadcast_dimensions.empty();
      const size_t dim = mapped ? static_cast<size_t>(source.broadcast_dimensions[k]) : k;
      terms[dim].of[first_source + s] = find_term(source.shape, k);
    }
  }
  if (problem.affine.dimension >= 0) {
    terms[static_cast<size_t>(problem.affine.dimension)].of[factor_operand].stride = 1;
  }
  return terms;
}

/// Moves the two dimensions of the blocks to the end.
void move_block_dimensions_last(std::vector<Terms>& terms) {
  const auto step_of = [](const Terms& term, size_t operand) {
    const int64_t step = term.extent < 2 ? 0 : term.of[operand].at(1);
    return step == 0 ? INT64_MAX : step;
  };
  for (const size_t operand : {first_source, target_operand}) {
    const auto last = operand == first_source ? terms.end() : terms.end() - 1;
    if (last == terms.begin()) return;
    const auto fastest = std::min_element(terms.begin(), last, [&](const Terms& a, const Terms& b) {
      return step_of(a, operand) < step_of(b, operand);
    });
    std::iter_swap(fastest, last - 1);
  }
}

/// Whether the target has at its place what the sources make of theirs.
template <size_t bytes>
struct EqualCopies {
  static constexpr size_t operands = 2;
  const std::byte* target;
  const std::byte* source;

  bool operator()(const Places& places) const {
    constexpr auto size = static_cast<int64_t>(bytes);
    return std::memcmp(target + places[target_operand] * size, source + places[first_source] * size,
                       bytes) == 0;
  }
};

struct EqualResults {
  static constexpr size_t operands = operand_count;
  ElementMeaning meaning;
  const std::byte* target;
  std::array<const std::byte*, 2> sources;
  int64_t source_bytes, target_bytes;  ///< of an element

  bool operator()(const Places& places) const {
    const std::byte* const from[] = {sources[0] + places[first_source] * source_bytes,
                                     sources[1] + places[first_source + 1] * source_bytes};
    std::array<std::byte, 16> wanted;
    meaning(from, places[factor_operand], wanted.data());
    return std::memcmp(target + places[target_operand] * target_bytes, wanted.data(),
                       static_cast<size_t>(target_bytes)) == 0;
  }
};

template <class Equal>
struct Walk {
  const Equal& equal;
  std::vector<bool>& computed;
  const Terms &row, &column;
};

/// One block at the given places.
template <class Equal>
bool compare_block(const Walk<Equal>& walk, const Places& base, int64_t first_row,
                   int64_t first_column) {
  const int64_t end_row = std::min(first_row + block, walk.row.extent);
  const int64_t end_column = std::min(first_column + block, walk.column.extent);
  for (int64_t r = first_row; r < end_row; ++r) {
    Places in_row = base;
    walk.row.template add<Equal::operands>(r, in_row);
    for (int64_t c = first_column; c < end_column; ++c) {
      Places places = in_row;
      walk.column.template add<Equal::operands>(c, places);
      if (!walk.equal(places)) return false;
      if (!walk.computed.empty()) walk.computed[static_cast<size_t>(places[target_operand])] = true;
    }
  }
  return true;
}

template <class Equal>
bool compare_blocks(const Walk<Equal>& walk, const Places& base) {
  for (int64_t r = 0; r < walk.row.extent; r += block)
    for (int64_t c = 0; c < walk.column.extent; c += block)
      if (!compare_block(walk, base, r, c)) return false;
  return true;
}

template <class Equal>
bool compare(std::vector<Terms> terms, const Equal& equal, std::vector<bool>& computed) {
  while (terms.size() < 2) terms.insert(terms.begin(), Terms{});
  move_block_dimensions_last(terms);
  const Walk<Equal> walk = {equal, computed, *(terms.end() - 2), terms.back()};
  std::vector<int64_t> index(terms.size() - 2, 0);
  while (true) {
    Places base = {};
    for (size_t i = 0; i < index.size(); ++i)
      terms[i].template add<Equal::operands>(index[i], base);
    if (!compare_blocks(walk, base)) return false;
    size_t i = index.size();
    while (i > 0 && ++index[i - 1] == terms[i - 1].extent) index[--i] = 0;
    if (i == 0) return true;
  }
}

bool compare_copies(const Problem& problem, const std::byte* source, const std::byte* target,
                    std::vector<bool>& computed) {
  const auto compare_of = [&](auto equal) { return compare(make_terms(problem), equal, computed); };
  switch (storage_bytes(problem.target.element_type)) {
    case 1:
      return compare_of(EqualCopies<1>{target, source});
    case 2:
      return compare_of(EqualCopies<2>{target, source});
    case 4:
      return compare_of(EqualCopies<4>{target, source});
    case 8:
      return compare_of(EqualCopies<8>{target, source});
    default:
      return compare_of(EqualCopies<16>{target, source});
  }
}

}  // namespace

int64_t count_equal_elements(const Problem& problem,
                             std::span<const std::span<const std::byte>> sources,
                             std::span<const std::byte> target, std::vector<bool>& computed) {
  if (is_zero_element(problem.target) || !has_terms(problem.target)) return 0;
  for (const Source& source : problem.sources)
    if (!has_terms(source.shape)) return 0;
  const int64_t elements = *element_count(problem.target);
  // Without padding there is nothing to tell apart.
  std::vector<bool> none;
  std::vector<bool>& marks = elements == std::ssize(computed) ? none : computed;
  const bool is_copy = problem.operation == Operation::copy;
  const EqualResults results = {ElementMeaning(problem),
                                target.data(),
                                {sources.front().data(), sources.back().data()},
                                storage_bytes(problem.sources.front().shape.element_type),
                                storage_bytes(problem.target.element_type)};
  const bool equal = is_copy ? compare_copies(problem, sources.front().data(), target.data(), marks)
                             : compare(make_terms(problem), results, marks);
  if (!equal) return 0;
  if (&marks == &none) computed.assign(computed.size(), true);
  return elements;
}

}  // namespace restride::tools
