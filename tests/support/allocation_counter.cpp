// Stands before the allocator of the C library. Linked only into tests that ask for it.
#include "support/allocation_counter.hpp"

#include <cstdlib>
#include <new>

namespace {
thread_local int64_t count = 0;
}  // namespace

namespace restride::testing {
int64_t allocations() { return count; }
}  // namespace restride::testing

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t number, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
  ++count;
  return __libc_malloc(bytes);
}
void* calloc(size_t number, size_t bytes) {
  ++count;
  return __libc_calloc(number, bytes);
}
void* realloc(void* memory, size_t bytes) {
  ++count;
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  ++count;
  return __libc_memalign(alignment, bytes);
}
}

#else

void* operator new(size_t bytes) {
  ++count;
  void* const memory = std::malloc(bytes != 0 ? bytes : 1);
  if (memory == nullptr) std::abort();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

#endif
