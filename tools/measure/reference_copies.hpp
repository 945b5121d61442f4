// What the memory of this machine can do: the copies and fills that results are held against.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace restride::tools {

/// Writes `bytes` bytes at `target`, and reads as many at `source` unless it is a fill. Both may
/// lie anywhere.
using ReferenceFunction = void (*)(std::byte* target, const std::byte* source, int64_t bytes);

struct Reference {
  std::string_view name;
  ReferenceFunction run;
};

/// The references that run on this machine, the C library's first. Copies and fills of the same
/// kind stand at the same place.
std::span<const Reference> reference_copies();
std::span<const Reference> reference_fills();

}  // namespace restride::tools
