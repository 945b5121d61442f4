// Where a file meets a shape: which .npy types and sizes fit a described buffer, and how results
// are named.
//
// An .npy file is taken as its memory lies: its sizes, most major first, must be the physical
// dimensions of the described buffer. A Fortran-order file of the logical sizes therefore fits the
// layout {0,1,...}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "restride/result.hpp"
#include "restride/shape.hpp"

namespace restride::tools {

/// The sizes of a buffer as it lies in memory, most major first, with padding and tiles:
/// f32[3,5]{1,0:T(2,2)} has {2, 3, 2, 2}. Buffers that are no such grid (packed elements, aligned
/// tails) have one dimension: their bytes. Precondition: the shape is valid and its buffer holds
/// `buffer_bytes`.
std::vector<int64_t> file_dimensions(const Shape& shape, int64_t buffer_bytes);

/// The NumPy type written for the elements of a buffer: `<f4`; `<V2` for bf16 and `|V1` for what
/// else NumPy lacks.
std::string npy_type(const Shape& shape);

/// The bytes of the buffer that `shape` describes within a file: those behind the header of an
/// .npy, or all of a raw file. Errors name the path and both sides of the mismatch.
Result<std::span<const std::byte>> find_buffer(const std::string& path,
                                               std::span<const std::byte> file, const Shape& shape,
                                               int64_t buffer_bytes);

}  // namespace restride::tools
