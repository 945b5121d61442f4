#include "machine.hpp"

#include <sched.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <fstream>

namespace restride::tools {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return {};
}

int usable_processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

std::vector<CacheSize> cache_sizes() {
  std::vector<CacheSize> caches;
  for (int i = 0; i < 8; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    const std::string type = first_line(folder + "type");
    if (type != "Data" && type != "Unified") continue;
    const std::string name = "L" + first_line(folder + "level") + (type == "Data" ? "d" : "");
    // `48K`
    const int64_t kibibytes = std::strtoll(first_line(folder + "size").c_str(), nullptr, 10);
    caches.push_back({name, kibibytes * 1024});
  }
  return caches;
}

/// The word in brackets of `always [madvise] never`.
std::string huge_page_setting() {
  const std::string line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  const size_t begin = line.find('['), end = line.find(']');
  return begin < end && end != std::string::npos ? line.substr(begin + 1, end - begin - 1) : "";
}

}  // namespace

Machine describe_machine() {
  utsname system = {};
  uname(&system);
#ifdef __OPTIMIZE__
  const char* build = "optimized";
#else
  const char* build = "not optimized";
#endif
  return {.processor = processor_name(),
          .processors = usable_processors(),
          .caches = cache_sizes(),
          .system = std::string(system.sysname) + " " + system.release,
          .compiler = "C++ compiler " __VERSION__,
          .build = build,
          .huge_pages = huge_page_setting()};
}

}  // namespace restride::tools
