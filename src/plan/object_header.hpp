// The C header of an object.
#pragma once

#include <string>
#include <string_view>

#include "restride/object.h"
#include "restride/problem.hpp"

namespace restride {

/// Declares the function and its description, and says in words how the function is called.
std::string object_header(const Problem& problem, const restride_object& object,
                          std::string_view symbol);

}  // namespace restride
