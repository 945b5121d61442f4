// Suites: problems with names, one a line, as text files.
//
//     # a comment; the first one says what the suite is about
//     nchw_to_nhwc: f32[32,64,56,56] -> f32[32,64,56,56]{1,3,2,0}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "restride/problem.hpp"
#include "restride/result.hpp"

namespace restride::tools {

struct Case {
  std::string name;  ///< unique in its suite
  Problem problem;
};

struct Suite {
  std::string name;
  std::string about;
  std::vector<Case> cases;
};

/// `name` stands in messages, as in `name:3: ...`. Errors: lines that are no `name: problem`, names
/// that come twice, invalid problems, and a suite without cases.
Result<Suite> parse_suite(std::string_view name, std::string_view text);

/// The suite of a file, or of that name among the suites that come with the program (installed, or
/// in the source tree). The error lists the names there are.
Result<Suite> load_suite(const std::string& name_or_path);

/// Names and problems that match; the regular expression is ECMAScript's. Error: not a regular
/// expression.
Result<void> keep_matching(Suite& suite, const std::string& expression);

}  // namespace restride::tools
