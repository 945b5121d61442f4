// Two passes: every element of the target's buffer that no logical index reaches is filled, kept or
// free; then every logical index is walked and its element computed.
#include "support/oracle.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "support/linear_index.hpp"
#include "support/reference_math.hpp"

namespace restride::testing {
namespace {

using Index = std::vector<int64_t>;

int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

bool has_elements(const Shape& shape) {
  return std::find(shape.dimensions.begin(), shape.dimensions.end(), 0) == shape.dimensions.end();
}

/// Bits from one element of a buffer to the next.
int64_t slot_bits(const Shape& shape) {
  const int64_t packed = shape.layout.element_size_in_bits;
  return packed != 0 ? packed : 8 * storage_bytes(shape.element_type);
}

/// The next index in row-major order; false after the last.
bool advance(Index& index, const std::vector<int64_t>& sizes) {
  for (size_t d = sizes.size(); d-- > 0;) {
    if (++index[d] < sizes[d]) return true;
    index[d] = 0;
  }
  return false;
}

/// Where the elements of one operand lie: positions are bits from the first byte of its extent.
class Elements {
 public:
  Elements(const Shape& shape, std::span<const int64_t> byte_strides)
      : shape_(shape),
        byte_strides_(byte_strides),
        strided_(!byte_strides.empty()),
        linear_(shape),
        begin_(operand_extent(shape, byte_strides).begin),
        bits_(slot_bits(shape)) {}

  const LinearIndex& linear() const { return linear_; }
  bool strided() const { return strided_; }

  int64_t position(const Index& index) const {
    if (!strided_) return linear_(index) * bits_;
    int64_t offset = -begin_;
    for (size_t d = 0; d < index.size(); ++d) offset += index[d] * byte_strides_[d];
    return 8 * offset;
  }
  int64_t position_of_element(int64_t element) const { return element * bits_; }

  Element read(std::span<const std::byte> bytes, int64_t position) const {
    Element value{};
    if (bits_ >= 8) {
      std::memcpy(value.data(), &bytes[static_cast<size_t>(position / 8)],
                  static_cast<size_t>(bits_ / 8));
    } else {
      value[0] = (bytes[static_cast<size_t>(position / 8)] >> shift(position)) & ones();
    }
    return value;
  }

  void write(std::span<std::byte> bytes, int64_t position, const Element& value) const {
    std::byte& first = bytes[static_cast<size_t>(position / 8)];
    if (bits_ >= 8) {
      std::memcpy(&first, value.data(), static_cast<size_t>(bits_ / 8));
    } else {
      first = (first & ~(ones() << shift(position))) | ((value[0] & ones()) << shift(position));
    }
  }

 private:
  std::byte ones() const { return static_cast<std::byte>((1 << bits_) - 1); }
  int shift(int64_t position) const {
    const bool least_first = shape_.layout.packing_order == PackingOrder::least_significant_first;
    const int64_t low = position % 8;
    return static_cast<int>(least_first ? low : 8 - bits_ - low);
  }

  const Shape& shape_;
  std::span<const int64_t> byte_strides_;
  bool strided_;
  LinearIndex linear_;
  int64_t begin_;
  int64_t bits_;
};

/// Sets `index` to what a target index reads of a source: section 4.
void find_source_index(const Source& source, const Index& target_index, Index& index) {
  const std::vector<int64_t>& sizes = source.shape.dimensions;
  index.resize(sizes.size());
  for (size_t k = 0; k < sizes.size(); ++k) {
    const size_t d = source.broadcast_dimensions.empty()
                         ? k
                         : static_cast<size_t>(source.broadcast_dimensions[k]);
    index[k] = sizes[k] == 1 ? 0 : target_index[d];
  }
}

/// The number of a list that a target index has; nothing of an empty list.
std::optional<double> number_of(const std::vector<double>& list, int64_t dimension,
                                const Index& index) {
  if (list.empty()) return {};
  return list.size() == 1 ? list[0]
                          : list[static_cast<size_t>(index[static_cast<size_t>(dimension)])];
}

/// What the elements of the sources make at a target index.
Element computed(const Problem& problem, std::span<const Element> elements, const Index& index) {
  const ElementType from = problem.sources[0].shape.element_type;
  const ElementType to = problem.target.element_type;
  if (problem.operation == Operation::copy) return elements[0];
  if (problem.operation != Operation::convert) {
    return reference_compute(problem.operation, from, elements[0], elements[1]);
  }
  const Affine& affine = problem.affine;
  const auto number = [&](const std::vector<double>& list) {
    return number_of(list, affine.dimension, index);
  };
  if (affine.scale.empty()) return reference_convert(from, to, elements[0]);
  return reference_affine(from, to, elements[0],
                          {*number(affine.scale), number(affine.zero_point), number(affine.bias)});
}

Element all_ones() {
  Element value;
  value.fill(std::byte{0xFF});
  return value;
}

/// Everything in the buffer behind and between the elements of the array.
void fill(const Shape& shape, const Elements& elements, Expectation& result) {
  int64_t logical = 1;
  for (int64_t size : shape.dimensions) logical *= size;
  const int64_t inside = elements.linear().elements();
  const int64_t total = round_up(inside, shape.layout.tail_padding_alignment_in_elements);
  if (total == logical) return;
  const Element padding = *padding_bytes(shape.element_type, shape.layout.padding_value);
  const bool kept = shape.layout.padding_value == PaddingValue::unknown;
  for (int64_t element = 0; element < total; ++element) {
    using Place = LinearIndex::Place;
    const Place place = element < inside ? elements.linear().place(element) : Place::fill;
    const int64_t position = elements.position_of_element(element);
    if (place == Place::hole) {
      elements.write(result.free, position, all_ones());
      result.has_holes = true;
    } else if (place == Place::fill && !kept) {
      elements.write(result.bytes, position, padding);
      elements.write(result.written, position, all_ones());
    }
  }
}

/// The bits behind the last packed element belong to nobody.
void free_last_bits(const Shape& shape, const Elements& elements, Expectation& result) {
  const int64_t total =
      round_up(elements.linear().elements(), shape.layout.tail_padding_alignment_in_elements);
  const int64_t end = 8 * static_cast<int64_t>(result.bytes.size());
  for (int64_t bit = total * slot_bits(shape); bit < end; bit += slot_bits(shape)) {
    elements.write(result.free, bit, all_ones());
    result.has_holes = true;
  }
}

/// Bytes before the first word with a wrong bit, or before what is left of whole words: tests
/// mostly compare what is right.
size_t right_words(const Expectation& expectation, std::span<const std::byte> before,
                   std::span<const std::byte> after) {
  const auto word = [](std::span<const std::byte> bytes, size_t at) {
    uint64_t value;
    std::memcpy(&value, &bytes[at], sizeof value);
    return value;
  };
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= after.size(); at += sizeof(uint64_t)) {
    const uint64_t written = word(expectation.written, at);
    const uint64_t expected =
        (word(expectation.bytes, at) & written) | (word(before, at) & ~written);
    if (((expected ^ word(after, at)) & ~word(expectation.free, at)) != 0) break;
  }
  return at;
}

}  // namespace

