// What machine and what build the figures are from: without it they mean nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace restride::tools {

struct CacheSize {
  std::string name;  ///< `L1d`, `L2`
  int64_t bytes = 0;
};

struct Machine {
  std::string processor;  ///< as the system names it; may be empty
  int processors = 1;     ///< that this process may use
  std::vector<CacheSize> caches;
  std::string system;      ///< kernel name and release
  std::string compiler;    ///< that built this program
  std::string build;       ///< `optimized` or `not optimized`
  std::string huge_pages;  ///< the kernel's setting, as `madvise`; may be empty
};

Machine describe_machine();

}  // namespace restride::tools
