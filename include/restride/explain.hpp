// Every stage between a problem and its kernel, as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "restride/plan.hpp"

namespace restride {

struct Explanation {
  std::string problem;  ///< canonical text
  std::string signature;
  std::string target;     ///< name of the machine planned for
  std::string backend;    ///< name of the backend that made the kernel
  std::string slow_path;  ///< what is called for every element, where no vector code computes it;
                          ///< mostly empty
  std::string space;      ///< IterationSpace as it follows from the digits, then simplified
  std::string schedule;   ///< the space in the order to execute, and what was decided
  std::string nest;       ///< LoopNest
  std::string program;    ///< Program
  std::vector<std::string>
      microkernels;           ///< how rectangles are moved: `transpose 16x16 of 4 bytes`
  std::vector<uint8_t> code;  ///< generated machine code; empty for the interpreter
  int64_t bytes_read = 0;     ///< distinct source bytes
  int64_t bytes_written = 0;  ///< target bytes, padding included
  int64_t operations = 0;     ///< operations in the text of the Program
};

/// Plans and compiles afresh, past any cache. Errors as Plan::create, but a target that does not
/// run here is fine as long as a backend can emit for it.
Result<Explanation> explain(const Problem& problem, const PlanOptions& options = {});

/// Machine code of a named target as text, by the first backend that has a disassembler: one
/// instruction a line behind its offset, constants behind the last as bytes. Errors:
/// `invalid_argument` (an unknown target: the message lists the known ones), `unsupported` (a build
/// without such a backend).
Result<std::string> disassemble(std::span<const uint8_t> code, std::string_view target);

}  // namespace restride