Extent operand_extent(const Shape& shape, std::span<const int64_t> byte_strides) {
  if (byte_strides.empty()) {
    const int64_t elements =
        round_up(LinearIndex(shape).elements(), shape.layout.tail_padding_alignment_in_elements);
    return {0, round_up(elements * slot_bits(shape), 8) / 8};
  }
  if (!has_elements(shape)) return {};
  Extent extent{0, storage_bytes(shape.element_type)};
  for (size_t d = 0; d < byte_strides.size(); ++d) {
    const int64_t reach = (shape.dimensions[d] - 1) * byte_strides[d];
    (reach < 0 ? extent.begin : extent.end) += reach;
  }
  return extent;
}

Extent target_extent(const Problem& problem) {
  return operand_extent(problem.target, problem.target_byte_strides);
}

Extent source_extent(const Problem& problem, int source) {
  const Source& from = problem.sources[static_cast<size_t>(source)];
  return operand_extent(from.shape, from.byte_strides);
}

Expectation expect(const Problem& problem, std::span<const std::span<const std::byte>> sources) {
  const Elements target(problem.target, problem.target_byte_strides);
  const auto bytes = static_cast<size_t>(target_extent(problem).bytes());
  Expectation result;
  result.bytes.resize(bytes);
  result.written.resize(bytes);
  result.free.resize(bytes);
  if (!target.strided()) {
    fill(problem.target, target, result);
    free_last_bits(problem.target, target, result);
  }
  std::vector<Elements> from;
  for (const Source& source : problem.sources) from.emplace_back(source.shape, source.byte_strides);
  std::vector<Element> elements(from.size());
  Index index(problem.target.dimensions.size());
  Index read;
  bool more = has_elements(problem.target);
  for (; more; more = advance(index, problem.target.dimensions)) {
    for (size_t k = 0; k < from.size(); ++k) {
      find_source_index(problem.sources[k], index, read);
      elements[k] = from[k].read(sources[k], from[k].position(read));
    }
    const int64_t position = target.position(index);
    target.write(result.bytes, position, computed(problem, elements, index));
    target.write(result.written, position, all_ones());
  }
  result.written_bytes = std::count_if(result.written.begin(), result.written.end(),
                                       [](std::byte byte) { return byte != std::byte{0}; });
  return result;
}

std::optional<std::string> find_difference(const Expectation& expectation,
                                           std::span<const std::byte> before,
                                           std::span<const std::byte> after) {
  for (size_t i = right_words(expectation, before, after); i < after.size(); ++i) {
    const std::byte written = expectation.written[i];
    const std::byte expected = (expectation.bytes[i] & written) | (before[i] & ~written);
    const std::byte wrong = (expected ^ after[i]) & ~expectation.free[i];
    if (wrong == std::byte{0}) continue;
    char text[128];
    std::snprintf(text, sizeof text, "byte %zu of %zu is 0x%02x, must be 0x%02x (%s; was 0x%02x)",
                  i, expectation.bytes.size(), static_cast<unsigned>(after[i]),
                  static_cast<unsigned>(expected),
                  written == std::byte{0} ? "to be left alone" : "to be written",
                  static_cast<unsigned>(before[i]));
    return text;
  }
  return std::nullopt;
}

}  // namespace restride::testing
