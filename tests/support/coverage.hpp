// What xbyak promises to translate, written down apart from it: what is in these tables and is
// refused fails the tests, and so does what is not in them and is taken. LLVM has a table of what
// it leaves to the interpreter.
#pragma once

#include "restride/problem.hpp"
#include "target/target.hpp"

namespace restride::testing {

/// One operation of a Program, on AVX2 and beyond.
bool xbyak_converts(ElementType from, ElementType to, const Target& target);
bool xbyak_computes(Operation operation, ElementType type);

/// Whether no operation that the problem needs is refused.
bool xbyak_translates(const Problem& problem, const Target& target);

/// All but power of floats and complex numbers and remainder of floats, which are library
/// functions.
bool llvm_translates(const Problem& problem);

}  // namespace restride::testing
