#include "memory.hpp"

#include <sys/mman.h>

#include <string>
#include <utility>

namespace restride::tools {

Result<Memory> Memory::allocate(int64_t size_bytes) {
  if (size_bytes == 0) return Memory({});
  const auto size = static_cast<size_t>(size_bytes);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Error{ErrorCode::resource_exhausted,
                 std::to_string(size_bytes) + " bytes of memory are not to be had"};
  }
  return Memory(std::span(static_cast<std::byte*>(memory), size));
}

Memory::Memory(Memory&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

Memory::~Memory() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

}  // namespace restride::tools
