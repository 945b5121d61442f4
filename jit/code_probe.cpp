// A function of two instructions, twice.
#include "code_probe.hpp"

#include <cstring>
#include <vector>

namespace restride {
namespace {

/// Code that returns n; empty where no backend generates code.
std::vector<uint8_t> code_returning([[maybe_unused]] uint8_t n) {
#if defined(__x86_64__)
  return {0xb8, n, 0, 0, 0, 0xc3};  // mov eax, n; ret
#elif defined(__aarch64__)
  const uint32_t words[] = {0x52800000u | uint32_t{n} << 5, 0xd65f03c0u};  // movz w0, n; ret
  std::vector<uint8_t> code(sizeof words);
  std::memcpy(code.data(), words, sizeof words);
  return code;
#else
  return {};
#endif
}

bool runs(uint8_t n, uint8_t* write, uint8_t* execute) {
  const std::vector<uint8_t> code = code_returning(n);
  if (code.empty()) return true;
  std::memcpy(write, code.data(), code.size());
  char* const begin = reinterpret_cast<char*>(execute);
  __builtin___clear_cache(begin, begin + code.size());
  using Function = int (*)();
  return reinterpret_cast<Function>(reinterpret_cast<uintptr_t>(execute))() == n;
}

}  // namespace

bool sees_rewritten_code(uint8_t* write, uint8_t* execute) {
  return runs(1, write, execute) && runs(2, write, execute);
}

}  // namespace restride
