#include "support/sampling.hpp"

#include <algorithm>
#include <cstdlib>

namespace restride::testing {
namespace {

/// The number in a variable of the environment, at least 1.
int64_t one_of(const char* variable, int64_t usual) {
  const char* const text = std::getenv(variable);
  return std::max<int64_t>(text == nullptr ? usual : std::strtoll(text, nullptr, 10), 1);
}

/// FNV-1a: the same on every machine.
uint64_t hash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash >> 32;  // the low bits know little of the first characters
}

}  // namespace

bool takes_part(const Backend& backend, int64_t number, int64_t usual) {
  if (backend.name() != "llvm") return true;
  return number % one_of("RESTRIDE_TEST_LLVM_EVERY", usual) == 0;
}

bool in_sample(std::string_view row) {
  static const int64_t every = one_of("RESTRIDE_TEST_EVERY", 1);
  return static_cast<int64_t>(hash(row)) % every == 0;
}

}  // namespace restride::testing
