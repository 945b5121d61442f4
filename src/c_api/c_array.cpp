// restride_array -> Source: the caller's numbers, put into a Shape. Only what would be unsafe to
// read is checked here.
#include <span>

#include "c_api/c_interface.hpp"

namespace restride {
namespace {

Error out_of_range(const std::string& field, int64_t value, int64_t first, int64_t last) {
  return {ErrorCode::invalid_argument, field + " = " + std::to_string(value) + ": must be " +
                                           std::to_string(first) + ".." + std::to_string(last)};
}

Result<void> check_range(const std::string& field, int64_t value, int64_t first, int64_t last) {
  if (value < first || value > last) return out_of_range(field, value, first, last);
  return {};
}

std::vector<int64_t> list(const int64_t* values, int64_t count) {
  return values == nullptr ? std::vector<int64_t>{} : std::vector<int64_t>(values, values + count);
}

Result<void> read_tiles(const restride_array& array, const std::string& name, Layout& layout) {
  const int64_t count = array.tile_count;
  if (Result<void> fits = check_range(name + ".tile_count", count, 0, RESTRIDE_MAX_RANK); !fits) {
    return fits.error();
  }
  if (count == 0) return {};
  if (array.tile_ranks == nullptr) return null_argument(name + ".tile_ranks");
  if (array.tile_dimensions == nullptr) return null_argument(name + ".tile_dimensions");
  const int64_t* next = array.tile_dimensions;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t rank = array.tile_ranks[i];
    const std::string field = name + ".tile_ranks[" + std::to_string(i) + "]";
    if (Result<void> fits = check_range(field, rank, 0, RESTRIDE_MAX_RANK); !fits) {
      return fits.error();
    }
    std::vector<int64_t> tile = list(next, rank);
    for (int64_t& entry : tile) {
      if (entry < 0) entry = Layout::combine;
    }
    layout.tiles.push_back(std::move(tile));
    next += rank;
  }
  return {};
}

}  // namespace

Result<Operand> operand_from_array(const restride_array* given, const std::string& name) {
  const Result<restride_array> array = read_struct(given, name);
  if (!array) return array.error();
  const int64_t rank = array->rank;
  for (const Result<void>& fits :
       {check_range(name + ".element_type", array->element_type, RESTRIDE_PRED, RESTRIDE_C128),
        check_range(name + ".padding_value", array->padding_value, RESTRIDE_ZERO_PAD,
                    RESTRIDE_UNKNOWN_PAD),
        check_range(name + ".rank", rank, 0, RESTRIDE_MAX_RANK),
        check_range(name + ".broadcast_rank", array->broadcast_rank, 0, RESTRIDE_MAX_RANK)}) {
    if (!fits) return fits.error();
  }
  if (rank != 0 && array->dimensions == nullptr) return null_argument(name + ".dimensions");
  if (array->broadcast_rank != 0 && array->broadcast_dimensions == nullptr) {
    return null_argument(name + ".broadcast_dimensions");
  }

  Operand operand;
  Shape& shape = operand.shape;
  shape.element_type = static_cast<ElementType>(array->element_type);
  shape.dimensions = list(array->dimensions, rank);
  shape.layout = default_layout(static_cast<int>(rank));
  if (array->minor_to_major != nullptr) {
    shape.layout.minor_to_major = list(array->minor_to_major, rank);
  }
  shape.layout.padded_dimensions = list(array->padded_dimensions, rank);
  shape.layout.padding_value = static_cast<PaddingValue>(array->padding_value);
  if (Result<void> tiled = read_tiles(*array, name, shape.layout); !tiled) return tiled.error();
  operand.byte_strides = list(array->byte_strides, rank);
  operand.broadcast_dimensions = list(array->broadcast_dimensions, array->broadcast_rank);
  return operand;
}

}  // namespace restride
