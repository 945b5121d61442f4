#include <cstdio>

#include "commands.hpp"

namespace restride::tools {

ExitCode refuse(const std::string& message) {
  std::string line = "restride: " + message;
  for (char& c : line) {
    // A file name or a problem may hold anything; the report stays one line and does not steer the
    // terminal.
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
  return ExitCode::refused;
}

}  // namespace restride::tools
