// NumPy's .npy files: the header as data, read from bytes that may be hostile, and written.
// What the elements mean and how they lie in a described buffer is array_file's matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "restride/result.hpp"

namespace restride::tools {

/// A header of version 1, 2 or 3.
struct NpyHeader {
  std::string descr;  ///< `<f4`; checked to be a plain string, no more
  bool fortran_order = false;
  std::vector<int64_t> dimensions;  ///< as NumPy shows them, each >= 0; their product fits int64
  int64_t data_offset = 0;          ///< bytes from the start of the file
};

/// Whether the bytes start as an .npy file does.
bool is_npy(std::span<const std::byte> file);

/// Reads the header at the start of `file`. Errors say what is wrong with it; structured types are
/// refused. Time and memory are bounded whatever the bytes are.
Result<NpyHeader> parse_npy_header(std::span<const std::byte> file);

/// Everything before the data of a version 1 file in C order; its length is a multiple of 64 bytes.
/// Precondition: at most 64 dimensions.
std::string npy_preamble(std::string_view descr, std::span<const int64_t> dimensions);

}  // namespace restride::tools
