// The backends of a build without jit/: the interpreter.
#include <array>

#include "backend/interpreter.hpp"

namespace restride {

std::span<const Backend* const> backends() {
  static const std::array<const Backend*, 1> all = {&interpreter_backend()};
  return all;
}

}  // namespace restride
