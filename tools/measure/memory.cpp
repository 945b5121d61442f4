#include "memory.hpp"

#include <sys/mman.h>

#include <string>
#include <utility>

namespace restride::tools {
namespace {

constexpr int64_t huge_page_bytes = int64_t{2} << 20;

}  // namespace

Result<Memory> Memory::allocate(int64_t size_bytes, Pages pages) {
  if (size_bytes == 0) return Memory({}, {});
  const int64_t alignment = pages == Pages::huge ? huge_page_bytes : 1;
  const Error lacking{ErrorCode::resource_exhausted,
                      std::to_string(size_bytes) + " bytes of memory are not to be had"};
  int64_t mapped_bytes = 0;
  if (__builtin_add_overflow(size_bytes, alignment - 1, &mapped_bytes)) return lacking;
  void* memory = mmap(nullptr, static_cast<size_t>(mapped_bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return lacking;
  const std::span mapping(static_cast<std::byte*>(memory), static_cast<size_t>(mapped_bytes));
  // Advice: where it is refused the table says which pages were asked for, no more.
  if (pages == Pages::huge) madvise(memory, mapping.size(), MADV_HUGEPAGE);
  if (pages == Pages::small) madvise(memory, mapping.size(), MADV_NOHUGEPAGE);
  const auto address = static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory));
  const int64_t skipped = (alignment - address % alignment) % alignment;
  return Memory(mapping,
                mapping.subspan(static_cast<size_t>(skipped), static_cast<size_t>(size_bytes)));
}

Memory::Memory(Memory&& other) noexcept
    : mapping_(std::exchange(other.mapping_, {})), bytes_(std::exchange(other.bytes_, {})) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Memory::~Memory() {
  if (!mapping_.empty()) munmap(mapping_.data(), mapping_.size());
}

}  // namespace restride::tools
