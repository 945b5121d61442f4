// Results of benchmarks on a terminal.
#pragma once

#include "machine.hpp"
#include "results.hpp"
#include "results_text.hpp"

namespace restride::tools {

/// What was run where, in two lines.
void print_description(const RunDescription& description);

/// One case with a line for each candidate.
void print_details(const CaseResult& result);

/// The columns of print_row.
void print_header(const SuiteResult& suite);
/// One case as one line: ours and the best peer. `libc`: its memcpy, or its memset for broadcasts.
void print_row(const CaseResult& result);
/// What follows from the rows.
void print_summary(const SuiteResult& suite);

}  // namespace restride::tools
