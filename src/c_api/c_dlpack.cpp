// DLTensor -> Source with byte strides. DLPack counts strides in elements; this library in bytes.
#include "c_api/c_interface.hpp"

#if __has_include(<dlpack/dlpack.h>)

#include <dlpack/dlpack.h>

#include <array>

namespace restride {
namespace {

/// A row for every type both sides know. Codes by number: older headers lack the newer names.
struct Row {
  uint8_t code, bits;
  ElementType type;
};

constexpr std::array<Row, 23> rows = {{
    {0, 8, ElementType::s8},         {0, 16, ElementType::s16},
    {0, 32, ElementType::s32},       {0, 64, ElementType::s64},
    {1, 8, ElementType::u8},         {1, 16, ElementType::u16},
    {1, 32, ElementType::u32},       {1, 64, ElementType::u64},
    {2, 16, ElementType::f16},       {2, 32, ElementType::f32},
    {2, 64, ElementType::f64},       {4, 16, ElementType::bf16},
    {5, 64, ElementType::c64},       {5, 128, ElementType::c128},
    {6, 8, ElementType::pred},       {7, 8, ElementType::f8e3m4},
    {8, 8, ElementType::f8e4m3},     {9, 8, ElementType::f8e4m3b11fnuz},
    {10, 8, ElementType::f8e4m3fn},  {11, 8, ElementType::f8e4m3fnuz},
    {12, 8, ElementType::f8e5m2},    {13, 8, ElementType::f8e5m2fnuz},
    {14, 8, ElementType::f8e8m0fnu},
}};

Result<ElementType> element_type(const DLDataType& type, const std::string& name) {
  if (type.lanes != 1) {
    return Error{ErrorCode::unsupported,
                 name + ".dtype.lanes = " + std::to_string(type.lanes) + ": must be 1"};
  }
  for (const Row& row : rows) {
    if (row.code == type.code && row.bits == type.bits) return row.type;
  }
  return Error{ErrorCode::unsupported, name + ".dtype has code " + std::to_string(type.code) +
                                           " and " + std::to_string(type.bits) +
                                           " bits: no element type of this library"};
}

/// Strides in bytes. A dimension that is never walked gets 0, so that equal tensors are described
/// equally.
Result<std::vector<int64_t>> byte_strides(const DLTensor& tensor, const Shape& shape,
                                          const std::string& name) {
  const Result<int64_t> count = element_count(shape);
  if (!count) return count.error();
  const int64_t element_bytes = storage_bytes(shape.element_type);
  std::vector<int64_t> strides(shape.dimensions.size(), 0);
  int64_t compact = element_bytes;
  for (size_t i = strides.size(); i-- > 0;) {
    if (*count == 0 || shape.dimensions[i] == 1) continue;
    strides[i] = compact;
    compact *= shape.dimensions[i];  // at most the bytes of the array
    if (tensor.strides != nullptr &&
        __builtin_mul_overflow(tensor.strides[i], element_bytes, &strides[i])) {
      return Error{ErrorCode::invalid_argument, name + ".strides[" + std::to_string(i) +
                                                    "] = " + std::to_string(tensor.strides[i]) +
                                                    ": too large"};
    }
  }
  return strides;
}

Result<void> check(const DLTensor& tensor, const std::string& name) {
  if (tensor.device.device_type != kDLCPU) {
    return Error{ErrorCode::unsupported,
                 name + ".device.device_type = " + std::to_string(tensor.device.device_type) +
                     ": must be " + std::to_string(kDLCPU) + " (CPU)"};
  }
  if (tensor.ndim < 0 || tensor.ndim > RESTRIDE_MAX_RANK) {
    return Error{ErrorCode::invalid_argument, name + ".ndim = " + std::to_string(tensor.ndim) +
                                                  ": must be 0.." +
                                                  std::to_string(RESTRIDE_MAX_RANK)};
  }
  if (tensor.ndim != 0 && tensor.shape == nullptr) return null_argument(name + ".shape");
  return {};
}

}  // namespace

Result<Tensor> operand_from_dlpack(const void* given, const std::string& name) {
  if (given == nullptr) return null_argument(name);
  const DLTensor& tensor = *static_cast<const DLTensor*>(given);
  if (Result<void> usable = check(tensor, name); !usable) return usable.error();
  const Result<ElementType> type = element_type(tensor.dtype, name);
  if (!type) return type.error();

  Operand operand;
  operand.shape.element_type = *type;
  operand.shape.dimensions.assign(tensor.shape, tensor.shape + tensor.ndim);
  operand.shape.layout = default_layout(tensor.ndim);
  if (Result<void> valid = validate(operand.shape, name); !valid) return valid.error();
  Result<std::vector<int64_t>> strides = byte_strides(tensor, operand.shape, name);
  if (!strides) return strides.error();
  operand.byte_strides = *std::move(strides);
  std::byte* const data = static_cast<std::byte*>(tensor.data);
  return Tensor{std::move(operand), data == nullptr ? nullptr : data + tensor.byte_offset};
}

}  // namespace restride

#else

namespace restride {

Result<Tensor> operand_from_dlpack(const void*, const std::string&) {
  return Error{ErrorCode::unsupported, "this build has no DLPack"};
}

}  // namespace restride

#endif
