#include "peers.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "program_files.hpp"

namespace restride::tools {
namespace {

std::vector<std::string> modules_in(const std::filesystem::path& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".so") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

Result<const bench::Peer*> load_peer(const std::string& path) {
  const auto fail = [&](const char* reason) {
    return Error{ErrorCode::invalid_argument,
                 path + ": no peer: " + (reason == nullptr ? "unknown" : reason)};
  };
  // A name without a slash would be looked for in the system's folders.
  const std::string file = std::filesystem::absolute(path).string();
  void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return fail(dlerror());
  const auto entry = reinterpret_cast<decltype(&restride_peer)>(dlsym(module, "restride_peer"));
  if (entry == nullptr) return fail(dlerror());
  const bench::Peer* peer = entry();
  if (peer == nullptr || peer->name == nullptr || peer->prepare == nullptr)
    return fail("restride_peer() returns nothing usable");
  return peer;
}

PeerList find_peers(const std::vector<std::string>& more_files) {
  std::vector<std::string> files;
  if (const auto folders = peer_folders(); !folders.empty()) files = modules_in(folders.front());
  files.insert(files.end(), more_files.begin(), more_files.end());
  PeerList list;
  for (const std::string& file : files) {
    const Result<const bench::Peer*> peer = load_peer(file);
    if (peer) {
      list.peers.push_back(*peer);
    } else {
      list.failures.push_back(peer.error().message);
    }
  }
  return list;
}

}  // namespace restride::tools
