// Finds and loads peers. They are modules, so that the command line needs none of their libraries.
#pragma once

#include <string>
#include <vector>

#include "peer.hpp"

namespace restride::tools {

/// The peer of a module, which stays loaded to the end of the process. Error: why it cannot be.
Result<const bench::Peer*> load_peer(const std::string& path);

struct PeerList {
  std::vector<const bench::Peer*> peers;  ///< by name
  std::vector<std::string> failures;      ///< modules that could not be loaded, in words
};

/// Those that were built along with the program or installed with it, and then those of the files.
PeerList find_peers(const std::vector<std::string>& more_files);

}  // namespace restride::tools
