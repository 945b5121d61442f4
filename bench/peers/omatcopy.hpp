// For BLAS libraries with ?omatcopy: the two dimensions that are fastest on either side are one
// matrix, the others loops around it. The call multiplies by one.
#pragma once

#include "permutation.hpp"

namespace restride::bench {

/// `rows` x `columns` in the source, transposed in the target. Pitches, the distances of rows, are
/// counted in elements.
struct Matrix {
  int64_t rows, columns, source_pitch, target_pitch;
};

struct Complex {
  double real, imaginary;
};

/// `copy(matrix, source, target)` moves one matrix of float, double or Complex.
template <class Element, class Copy>
Move move_matrices(const Matrix& matrix, const std::vector<Dimension>& outer, const Copy& copy) {
  return [=](const std::byte* source, std::byte* target) {
    for_each(outer, source, target, [&](const std::byte* from, std::byte* to) {
      copy(matrix, reinterpret_cast<const Element*>(from), reinterpret_cast<Element*>(to));
    });
  };
}

template <class Copy>
Result<Move> prepare_matrices(const Work& work, const Copy& copy) {
  if (work.element_bytes < 4) return does_not_apply("elements of 4 bytes at least");
  const auto transpose = batched_transpose(work);
  if (!transpose) return does_not_apply("no matrix transpose");
  const Matrix matrix = {transpose->row.extent, transpose->column.extent,
                         transpose->row.source_stride / work.element_bytes,
                         transpose->column.target_stride / work.element_bytes};
  if (matrix.source_pitch < matrix.columns || matrix.target_pitch < matrix.rows)
    return does_not_apply("rows overlap");
  if (work.element_bytes == 4) return move_matrices<float>(matrix, transpose->outer, copy);
  if (work.element_bytes == 8) return move_matrices<double>(matrix, transpose->outer, copy);
  return move_matrices<Complex>(matrix, transpose->outer, copy);
}

}  // namespace restride::bench
