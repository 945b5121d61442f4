#include "support/sampling.hpp"

#include <algorithm>
#include <cstdlib>

namespace restride::testing {

bool takes_part(const Backend& backend, int64_t number, int64_t usual) {
  if (backend.name() != "llvm") return true;
  static const char* const text = std::getenv("RESTRIDE_TEST_LLVM_EVERY");
  const int64_t every = text == nullptr ? usual : std::strtoll(text, nullptr, 10);
  return number % std::max<int64_t>(every, 1) == 0;
}

}  // namespace restride::testing
