// The backends of a build with jit/, in order of preference.
#include <array>

#include "backend/interpreter.hpp"
#if defined(RESTRIDE_LLVM)
#include "llvm_backend.hpp"
#endif
#if defined(RESTRIDE_XBYAK)
#include "xbyak/xbyak_backend.hpp"
#endif

namespace restride {

std::span<const Backend* const> backends() {
  static const std::array all = {
#if defined(RESTRIDE_XBYAK)
    &xbyak_backend(),
#endif
#if defined(RESTRIDE_LLVM)
    &llvm_backend(),
#endif
    &interpreter_backend(),
  };
  return all;
}

}  // namespace restride
