// OpenBLAS: ?omatcopy for the two dimensions that are fastest on either side, loops around it. It
// multiplies by one.
#include <cblas.h>
#include <openblas_config.h>

#include <string_view>

#include "permutation.hpp"

namespace {

using namespace restride::bench;  // NOLINT: a module of one file

/// One matrix: rows x columns in the source, with the distance of rows in elements on both sides.
struct Matrix {
  CBLAS_TRANSPOSE transpose;
  blasint rows, columns, source_pitch, target_pitch;
};

void copy_matrix(const Matrix& m, const float* source, float* target) {
  cblas_somatcopy(CblasRowMajor, m.transpose, m.rows, m.columns, 1, source, m.source_pitch, target,
                  m.target_pitch);
}

struct Complex {
  double real, imaginary;
};

void copy_matrix(const Matrix& m, const Complex* source, Complex* target) {
  constexpr Complex one = {1, 0};
  cblas_zomatcopy(CblasRowMajor, m.transpose, m.rows, m.columns, &one.real, &source->real,
                  m.source_pitch, &target->real, m.target_pitch);
}

void copy_matrix(const Matrix& m, const double* source, double* target) {
  cblas_domatcopy(CblasRowMajor, m.transpose, m.rows, m.columns, 1, source, m.source_pitch, target,
                  m.target_pitch);
}

template <class Element>
Move make_move(const Matrix& matrix, const std::vector<Dimension>& outer) {
  return [matrix, outer](const std::byte* source, std::byte* target) {
    for_each(outer, source, target, [&](const std::byte* from, std::byte* to) {
      copy_matrix(matrix, reinterpret_cast<const Element*>(from), reinterpret_cast<Element*>(to));
    });
  };
}

restride::Result<Move> prepare(const Work& work) {
  if (work.element_bytes < 4) return does_not_apply("elements of 4 bytes at least");
  const auto transpose = batched_transpose(work);
  if (!transpose) return does_not_apply("no matrix transpose");
  const auto elements = [&](int64_t stride) {
    return static_cast<blasint>(stride / work.element_bytes);
  };
  const Matrix matrix = {CblasTrans, static_cast<blasint>(transpose->row.extent),
                         static_cast<blasint>(transpose->column.extent),
                         elements(transpose->row.source_stride),
                         elements(transpose->column.target_stride)};
  if (matrix.source_pitch < matrix.columns || matrix.target_pitch < matrix.rows)
    return does_not_apply("rows overlap");
  openblas_set_num_threads(work.threads);
  if (work.element_bytes == 4) return make_move<float>(matrix, transpose->outer);
  if (work.element_bytes == 8) return make_move<double>(matrix, transpose->outer);
  return make_move<Complex>(matrix, transpose->outer);
}

// It comes as ` OpenBLAS 0.3.21 `.
constexpr std::string_view version = OPENBLAS_VERSION;
constexpr Peer peer = {"OpenBLAS", version.data() + version.find_first_of("0123456789"), prepare};

}  // namespace

const Peer* restride_peer() { return &peer; }
