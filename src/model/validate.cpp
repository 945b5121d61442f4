// validate(Shape): everything that can be wrong with a shape, one message for each, and the sizes
// that come out when nothing is. No message is built before an error is known.
#include <algorithm>

#include "base/arithmetic.hpp"
#include "base/checked.hpp"
#include "base/message.hpp"
#include "model/extents.hpp"
#include "model/tiles.hpp"

namespace restride {
namespace {

std::string count_of(const std::vector<int64_t>& list) { return std::to_string(list.size()); }

Result<void> check_dimensions(const Shape& shape, std::string_view name) {
  if (!is_element_type(shape.element_type)) {
    return invalid_value({name, "element_type"},
                         std::to_string(static_cast<int>(shape.element_type)),
                         "is no element type");
  }
  for (size_t i = 0; i < shape.dimensions.size(); ++i) {
    if (shape.dimensions[i] < 0) {
      return invalid_entry({name, "dimensions"}, i, shape.dimensions[i], "must be at least 0");
    }
  }
  return {};
}

/// The set of dimension numbers seen so far; small ranks need no memory.
class NumberSet {
 public:
  explicit NumberSet(size_t count) : large_(count > 64 ? count : 0) {}

  /// Whether the number is new.
  bool insert(int64_t number) {
    if (!large_.empty()) {
      const bool is_new = !large_[number];
      large_[number] = true;
      return is_new;
    }
    const uint64_t bit = uint64_t{1} << number;
    const bool is_new = (small_ & bit) == 0;
    small_ |= bit;
    return is_new;
  }

 private:
  uint64_t small_ = 0;
  std::vector<bool> large_;
};

Result<void> check_order(const Shape& shape, std::string_view name) {
  const auto& order = shape.layout.minor_to_major;
  const Field field{name, "minor_to_major"};
  const size_t rank = shape.dimensions.size();
  if (order.size() != rank) {
    return invalid(field, "has " + count_of(order) + " entries: must have " + std::to_string(rank) +
                              ", one per dimension");
  }
  NumberSet seen(rank);
  for (size_t i = 0; i < rank; ++i) {
    if (order[i] < 0 || order[i] >= static_cast<int64_t>(rank)) {
      return invalid_entry(field, i, order[i], "must be 0.." + std::to_string(rank - 1));
    }
    if (!seen.insert(order[i])) return invalid_entry(field, i, order[i], "stands there twice");
  }
  return {};
}

Result<void> check_padding(const Shape& shape, std::string_view name) {
  const Layout& layout = shape.layout;
  const auto& padded = layout.padded_dimensions;
  if (!is_padding_value(layout.padding_value)) {
    return invalid_value({name, "padding_value"},
                         std::to_string(static_cast<int>(layout.padding_value)), "must be 1..5");
  }
  if (padded.empty()) return {};
  const Field field{name, "padded_dimensions"};
  if (padded.size() != shape.dimensions.size()) {
    return invalid(field, "has " + count_of(padded) + " entries: must have " +
                              count_of(shape.dimensions) + ", one per dimension");
  }
  for (size_t i = 0; i < padded.size(); ++i) {
    if (padded[i] < shape.dimensions[i]) {
      return invalid_entry(
          field, i, padded[i],
          "must be at least " + std::to_string(shape.dimensions[i]) + ", the size without padding");
    }
  }
  if (layout.tiles.empty()) return {};
  return Error{ErrorCode::unsupported, text(field) + " together with tiles: not supported"};
}

Result<void> check_tile(const std::vector<int64_t>& tile, int64_t number, int64_t count,
                        std::string_view name) {
  const std::string field_name = "tiles[" + std::to_string(number) + ']';
  const Field field{name, field_name};
  if (tile.empty()) return invalid(field, "is empty: must have at least one entry");
  if (static_cast<int64_t>(tile.size()) > count) {
    return invalid(field, "has " + count_of(tile) + " entries: is applied to only " +
                              std::to_string(count) + " dimensions");
  }
  for (size_t k = 0; k < tile.size(); ++k) {
    if (tile[k] < 1 && tile[k] != Layout::combine) {
      return invalid_entry(field, k, tile[k], "must be at least 1, or *");
    }
  }
  if (tile.back() != Layout::combine) return {};
  return invalid(field, "ends in *: there is no more minor dimension to merge into");
}

Result<void> check_tiles(const Shape& shape, std::string_view name) {
  auto count = static_cast<int64_t>(shape.dimensions.size());
  for (size_t i = 0; i < shape.layout.tiles.size(); ++i) {
    const auto& tile = shape.layout.tiles[i];
    if (auto valid = check_tile(tile, i, count, name); !valid) return valid;
    count = dimensions_after(tile, count);
  }
  return {};
}

Result<void> check_storage(const Shape& shape, std::string_view name) {
  const Layout& layout = shape.layout;
  const int64_t tail = layout.tail_padding_alignment_in_elements;
  if (tail < 1) {
    return invalid_value({name, "tail_padding_alignment_in_elements"}, std::to_string(tail),
                         "must be at least 1");
  }
  if (layout.packing_order > PackingOrder::most_significant_first) {
    return invalid_value({name, "packing_order"},
                         std::to_string(static_cast<int>(layout.packing_order)),
                         "must be least_significant_first or most_significant_first");
  }
  const int64_t packed = layout.element_size_in_bits;
  if (packed == 0) return {};
  const Field field{name, "element_size_in_bits"};
  const int value_bits = bits(shape.element_type);
  const std::string type(to_string(shape.element_type));
  if (value_bits >= 8) {
    return invalid_value(field, std::to_string(packed), "must be 0: " + type + " fills its bytes");
  }
  if (packed != 1 && packed != 2 && packed != 4) {
    return invalid_value(field, std::to_string(packed), "must be 0, 1, 2 or 4");
  }
  if (packed >= value_bits) return {};
  return invalid_value(field, std::to_string(packed),
                       "must be at least " + std::to_string(value_bits) + ", the bits of " + type);
}

/// A product in which sizes of zero count as one, so that it bounds every stride; and whether there
/// were any.
struct Product {
  int64_t value = 1;
  bool has_zero = false;

