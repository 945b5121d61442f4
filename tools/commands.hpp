// The commands of `restride`: what each is asked, and the function that does it.
#pragma once

#include <string>
#include <vector>

#include "memory.hpp"
#include "restride/plan.hpp"

namespace restride::tools {

/// What the shell sees.
enum class ExitCode : int {
  success = 0,
  wrong_result = 1,  ///< the result is not what the specification says
  refused = 2,       ///< the request cannot be carried out; one line on stderr says why
};

struct ExplainRequest {
  std::string problem;
  std::string stage = "all";
  std::string target;  ///< empty: this machine
  BackendChoice backend = BackendChoice::automatic;
  enum class Format { text, json } format = Format::text;
};

struct EmitRequest {
  std::string problem;
  std::string target = "host";
  std::string output;  ///< the object to write
  std::string header;  ///< the C header to write; empty: none
  std::string symbol;  ///< of the function; empty: the name of the object's file
};

struct RunRequest {
  std::string problem;
  std::vector<std::string> inputs;
  std::string output;
  BackendChoice backend = BackendChoice::automatic;
  int threads = 1;
  enum class Check { none, verify } check = Check::none;
};

struct BenchRequest {
  std::vector<std::string> problems;
  std::vector<std::string> suites;  ///< names or files
  std::string filter;               ///< a regular expression; empty: all cases
  std::string json, csv;            ///< files to write; empty: none
  std::string cliff_map;            ///< the file of a cliff map; empty: none
  std::vector<std::string> peer_files;
  std::string target = "host";  ///< what is planned for
  double seconds = 1;           ///< for the contest of a case; `quick` takes a fifth of it
  int threads = 1;
  Pages pages = Pages::unspecified;
  int64_t offset = 0;  ///< bytes from the begin of a page to where source and target begin
  enum class Length { usual, quick } length = Length::usual;
  enum class Peers { found, none } peers = Peers::found;
};

ExitCode explain_command(const ExplainRequest& request);
ExitCode emit_command(const EmitRequest& request);
ExitCode run_command(const RunRequest& request);
ExitCode bench_command(const BenchRequest& request);

/// Prints `restride: MESSAGE` as one line on stderr, whatever bytes the message has.
ExitCode refuse(const std::string& message);

}  // namespace restride::tools
