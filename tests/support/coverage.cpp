// Which problems a backend may leave to the next one.
#include "support/coverage.hpp"

#include <algorithm>

namespace restride::testing {
namespace {

using enum ElementType;

bool is_narrow_float(ElementType type) { return is_float(type) && storage_bytes(type) < 4; }
bool is_wide_integer(ElementType type) { return type == s64 || type == u64; }

bool is_small(ElementType type) {
  return type == s1 || type == s2 || type == s4 || type == u1 || type == u2 || type == u4;
}

bool is_function(Operation operation) {
  return operation == Operation::remainder || operation == Operation::power;
}

/// Whether elements share bytes.
bool is_packed(const Problem& problem) {
  const auto packed = [](const Shape& shape) { return shape.layout.element_size_in_bits != 0; };
  return packed(problem.target) ||
         std::ranges::any_of(problem.sources, [&](const Source& s) { return packed(s.shape); });
}

/// Narrow floats compute in f32.
ElementType computing_type_of(ElementType type) { return is_narrow_float(type) ? f32 : type; }

}  // namespace

bool xbyak_converts(ElementType from, ElementType to, const Target& target) {
  if (from == to) return true;
  if (is_complex(from)) return is_complex(to) || to == pred;
  if (is_complex(to)) return xbyak_converts(from, to == c64 ? f32 : f64, target);
  // Twice rounded is not once rounded.
  const bool as_far_as_f32 = to == bf16 || to == f8e8m0fnu;
  if (as_far_as_f32 && is_integer(from) && storage_bytes(from) >= 4) return false;
  if (instruction_set(target) >= InstructionSet::avx512) return true;
  // What AVX2 has no instructions for.
  return !(is_wide_integer(from) && is_float(to) && to != f64) &&
         !(is_float(from) && is_wide_integer(to));
}

bool xbyak_computes(Operation operation, ElementType type) {
  if (is_complex(type)) return !is_function(operation) && operation != Operation::divide;
  if (is_small(type) || is_narrow_float(type) || is_function(operation)) return false;
  return operation != Operation::divide || !is_wide_integer(type);
}

bool xbyak_translates(const Problem& problem, const Target& target) {
  const bool sse2 = target.architecture != Architecture::x86_64 || target.vector_bytes < 32;
  if (problem.operation == Operation::copy) return !(sse2 && is_packed(problem));
  if (sse2) return false;
  const ElementType from = problem.sources[0].shape.element_type;
  const ElementType to = problem.target.element_type;
  if (problem.operation != Operation::convert) {
    const ElementType type = computing_type_of(from);
    return xbyak_converts(from, type, target) && xbyak_computes(problem.operation, type) &&
           (to == pred || xbyak_converts(type, to, target));
  }
  if (problem.affine.scale.empty()) return xbyak_converts(from, to, target);
  const ElementType type = from == f64 || to == f64 ? f64 : f32;
  return xbyak_converts(from, type, target) && xbyak_converts(type, to, target);
}

bool llvm_translates(const Problem& problem) {
  const ElementType type = problem.sources[0].shape.element_type;
  return !is_function(problem.operation) || is_integer(type) || type == pred;
}

}  // namespace restride::testing
