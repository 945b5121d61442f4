#include "mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace restride::tools {
namespace {

Error cannot_read(const std::string& path, const char* reason) {
  return Error{ErrorCode::invalid_argument, path + ": cannot be read: " + reason};
}

Result<std::span<const std::byte>> map(const std::string& path, int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return cannot_read(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return cannot_read(path, "not a regular file");
  if (status.st_size == 0) return std::span<const std::byte>{};
  const auto size = static_cast<size_t>(status.st_size);
  void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (memory == MAP_FAILED) return cannot_read(path, std::strerror(errno));
  return std::span(static_cast<const std::byte*>(memory), size);
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // Without O_NONBLOCK a pipe would wait for a writer before it can be refused.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return cannot_read(path, std::strerror(errno));
  const Result<std::span<const std::byte>> bytes = map(path, descriptor);
  close(descriptor);
  if (!bytes) return bytes.error();
  return MappedFile(*bytes);
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace restride::tools