  Checked times(int64_t size) {
    has_zero = has_zero || size == 0;
    return multiply(value, std::max<int64_t>(size, 1));
  }
  int64_t count() const { return has_zero ? 0 : value; }
};

Checked multiply_all(const std::vector<int64_t>& sizes, Product& product) {
  for (const int64_t size : sizes) {
    if (product.times(size) == Checked::overflows) return Checked::overflows;
  }
  return Checked::fits;
}

/// Places in the buffer without tail alignment. Precondition: the fields are right.
Checked multiply_places(const Shape& shape, Product& product) {
  const Layout& layout = shape.layout;
  if (layout.tiles.empty()) {
    return multiply_all(
        layout.padded_dimensions.empty() ? shape.dimensions : layout.padded_dimensions, product);
  }
  auto physical = physical_dimensions(shape, {});
  for (const auto& tile : layout.tiles) {
    if (apply_tile(tile, physical) == Checked::overflows) return Checked::overflows;
  }
  for (const PhysicalDimension& dimension : physical) {
    if (product.times(dimension.size) == Checked::overflows) return Checked::overflows;
  }
  return Checked::fits;
}

/// Bytes of `places` elements.
Checked count_bytes(const Shape& shape, int64_t places, int64_t& bytes) {
  if (shape.layout.element_size_in_bits != 0) {
    bytes = ceil_div(places, 8 / shape.layout.element_size_in_bits);
    return Checked::fits;
  }
  bytes = places;
  return multiply(bytes, storage_bytes(shape.element_type));
}

Error too_large(const Shape& shape, std::string_view name, const char* what) {
  return invalid_value({name, "dimensions"}, '[' + list_text(shape.dimensions) + ']',
                       std::string("the ") + what + " of the buffer overflow 64 bits");
}

/// Precondition: the fields are right.
Result<Extents> measure_valid(const Shape& shape, std::string_view name) {
  const int64_t tail = shape.layout.tail_padding_alignment_in_elements;
  Product elements, places;
  if (multiply_all(shape.dimensions, elements) == Checked::overflows ||
      multiply_places(shape, places) == Checked::overflows) {
    return too_large(shape, name, "elements");
  }
  int64_t bound = ceil_div(places.value, tail), bytes = 0;
  if (multiply(bound, tail) == Checked::overflows) return too_large(shape, name, "elements");
  if (count_bytes(shape, bound, bytes) == Checked::overflows) {
    return too_large(shape, name, "bytes");
  }
  Extents out{elements.count(), places.count(), places.has_zero ? 0 : bound, 0};
  if (!places.has_zero) out.buffer_bytes = bytes;
  return out;
}

}  // namespace

Result<Extents> measure(const Shape& shape, std::string_view name) {
  for (const auto check :
       {check_dimensions, check_order, check_padding, check_tiles, check_storage}) {
    if (auto valid = check(shape, name); !valid) return valid.error();
  }
  return measure_valid(shape, name);
}

Result<void> validate(const Shape& shape, std::string_view name) {
  auto extents = measure(shape, name);
  if (!extents) return extents.error();
  return {};
}

Result<void> validate_layout_for_shape(const Layout& layout, const Shape& shape) {
  return validate(Shape{shape.element_type, shape.dimensions, layout});
}

}  // namespace restride
