// Stands before the allocator of the C library. Linked only into tests that ask for it.
#include "support/allocation_counter.hpp"

#include <cstddef>

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

// The sanitizers call this after every allocation.
extern "C" void __sanitizer_malloc_hook(const volatile void*, size_t) { ++count; }

#endif
