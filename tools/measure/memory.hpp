// A big block of memory straight from the system, so that its lack is an error and not an
// exception.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "restride/result.hpp"

namespace restride::tools {

/// What is asked of the kernel. It may not follow: huge pages can be switched off.
enum class Pages { unspecified, small, huge };

/// Owns zeroed memory, aligned to a page; to 2 MiB where huge pages were asked for.
class Memory {
 public:
  /// Errors: `resource_exhausted` names the size.
  static Result<Memory> allocate(int64_t size_bytes, Pages pages = Pages::unspecified);

  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  Memory(std::span<std::byte> mapping, std::span<std::byte> bytes)
      : mapping_(mapping), bytes_(bytes) {}
  std::span<std::byte> mapping_, bytes_;
};

}  // namespace restride::tools
