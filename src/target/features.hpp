// What generated code needs of a processor, and what this one has: bits with names.
//
// The bits stand in objects that are compiled ahead of time: they never change their meaning.
#pragma once

#include <cstdint>
#include <string>

#include "target/target.hpp"

namespace restride {

/// Bits of feature::*.
using Features = uint64_t;

namespace feature {

constexpr Features x86_64 = 1u << 0;
constexpr Features avx2 = 1u << 1;  ///< with AVX, F16C and everything up to SSE4.2
constexpr Features avx512f = 1u << 2;
constexpr Features avx512bw = 1u << 3;
constexpr Features avx512dq = 1u << 4;
constexpr Features avx512vl = 1u << 5;
constexpr Features avx512vbmi = 1u << 6;
constexpr Features avx512vbmi2 = 1u << 7;
constexpr Features aarch64 = 1u << 16;
constexpr Features neon = 1u << 17;
constexpr Features sve = 1u << 18;
constexpr Features sve_128_bits = 1u << 19;  ///< SVE registers are 128 bits long, no more
constexpr Features sve_256_bits = 1u << 20;  ///< 256 bits, no more

}  // namespace feature

/// What code for a target needs: its fields decide, not its name.
Features required_features(const Target& target);

/// What this machine has and its operating system saves. Determined once; safe from any thread.
Features host_features();

/// `avx512bw, avx512vbmi`: the names of the bits; a bit without a name as `bit 63`.
std::string to_string_of_features(Features features);

}  // namespace restride
