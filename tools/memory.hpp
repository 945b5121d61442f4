// A big block of memory straight from the system, so that its lack is an error and not an
// exception.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "restride/result.hpp"

namespace restride::tools {

/// Owns zeroed memory, aligned to a page.
class Memory {
 public:
  /// Errors: `resource_exhausted` names the size.
  static Result<Memory> allocate(int64_t size_bytes);

  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  explicit Memory(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_;
};

}  // namespace restride::tools
