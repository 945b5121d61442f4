// Writes a file whole or not at all: a temporary file in the same folder, fsync, rename.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "restride/result.hpp"

namespace restride::tools {

/// Writes `preamble` and then `data` to `path`. On an error, which names the path, whatever `path`
/// held before is untouched and the temporary file is gone. Refuses to replace anything but a
/// regular file.
Result<void> write_atomically(const std::string& path, std::span<const std::byte> preamble,
                              std::span<const std::byte> data);

}  // namespace restride::tools
