// What the files of the C interface share: structs that grow, messages, and arrays and tensors as
// problems.
#pragma once

#include <cstring>
#include <string>

#include "restride/problem.hpp"
#include "restride/restride.h"
#include "restride/result.hpp"

namespace restride {

/// An array that is to be source or target of a Problem.
using Operand = Source;

/// Checks what the caller says of an array, `name` being "source" or "target". Whether it makes
/// sense as part of a problem is for validate(Problem).
Result<Operand> operand_from_array(const restride_array* array, const std::string& name);

/// A tensor as an operand with byte strides, and where its element with index 0 lies.
struct Tensor {
  Operand operand;
  std::byte* data;  ///< may be null
};
Result<Tensor> operand_from_dlpack(const void* tensor, const std::string& name);

inline Error null_argument(const std::string& name) {
  return {ErrorCode::invalid_argument, name + " = NULL: must not be"};
}

/// The largest struct that a caller may announce: a guard against garbage in struct_size.
constexpr size_t max_struct_bytes = 4096;

inline Result<size_t> struct_size(const void* given, const std::string& name) {
  if (given == nullptr) return null_argument(name);
  size_t size;
  std::memcpy(&size, given, sizeof size);
  if (size < sizeof size || size > max_struct_bytes) {
    return Error{ErrorCode::invalid_argument, name + ".struct_size = " + std::to_string(size) +
                                                  ": must be sizeof of the struct"};
  }
  return size;
}

/// A struct of this library's version from one of the caller's: what is missing is 0, what is
/// unknown must be.
template <class T>
Result<T> read_struct(const T* given, const std::string& name) {
  const Result<size_t> size = struct_size(given, name);
  if (!size) return size.error();
  T result{};
  std::memcpy(&result, given, *size < sizeof(T) ? *size : sizeof(T));
  const char* const bytes = reinterpret_cast<const char*>(given);
  for (size_t i = sizeof(T); i < *size; ++i) {
    if (bytes[i] != 0) {
      return Error{ErrorCode::unsupported, name + " has a value at byte " + std::to_string(i) +
                                               ", which this version does not know"};
    }
  }
  return result;
}

/// The reverse, for answers: the caller's size stays, what this version does not know is 0.
template <class T>
Result<void> write_struct(const T& value, T* out, const std::string& name) {
  const Result<size_t> size = struct_size(out, name);
  if (!size) return size.error();
  char* const bytes = reinterpret_cast<char*>(out);
  std::memset(bytes, 0, *size);
  std::memcpy(bytes, &value, *size < sizeof(T) ? *size : sizeof(T));
  std::memcpy(bytes, &*size, sizeof *size);
  return {};
}

}  // namespace restride
