#include "program_files.hpp"

#include <system_error>

namespace restride::tools {
namespace {

namespace fs = std::filesystem;

/// The folder of the running binary; empty where the system does not tell.
fs::path program_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

std::vector<fs::path> existing(const std::vector<fs::path>& candidates) {
  std::vector<fs::path> folders;
  for (const fs::path& candidate : candidates) {
    std::error_code ignored;
    if (fs::is_directory(candidate, ignored)) folders.push_back(candidate);
  }
  return folders;
}

}  // namespace

std::vector<fs::path> suite_folders() {
  return existing({program_folder() / RESTRIDE_INSTALLED_SUITES, RESTRIDE_SOURCE_SUITES});
}

std::vector<fs::path> peer_folders() {
  return existing({program_folder() / RESTRIDE_INSTALLED_PEERS, RESTRIDE_BUILT_PEERS});
}

}  // namespace restride::tools
