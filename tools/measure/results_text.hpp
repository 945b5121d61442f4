// Results as files: JSON for programs, CSV for tables. What one field means says results.hpp.
#pragma once

#include <string>
#include <vector>

#include "case_run.hpp"
#include "machine.hpp"
#include "results.hpp"

namespace restride::tools {

/// What was run where: it stands at the head of every file of results.
struct RunDescription {
  std::string version;  ///< of this program
  Machine machine;
  RunSettings settings;
};

std::string to_string(Pages pages);

/// One object with `format`, `machine`, `settings` and `suites`; times are seconds a call. Strings
/// that are no UTF-8 are mended.
std::string to_json(const RunDescription& description, const std::vector<SuiteResult>& suites);

/// A line of names, then one a candidate of a case.
std::string to_csv(const std::vector<SuiteResult>& suites);

}  // namespace restride::tools
