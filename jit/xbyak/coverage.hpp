// Which operations are translated, and by which way a conversion goes where no single step does it.
// Data only: what a step is in instructions stands in convert_*.cpp.
#pragma once

#include "program/program.hpp"
#include "target/target.hpp"

namespace restride::xbyak {

/// Integers of less than a byte.
bool is_small_integer(ElementType type);

/// The type that a conversion goes to first; `to` where one step does it. From type to type this
/// ends at `to`, and rounds once. Precondition: both are translated.
ElementType next_type(ElementType from, ElementType to);

/// Bytes of the widest type on the way, both ends included.
int widest_bytes(ElementType from, ElementType to);

/// Whether an operation has a translation. Moves always have one.
bool translates(const program::Op& op, InstructionSet set);

}  // namespace restride::xbyak
