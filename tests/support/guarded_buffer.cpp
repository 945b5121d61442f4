// Maps whole pages with one page without access on either side, and places the data inside.
#include "support/guarded_buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace restride::testing {
namespace {

constexpr std::byte canary{0xC5};

int64_t page_bytes() {
  static const int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

/// The first is, and each is like the one before it.
bool all_canary(const std::byte* begin, const std::byte* end) {
  if (begin == end) return true;
  return *begin == canary &&
         std::memcmp(begin, begin + 1, static_cast<size_t>(end - begin) - 1) == 0;
}

}  // namespace

GuardedBuffer::GuardedBuffer(int64_t bytes, Placement placement, int64_t alignment,
                             int64_t misalignment)
    : bytes_(bytes) {
  const int64_t page = page_bytes();
  if (bytes < 0 || alignment < 1 || alignment > page || (alignment & (alignment - 1)) != 0 ||
      misalignment < 0 || misalignment >= alignment) {
    std::abort();
  }
  // Two alignments of room are enough for the misalignment at one end and the slack at the other.
  const int64_t inside_bytes = (bytes + 2 * alignment + page - 1) / page * page;
  mapping_bytes_ = inside_bytes + 2 * page;
  void* mapping = mmap(nullptr, static_cast<size_t>(mapping_bytes_), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) std::abort();
  mapping_ = static_cast<std::byte*>(mapping);
  std::byte* const begin = mapping_ + page;
  std::byte* const end = begin + inside_bytes;
  if (mprotect(begin, static_cast<size_t>(inside_bytes), PROT_READ | PROT_WRITE) != 0) std::abort();
  std::fill(begin, end, canary);
  // Pages are aligned to every permitted alignment, so distances from `begin` decide.
  const int64_t last = inside_bytes - bytes - misalignment;
  const int64_t offset =
      misalignment + (placement == Placement::at_begin ? 0 : last / alignment * alignment);
  data_ = begin + offset;
}

GuardedBuffer::~GuardedBuffer() { munmap(mapping_, static_cast<size_t>(mapping_bytes_)); }

bool GuardedBuffer::canary_intact() const {
  const int64_t page = page_bytes();
  return all_canary(mapping_ + page, data_) &&
         all_canary(data_ + bytes_, mapping_ + mapping_bytes_ - page);
}

}  // namespace restride::testing
