// Runs tasks on the threads of OpenMP. Include it in programs that are compiled with OpenMP.
#pragma once

#ifndef _OPENMP
#error "restride/openmp_executor.hpp needs a compiler with OpenMP switched on (-fopenmp)"
#endif

#include <omp.h>

#include <cstdint>

#include "restride/executor.hpp"

namespace restride {

class OpenMpExecutor final : public Executor {
 public:
  int concurrency() const noexcept override { return omp_get_max_threads(); }

  void parallel_for(int64_t n, Task task, void* context) noexcept override {
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t index = 0; index < n; ++index) task(context, index);
  }
};

}  // namespace restride
