// Mapping and the free list: first fit, neighbours joined.
#include "code_chunk.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "code_probe.hpp"

namespace restride {
namespace {

constexpr int64_t block_alignment = 64;
constexpr int trap = 0xcc;  // int3 on x86; undefined on AArch64

std::atomic<int64_t> forks{0};

void count_fork() { forks.fetch_add(1, std::memory_order_relaxed); }

int64_t forks_so_far() {
  static const int registered = pthread_atfork(count_fork, nullptr, nullptr);
  (void)registered;
  return forks.load(std::memory_order_relaxed);
}

int64_t page_bytes() {
  static const int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

uint8_t* view(int protection, int flags, int file, int64_t bytes) {
  void* const mapped = mmap(nullptr, size_t(bytes), protection, flags, file, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<uint8_t*>(mapped);
}

struct Views {
  uint8_t* write = nullptr;
  uint8_t* execute = nullptr;
};

void unmap(const Views& views, int64_t bytes) {
  if (views.write != nullptr) munmap(views.write, size_t(bytes));
  if (views.execute != nullptr && views.execute != views.write) {
    munmap(views.execute, size_t(bytes));
  }
}

Views map_twice(int64_t bytes) {
  const int file = memfd_create("restride-code", MFD_CLOEXEC);
  if (file < 0) return {};
  Views views;
  if (ftruncate(file, bytes) == 0) {
    views.write = view(PROT_READ | PROT_WRITE, MAP_SHARED, file, bytes);
    views.execute = view(PROT_READ | PROT_EXEC, MAP_SHARED, file, bytes);
  }
  close(file);
  if (views.write && views.execute) return views;
  unmap(views, bytes);
  return {};
}

/// Whether two views are good for code here; tried out once.
bool dual_views_work() {
  static const bool work = [] {
    const Views views = map_twice(page_bytes());
    const bool seen = views.write != nullptr && sees_rewritten_code(views.write, views.execute);
    unmap(views, page_bytes());
    return seen;
  }();
  return work;
}

/// Address space without access; pages are given it when they are used.
Views map_once(int64_t bytes) {
  uint8_t* const space = view(PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, bytes);
  return {space, space};
}

}  // namespace

std::unique_ptr<CodeChunk> CodeChunk::map(CodeMapping mapping, int64_t bytes) {
  if (mapping == CodeMapping::dual && !dual_views_work()) return nullptr;
  const Views views = mapping == CodeMapping::dual ? map_twice(bytes) : map_once(bytes);
  if (!views.write) return nullptr;
  return std::unique_ptr<CodeChunk>(new CodeChunk(mapping, views.write, views.execute, bytes));
}

CodeChunk::CodeChunk(CodeMapping mapping, uint8_t* write, uint8_t* execute, int64_t bytes)
    : mapping_(mapping),
      write_(write),
      execute_(execute),
      bytes_(bytes),
      forks_(forks_so_far()),
      free_{{0, bytes}} {}

CodeChunk::~CodeChunk() { unmap({write_, execute_}, bytes_); }

bool CodeChunk::is_shared_by_fork() const {
  return mapping_ == CodeMapping::dual && forks_ != forks_so_far();
}

int64_t CodeChunk::rounded(int64_t bytes) const {
  const int64_t unit = mapping_ == CodeMapping::flipped ? page_bytes() : block_alignment;
  return (bytes + unit - 1) / unit * unit;
}

bool CodeChunk::make_writable(int64_t offset, int64_t bytes) const {
  if (mapping_ == CodeMapping::dual) return true;
  return mprotect(write_ + offset, size_t(bytes), PROT_READ | PROT_WRITE) == 0;
}

bool CodeChunk::make_executable(int64_t offset, int64_t bytes) const {
  if (mapping_ == CodeMapping::dual) return true;
  return mprotect(write_ + offset, size_t(bytes), PROT_READ | PROT_EXEC) == 0;
}

const uint8_t* CodeChunk::reserve(int64_t code_bytes) {
  const int64_t bytes = rounded(code_bytes);
  const auto range = std::find_if(free_.begin(), free_.end(),
                                  [&](const Range& free) { return free.bytes >= bytes; });
  if (range == free_.end()) return nullptr;
  const int64_t offset = range->offset;
  range->offset += bytes;
  range->bytes -= bytes;
  if (range->bytes == 0) free_.erase(range);
  used_bytes_ += bytes;
  return execute_ + offset;
}

bool CodeChunk::fill(const uint8_t* address, int64_t code_bytes, std::span<const uint8_t> code) {
  const int64_t offset = address - execute_, bytes = rounded(code_bytes);
  if (!make_writable(offset, bytes)) return false;
  std::memcpy(write_ + offset, code.data(), code.size());
  std::memset(write_ + offset + code.size(), trap, size_t(bytes) - code.size());
  if (!make_executable(offset, bytes)) return false;
  // On x86 this is nothing; elsewhere the instruction cache must learn of the new code.
  char* const begin = reinterpret_cast<char*>(execute_ + offset);
  __builtin___clear_cache(begin, begin + bytes);
  return true;
}

void CodeChunk::free(const uint8_t* code, int64_t code_bytes) {
  const int64_t offset = code - execute_, bytes = rounded(code_bytes);
  used_bytes_ -= bytes;
  if (is_shared_by_fork()) return;
  // A range that cannot be written again is not given out again.
  if (!make_writable(offset, bytes)) return;
  std::memset(write_ + offset, trap, size_t(bytes));
  if (mapping_ == CodeMapping::flipped &&
      mprotect(write_ + offset, size_t(bytes), PROT_NONE) != 0) {
    return;
  }
  add_free({offset, bytes});
}

void CodeChunk::add_free(Range range) {
  auto next = std::find_if(free_.begin(), free_.end(),
                           [&](const Range& free) { return free.offset > range.offset; });
  if (next != free_.end() && range.offset + range.bytes == next->offset) {
    range.bytes += next->bytes;
    next = free_.erase(next);
  }
  if (next != free_.begin() && std::prev(next)->offset + std::prev(next)->bytes == range.offset) {
    std::prev(next)->bytes += range.bytes;
  } else {
    free_.insert(next, range);
  }
}

}  // namespace restride
