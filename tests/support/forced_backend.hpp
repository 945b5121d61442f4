// Sets RESTRIDE_BACKEND.
#pragma once

#include <cstdlib>
#include <string>

namespace restride::testing {

/// Sets RESTRIDE_BACKEND for a scope; null unsets it.
class ForcedBackend {
 public:
  explicit ForcedBackend(const char* name) {
    if (const char* const now = std::getenv("RESTRIDE_BACKEND")) before_ = now;
    set(name);
  }
  ~ForcedBackend() { set(before_.empty() ? nullptr : before_.c_str()); }

 private:
  static void set(const char* name) {
    if (name == nullptr) {
      unsetenv("RESTRIDE_BACKEND");
    } else {
      setenv("RESTRIDE_BACKEND", name, 1);
    }
  }
  std::string before_;
};

}  // namespace restride::testing
