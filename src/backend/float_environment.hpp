// FloatEnvironment: the floating-point mode that kernels compute in, whatever the caller's is.
//
// What is computed must not depend on the caller: while one of these lives the thread rounds to
// nearest even, keeps denormals and traps nothing. It saves and sets one control register: no
// system call, no lock. Exceptions that kernels raise leave no trace in the caller's flags.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace restride {

class FloatEnvironment {
 public:
  // Writing takes longer than a small kernel does: only where it changes something.
  FloatEnvironment() : saved_(read()) {
    if ((saved_ & ~flags) != standard) write(standard);
  }
  ~FloatEnvironment() {
    if (read() != saved_) write(saved_);
  }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
#if defined(__SSE2__)
  using Mode = uint32_t;
  static constexpr Mode standard = 0x1f80;  // every exception masked
  static constexpr Mode flags = 0x3f;       // exceptions that were seen
  static Mode read() { return _mm_getcsr(); }
  static void write(Mode mode) { _mm_setcsr(mode); }
#elif defined(__aarch64__)
  using Mode = uint64_t;
  static constexpr Mode standard = 0, flags = 0;
  static Mode read() {
    Mode mode;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void write(Mode mode) { asm volatile("msr fpcr, %0" : : "r"(mode)); }
#else
#error "no floating-point control register is known for this architecture"
#endif

  const Mode saved_;
};

}  // namespace restride
