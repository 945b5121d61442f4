#include "oracle.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "element_meaning.hpp"
#include "element_walk.hpp"
#include "restride/index.hpp"

namespace restride::tools {
namespace {

using Element = std::array<std::byte, 16>;

/// A buffer read by the place of an element in it.
class Elements {
 public:
  Elements(const Shape& shape, std::span<const std::byte> bytes)
      : bytes_(bytes),
        packed_bits_(shape.layout.element_size_in_bits),
        order_(shape.layout.packing_order),
        size_bytes_(storage_bytes(shape.element_type)) {}

  /// Unused bytes are zero.
  Element at(int64_t place) const {
    Element element{};
    if (packed_bits_ == 0) {
      std::memcpy(element.data(), bytes_.data() + place * size_bytes_,
                  static_cast<size_t>(size_bytes_));
      return element;
    }
    const int64_t in_byte = place % (8 / packed_bits_) * packed_bits_;
    const int64_t shift =
        order_ == PackingOrder::least_significant_first ? in_byte : 8 - packed_bits_ - in_byte;
    const auto byte =
        std::to_integer<unsigned>(bytes_[static_cast<size_t>(place * packed_bits_ / 8)]);
    element[0] = static_cast<std::byte>(byte >> shift & ((1u << packed_bits_) - 1));
    return element;
  }

  /// What is left of an element in this buffer: packed, its low bits.
  Element kept(Element element) const {
    if (packed_bits_ != 0) element[0] &= static_cast<std::byte>((1u << packed_bits_) - 1);
    return element;
  }

  /// The value as an integer would be written: most significant byte first.
  std::string text(const Element& element) const {
    std::string text = "0x";
    for (int64_t i = size_bytes_; i > 0; --i) {
      char digits[4];
      std::snprintf(digits, sizeof digits, "%02x",
                    std::to_integer<unsigned>(element[static_cast<size_t>(i - 1)]));
      text += digits;
    }
    return text;
  }

 private:
  std::span<const std::byte> bytes_;
  int64_t packed_bits_;
  PackingOrder order_;
  int64_t size_bytes_;
};

std::string to_text(const std::vector<int64_t>& index) {
  std::string text = "(";
  for (const int64_t i : index) text += (text.size() > 1 ? "," : "") + std::to_string(i);
  return text + ")";
}

/// Where the target's element comes from: dimensions of size 1 are stretched, others follow their
/// target dimension.
void find_source_index(const Source& source, const std::vector<int64_t>& target_index,
                       std::vector<int64_t>& source_index) {
  for (size_t k = 0; k < source_index.size(); ++k) {
    const size_t dim = source.broadcast_dimensions.empty()
                           ? k
                           : static_cast<size_t>(source.broadcast_dimensions[k]);
    source_index[k] = source.shape.dimensions[k] == 1 ? 0 : target_index[dim];
  }
}

std::string difference_text(const std::string& where, const Elements& elements,
                            const Element& found, const Element& wanted) {
  return "wrong result: the target's " + where + " is " + elements.text(found) + ", must be " +
         elements.text(wanted);
}

/// What the problem makes of its sources at one index of the target.
class Wanted {
 public:
  Wanted(const Problem& problem, std::span<const std::span<const std::byte>> sources)
      : problem_(problem), meaning_(problem) {
    for (size_t k = 0; k < problem.sources.size(); ++k) {
      const Shape& shape = problem.sources[k].shape;
      sources_.emplace_back(shape, sources[k]);
      indices_.emplace_back(shape.dimensions.size(), 0);
    }
  }

  Element at(const std::vector<int64_t>& index) {
    std::array<Element, 2> elements;
    std::array<const std::byte*, 2> pointers{};
    for (size_t k = 0; k < sources_.size(); ++k) {
      const Source& source = problem_.sources[k];
      find_source_index(source, index, indices_[k]);
      elements[k] =
          sources_[k].at(multidimensional_index_to_linear_index(source.shape, indices_[k]));
      pointers[k] = elements[k].data();
    }
    const int64_t dimension = problem_.affine.dimension;
    Element wanted{};
    meaning_(pointers.data(), dimension < 0 ? 0 : index[static_cast<size_t>(dimension)],
             wanted.data());
    return wanted;
  }

 private:
  const Problem& problem_;
  ElementMeaning meaning_;
  std::vector<Elements> sources_;
  std::vector<std::vector<int64_t>> indices_;
};

/// Compares the elements one by one and marks their places.
Comparison compare_elements(const Problem& problem, Wanted wanted_elements, const Elements& target,
                            std::vector<bool>& computed) {
  std::vector<int64_t> index(problem.target.dimensions.size(), 0);
  Comparison comparison;
  if (is_zero_element(problem.target)) return comparison;
  do {
    const int64_t place = multidimensional_index_to_linear_index(problem.target, index);
    const Element found = target.at(place), wanted = target.kept(wanted_elements.at(index));
    if (found != wanted) {
      comparison.difference = difference_text("element " + to_text(index), target, found, wanted);
      return comparison;
    }
    computed[static_cast<size_t>(place)] = true;
    ++comparison.elements;
  } while (bump_indices(problem.target, index));
  return comparison;
}

/// The first difference in what no element covers.
std::string compare_padding(const Elements& target, const Element& padding,
                            const std::vector<bool>& computed) {
  for (size_t place = 0; place < computed.size(); ++place) {
    if (computed[place]) continue;
    const Element found = target.at(static_cast<int64_t>(place));
    if (found == padding) continue;
    return difference_text("padding at place " + std::to_string(place), target, found, padding);
  }
  return {};
}

}  // namespace

Result<Comparison> compare_with_oracle(const Problem& problem,
                                       std::span<const std::span<const std::byte>> sources,
                                       std::span<const std::byte> target) {
  const Result<int64_t> places = buffer_elements(problem.target);
  if (!places) return places.error();
  std::vector<bool> computed(static_cast<size_t>(*places), false);
  const Elements target_elements(problem.target, target);
  // The fast walk only ever says that all is well; what is wrong, and where, the slow one finds.
  Comparison comparison = {.elements = count_equal_elements(problem, sources, target, computed)};
  if (comparison.elements == 0) {
    comparison = compare_elements(problem, Wanted(problem, sources), target_elements, computed);
  }
  const PaddingValue value = problem.target.layout.padding_value;
  if (!comparison.difference.empty() || value == PaddingValue::unknown) return comparison;
  // The holes that a tile leaves when it cuts another one unevenly have no required value.
  if (problem.target.layout.tiles.size() > 1) return comparison;
  const Result<Element> padding = padding_bytes(problem.target.element_type, value);
  if (!padding) return padding.error();
  comparison.difference = compare_padding(target_elements, *padding, computed);
  return comparison;
}

}  // namespace restride::tools
