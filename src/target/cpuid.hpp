// The CPUID instruction of x86-64.
#pragma once

#include <cpuid.h>

#include <cstdint>

namespace restride {

struct CpuidRegisters {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

/// All zero for a leaf that the processor lacks.
inline CpuidRegisters cpuid(uint32_t leaf, uint32_t subleaf) {
  CpuidRegisters r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

inline bool has_bits(uint64_t word, uint64_t bits) { return (word & bits) == bits; }

}  // namespace restride
