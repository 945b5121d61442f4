// A file's bytes, mapped read-only. Nothing is copied and nothing is interpreted here.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "restride/result.hpp"

namespace restride::tools {

/// Owns the mapping. The bytes are those of the file; who shortens the file meanwhile breaks them.
class MappedFile {
 public:
  /// Errors name the path: it is missing, cannot be read, or is no regular file.
  static Result<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  /// Valid as long as this object; aligned to a page.
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace restride::tools
