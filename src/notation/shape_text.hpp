// Shapes within a longer text.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "notation/lexer.hpp"
#include "restride/shape.hpp"

namespace restride {

/// Reads a shape; says nothing about whether it is valid.
Result<Shape> parse_shape(Lexer& lexer);

/// `1,2,3`, all of them.
std::string join(std::span<const int64_t> values);

}  // namespace restride
