#include "array_file.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "model/tiles.hpp"
#include "npy.hpp"

namespace restride::tools {
namespace {

/// The names of an element type in .npy files: the first is written, all are read.
struct TypeNames {
  ElementType type;
  std::array<std::string_view, 4> names;
};

constexpr TypeNames type_names[] = {
    {ElementType::pred, {"|b1"}},
    {ElementType::s8, {"|i1"}},
    {ElementType::s16, {"<i2"}},
    {ElementType::s32, {"<i4"}},
    {ElementType::s64, {"<i8"}},
    {ElementType::u8, {"|u1"}},
    {ElementType::u16, {"<u2"}},
    {ElementType::u32, {"<u4"}},
    {ElementType::u64, {"<u8"}},
    {ElementType::f16, {"<f2"}},
    {ElementType::bf16, {"<V2", "|V2", "bfloat16", "<u2"}},
    {ElementType::f32, {"<f4"}},
    {ElementType::f64, {"<f8"}},
    {ElementType::c64, {"<c8"}},
    {ElementType::c128, {"<c16"}},
};

/// What NumPy lacks takes one byte: small integers and 8-bit floats.
constexpr std::array<std::string_view, 4> byte_names = {"|V1", "<V1", "|u1", "|i1"};

bool is_grid(const Shape& shape) {
  return shape.layout.element_size_in_bits == 0 &&
         shape.layout.tail_padding_alignment_in_elements <= 1;
}

/// A buffer that is no grid is a row of bytes.
std::array<std::string_view, 4> accepted_types(const Shape& shape) {
  if (!is_grid(shape)) return {"|u1", "|V1"};
  for (const TypeNames& row : type_names) {
    if (row.type == shape.element_type) return row.names;
  }
  return byte_names;
}

std::string to_text(const std::vector<int64_t>& dimensions) {
  std::string text = "[";
  for (const int64_t size : dimensions) text += (text.size() > 1 ? "," : "") + std::to_string(size);
  return text + "]";
}

Error mismatch(const std::string& path, const std::string& what) {
  return Error{ErrorCode::invalid_argument, path + ": " + what};
}

Result<void> check_type(const std::string& path, const std::string& found, const Shape& shape) {
  const auto accepted = accepted_types(shape);
  if (!found.empty() && std::find(accepted.begin(), accepted.end(), found) != accepted.end())
    return {};
  if (found.starts_with('>')) {
    return mismatch(
        path, "element type " + found + " is big-endian: only little-endian files are supported");
  }
  if (found.starts_with("|O")) return mismatch(path, "Python objects are not supported");
  return mismatch(path, "element type '" + found +
                            "': " + std::string(to_string(shape.element_type)) + " needs " +
                            std::string(accepted.front()));
}

}  // namespace

std::vector<int64_t> file_dimensions(const Shape& shape, int64_t buffer_bytes) {
  if (!is_grid(shape)) return {buffer_bytes};
  std::vector<PhysicalDimension> physical = physical_dimensions(shape, {});
  for (const std::vector<int64_t>& tile : shape.layout.tiles) {
    if (apply_tile(tile, physical) == Checked::overflows) return {buffer_bytes};
  }
  std::vector<int64_t> sizes;
  for (const PhysicalDimension& dimension : physical) sizes.push_back(dimension.size);
  return sizes;
}

std::string npy_type(const Shape& shape) { return std::string(accepted_types(shape).front()); }

Result<std::span<const std::byte>> find_buffer(const std::string& path,
                                               std::span<const std::byte> file, const Shape& shape,
                                               int64_t buffer_bytes) {
  if (!is_npy(file)) {
    if (std::ssize(file) == buffer_bytes) return file;
    return mismatch(path, "no .npy file, and " + std::to_string(file.size()) +
                              " bytes: the source has " + std::to_string(buffer_bytes));
  }
  const Result<NpyHeader> header = parse_npy_header(file);
  if (!header) return mismatch(path, header.error().message);
  if (const Result<void> type = check_type(path, header->descr, shape); !type) return type.error();
  std::vector<int64_t> found = header->dimensions;
  if (header->fortran_order) std::reverse(found.begin(), found.end());
  const std::vector<int64_t> wanted = file_dimensions(shape, buffer_bytes);
  if (found != wanted) {
    return mismatch(path, "lies in memory as " + to_text(found) +
                              (header->fortran_order ? " (Fortran order)" : "") +
                              ": the source lies as " + to_text(wanted));
  }
  const std::span<const std::byte> data = file.subspan(static_cast<size_t>(header->data_offset));
  if (std::ssize(data) != buffer_bytes) {
    return mismatch(path, std::to_string(data.size()) + " bytes of data: the header promises " +
                              std::to_string(buffer_bytes));
  }
  return data;
}

}  // namespace restride::tools
