// Plain and non-temporal loops in the widest vectors of the machine. Bytes behind the last whole
// step of 256 are left to the C library: they do not show in the time.
#include "reference_copies.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace restride::tools {
namespace {

constexpr int64_t step_bytes = 256;

void library_copy(std::byte* target, const std::byte* source, int64_t bytes) {
  std::memcpy(target, source, static_cast<size_t>(bytes));
}

void library_fill(std::byte* target, const std::byte*, int64_t bytes) {
  std::memset(target, 0x5a, static_cast<size_t>(bytes));
}

#if defined(__x86_64__)
constexpr int64_t prefetch_bytes = 2048;  // ahead: far enough for DRAM, near enough to stay in L1

enum class Store { regular, nontemporal };

template <Store store>
[[gnu::target("avx512f")]] void copy_avx512(std::byte* target, const std::byte* source,
                                            int64_t bytes) {
  const int64_t whole = bytes - bytes % step_bytes;
  for (int64_t i = 0; i < whole; i += step_bytes) {
    for (int64_t j = i; j < i + step_bytes; j += 64) {
      if (store == Store::nontemporal) {
        _mm_prefetch(reinterpret_cast<const char*>(source + j) + prefetch_bytes, _MM_HINT_T0);
      }
      const __m512i value = _mm512_loadu_si512(source + j);
      if (store == Store::nontemporal)
        _mm512_stream_si512(reinterpret_cast<__m512i*>(target + j), value);
      if (store == Store::regular) _mm512_storeu_si512(target + j, value);
    }
  }
  if (store == Store::nontemporal) _mm_sfence();
  library_copy(target + whole, source + whole, bytes - whole);
}

template <Store store>
[[gnu::target("avx512f")]] void fill_avx512(std::byte* target, const std::byte* source,
                                            int64_t bytes) {
  const __m512i value = _mm512_set1_epi8(0x5a);
  const int64_t whole = bytes - bytes % step_bytes;
  for (int64_t i = 0; i < whole; i += 64) {
    if (store == Store::nontemporal)
      _mm512_stream_si512(reinterpret_cast<__m512i*>(target + i), value);
    if (store == Store::regular) _mm512_storeu_si512(target + i, value);
  }
  if (store == Store::nontemporal) _mm_sfence();
  library_fill(target + whole, source, bytes - whole);
}

template <Store store>
[[gnu::target("avx2")]] void copy_avx2(std::byte* target, const std::byte* source, int64_t bytes) {
  const int64_t whole = bytes - bytes % step_bytes;
  for (int64_t i = 0; i < whole; i += step_bytes) {
    for (int64_t j = i; j < i + step_bytes; j += 32) {
      if (store == Store::nontemporal && j % 64 == 0) {
        _mm_prefetch(reinterpret_cast<const char*>(source + j) + prefetch_bytes, _MM_HINT_T0);
      }
      const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + j));
      const auto place = reinterpret_cast<__m256i*>(target + j);
      if (store == Store::nontemporal) _mm256_stream_si256(place, value);
      if (store == Store::regular) _mm256_storeu_si256(place, value);
    }
  }
  if (store == Store::nontemporal) _mm_sfence();
  library_copy(target + whole, source + whole, bytes - whole);
}

template <Store store>
[[gnu::target("avx2")]] void fill_avx2(std::byte* target, const std::byte* source, int64_t bytes) {
  const __m256i value = _mm256_set1_epi8(0x5a);
  const int64_t whole = bytes - bytes % step_bytes;
  for (int64_t i = 0; i < whole; i += 32) {
    const auto place = reinterpret_cast<__m256i*>(target + i);
    if (store == Store::nontemporal) _mm256_stream_si256(place, value);
    if (store == Store::regular) _mm256_storeu_si256(place, value);
  }
  if (store == Store::nontemporal) _mm_sfence();
  library_fill(target + whole, source, bytes - whole);
}

/// `run` from the first line of the target on, `head` before it.
template <ReferenceFunction run, ReferenceFunction head>
void from_line(std::byte* target, const std::byte* source, int64_t bytes) {
  constexpr uintptr_t line_bytes = 64;
  const auto before = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(target) % line_bytes);
  const int64_t begin = std::min(before, bytes);
  head(target, source, begin);
  run(target + begin, source + begin, bytes - begin);
}
#endif

std::vector<Reference> make_copies() {
  std::vector<Reference> copies = {{"memcpy", library_copy}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    copies.push_back({"vector copy", copy_avx512<Store::regular>});
    copies.push_back(
        {"non-temporal copy", from_line<copy_avx512<Store::nontemporal>, library_copy>});
  } else if (__builtin_cpu_supports("avx2")) {
    copies.push_back({"vector copy", copy_avx2<Store::regular>});
    copies.push_back({"non-temporal copy", from_line<copy_avx2<Store::nontemporal>, library_copy>});
  }
#endif
  return copies;
}

std::vector<Reference> make_fills() {
  std::vector<Reference> fills = {{"memset", library_fill}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    fills.push_back({"vector fill", fill_avx512<Store::regular>});
    fills.push_back(
        {"non-temporal fill", from_line<fill_avx512<Store::nontemporal>, library_fill>});
  } else if (__builtin_cpu_supports("avx2")) {
    fills.push_back({"vector fill", fill_avx2<Store::regular>});
    fills.push_back({"non-temporal fill", from_line<fill_avx2<Store::nontemporal>, library_fill>});
  }
#endif
  return fills;
}

}  // namespace

std::span<const Reference> reference_copies() {
  static const std::vector<Reference> copies = make_copies();
  return copies;
}

std::span<const Reference> reference_fills() {
  static const std::vector<Reference> fills = make_fills();
  return fills;
}

}  // namespace restride::tools
