// Random Programs, valid by construction: they verify on the target they are made for.
#pragma once

#include "program/program.hpp"
#include "support/random.hpp"

namespace restride::testing {

/// Loops, streams with wraps and phases, every operation the target has, up to its last register.
/// Half of them convert and compute too, mostly with common types.
/// Operands are as large as the accesses need, found by walking all iterations. Stored bytes are
/// defined, scratch is read only where it was just written. Units may overlap in the target.
Program random_program(Random& random, const Target& target);

/// The same with one field changed to something else, perhaps invalid.
Program mutated(Random& random, const Program& program);

}  // namespace restride::testing
