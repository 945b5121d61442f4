// What arithmetic means, one element at a time: the definition that the interpreter runs and that
// generated code must match bit for bit. README.md of this room has the rules in words.
//
// Elements are as they lie in memory, at any address. Types under 8 bits have their value in the
// low bits of a byte: reading ignores the other bits, writing clears them. A pred byte that is not
// 0 counts as 1; 0 and 1 are written.
//
// The functions that compute with floats do so in the floating-point environment they are called
// in. Its contract is the default one: round to nearest even, denormals kept, nothing trapped.
// Whoever runs them or generated code sets that environment.
#pragma once

#include "restride/problem.hpp"

namespace restride {

/// One element to another type. `from` and `to` may be the same address.
using ConvertElement = void (*)(const void* from, void* to);

/// How a float becomes an integer. Both saturate, and NaN gives 0.
enum class Rounding : uint8_t { toward_zero, nearest_even };

/// Null where the conversion is refused: complex to real. From a type to itself it copies. The
/// rounding matters only from floats to integers.
ConvertElement element_converter(ElementType from, ElementType to,
                                 Rounding rounding = Rounding::toward_zero);

/// Two elements of one type to one of that type; of a comparison to a pred byte. `to` may be the
/// address of an argument.
using BinaryElement = void (*)(const void* a, const void* b, void* to);

/// Null where the operation does not take the type, and for operations that are not binary.
BinaryElement element_operation(Operation operation, ElementType type);

}  // namespace restride
