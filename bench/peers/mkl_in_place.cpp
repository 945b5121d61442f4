// MKL: mkl_?imatcopy, which transposes where the matrices lie. To give what the others give it
// follows a memcpy of the source, and both are timed.
#include <mkl_service.h>
#include <mkl_trans.h>
#include <mkl_version.h>

#include <cstring>

#include "omatcopy.hpp"

namespace {

using namespace restride::bench;  // NOLINT: a module of one file

/// What differs between the types is the function.
struct TransposeInPlace {
  void operator()(const Matrix& m, const float*, float* matrix) const {
    call(mkl_simatcopy, m, 1.0F, matrix);
  }
  void operator()(const Matrix& m, const double*, double* matrix) const {
    call(mkl_dimatcopy, m, 1.0, matrix);
  }
  void operator()(const Matrix& m, const Complex*, Complex* matrix) const {
    call(mkl_zimatcopy, m, MKL_Complex16{1, 0}, reinterpret_cast<MKL_Complex16*>(matrix));
  }

 private:
  static void call(auto* imatcopy, const Matrix& m, auto one, auto* matrix) {
    imatcopy('R', 'T', static_cast<size_t>(m.rows), static_cast<size_t>(m.columns), one, matrix,
             static_cast<size_t>(m.source_pitch), static_cast<size_t>(m.target_pitch));
  }
};

/// Dense matrices that each stay in their place.
bool is_in_place(const Work& work) {
  const auto transpose = batched_transpose(work);
  if (!transpose || !dense_permutation(work)) return false;
  const int64_t row_bytes = transpose->column.extent * work.element_bytes;
  return transpose->row.source_stride == row_bytes &&
         std::all_of(transpose->outer.begin(), transpose->outer.end(),
                     [](const auto& d) { return d.source_stride == d.target_stride; });
}

restride::Result<Move> prepare(const Work& work) {
  if (!is_in_place(work)) return does_not_apply("no dense matrices that stay in their place");
  mkl_set_num_threads(work.threads);
  restride::Result<Move> transpose = prepare_matrices(work, TransposeInPlace());
  if (!transpose) return transpose.error();
  return Move([transpose = *transpose, bytes = work.source_bytes](const std::byte* source,
                                                                  std::byte* target) {
    std::memcpy(target, source, static_cast<size_t>(bytes));
    transpose(source, target);
  });
}

#define RESTRIDE_TEXT_OF(number) #number
#define RESTRIDE_VERSION_TEXT(year, update) RESTRIDE_TEXT_OF(year) "." RESTRIDE_TEXT_OF(update)

constexpr Peer peer = {"MKL-in-place", RESTRIDE_VERSION_TEXT(__INTEL_MKL__, __INTEL_MKL_UPDATE__),
                       prepare};

}  // namespace

const Peer* restride_peer() { return &peer; }
