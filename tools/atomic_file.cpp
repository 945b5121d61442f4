#include "atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace restride::tools {
namespace {

Error cannot_write(const std::string& path, const char* reason) {
  return Error{ErrorCode::invalid_argument, path + ": cannot be written: " + reason};
}

/// Returns 0 or errno.
int write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return 0;
}

/// Returns 0 or errno. Permissions become those of any new file: mkostemp gives none to others.
int fill(int descriptor, std::span<const std::byte> preamble, std::span<const std::byte> data) {
  if (const int problem = write_all(descriptor, preamble)) return problem;
  if (const int problem = write_all(descriptor, data)) return problem;
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(descriptor, 0666 & ~mask) != 0) return errno;
  return fsync(descriptor) == 0 ? 0 : errno;
}

/// The rename itself must reach the disk too. A folder that cannot be synced still holds the new
/// file.
void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

Result<void> write_atomically(const std::string& path, std::span<const std::byte> preamble,
                              std::span<const std::byte> data) {
  std::filesystem::path target = path;
  struct stat status;
  if (stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) return cannot_write(path, "exists and is not a regular file");
    // A link stays a link; what it points to is replaced.
    std::error_code ignored;
    const std::filesystem::path resolved = std::filesystem::canonical(target, ignored);
    if (!resolved.empty()) target = resolved;
  }
  std::string temporary = target.string() + ".XXXXXX";
  const int descriptor = mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return cannot_write(path, std::strerror(errno));
  int problem = fill(descriptor, preamble, data);
  if (close(descriptor) != 0 && problem == 0) problem = errno;
  if (problem == 0 && rename(temporary.c_str(), target.c_str()) != 0) problem = errno;
  if (problem != 0) {
    unlink(temporary.c_str());
    return cannot_write(path, std::strerror(problem));
  }
  sync_folder(target.has_parent_path() ? target.parent_path() : std::filesystem::path("."));
  return {};
}

}  // namespace restride::tools
