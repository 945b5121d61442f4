// OpenBLAS: cblas_?omatcopy.
#include <cblas.h>
#include <openblas_config.h>

#include <string_view>

#include "omatcopy.hpp"

namespace {

using namespace restride::bench;  // NOLINT: a module of one file

/// What differs between the types is the function and how it takes its factor.
struct Copy {
  void operator()(const Matrix& m, const float* source, float* target) const {
    call(cblas_somatcopy, m, 1.0F, source, target);
  }
  void operator()(const Matrix& m, const double* source, double* target) const {
    call(cblas_domatcopy, m, 1.0, source, target);
  }
  void operator()(const Matrix& m, const Complex* source, Complex* target) const {
    constexpr Complex one = {1, 0};
    call(cblas_zomatcopy, m, &one.real, &source->real, &target->real);
  }

 private:
  static void call(auto* omatcopy, const Matrix& m, auto one, const auto* source, auto* target) {
    omatcopy(CblasRowMajor, CblasTrans, static_cast<blasint>(m.rows),
             static_cast<blasint>(m.columns), one, source, static_cast<blasint>(m.source_pitch),
             target, static_cast<blasint>(m.target_pitch));
  }
};

restride::Result<Move> prepare(const Work& work) {
  openblas_set_num_threads(work.threads);
  return prepare_matrices(work, Copy());
}

// It comes as ` OpenBLAS 0.3.21 `.
constexpr std::string_view version = OPENBLAS_VERSION;
constexpr Peer peer = {"OpenBLAS", version.data() + version.find_first_of("0123456789"), prepare};

}  // namespace

const Peer* restride_peer() { return &peer; }
