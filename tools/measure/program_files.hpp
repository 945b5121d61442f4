// Where the files that belong to the program lie: beside the binary in a build tree, under the
// prefix once installed, or in the source tree.
#pragma once

#include <filesystem>
#include <vector>

namespace restride::tools {

/// Folders that may hold suites, the nearest first. Only those that exist.
std::vector<std::filesystem::path> suite_folders();

/// Folders that may hold peers. Only those that exist.
std::vector<std::filesystem::path> peer_folders();

}  // namespace restride::tools
