// MKL: mkl_?omatcopy.
#include <mkl_service.h>
#include <mkl_trans.h>
#include <mkl_version.h>

#include "omatcopy.hpp"

namespace {

using namespace restride::bench;  // NOLINT: a module of one file

/// What differs between the types is the function.
struct Copy {
  void operator()(const Matrix& m, const float* source, float* target) const {
    call(mkl_somatcopy, m, 1.0F, source, target);
  }
  void operator()(const Matrix& m, const double* source, double* target) const {
    call(mkl_domatcopy, m, 1.0, source, target);
  }
  void operator()(const Matrix& m, const Complex* source, Complex* target) const {
    call(mkl_zomatcopy, m, MKL_Complex16{1, 0}, reinterpret_cast<const MKL_Complex16*>(source),
         reinterpret_cast<MKL_Complex16*>(target));
  }

 private:
  static void call(auto* omatcopy, const Matrix& m, auto one, const auto* source, auto* target) {
    omatcopy('R', 'T', static_cast<size_t>(m.rows), static_cast<size_t>(m.columns), one, source,
             static_cast<size_t>(m.source_pitch), target, static_cast<size_t>(m.target_pitch));
  }
};

restride::Result<Move> prepare(const Work& work) {
  mkl_set_num_threads(work.threads);
  return prepare_matrices(work, Copy());
}

#define RESTRIDE_TEXT_OF(number) #number
#define RESTRIDE_VERSION_TEXT(year, update) RESTRIDE_TEXT_OF(year) "." RESTRIDE_TEXT_OF(update)

constexpr Peer peer = {"MKL", RESTRIDE_VERSION_TEXT(__INTEL_MKL__, __INTEL_MKL_UPDATE__), prepare};

}  // namespace

const Peer* restride_peer() { return &peer; }
