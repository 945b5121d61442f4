// Runs tasks on the threads of oneTBB, in the arena of the caller. Include it in programs that link
// oneTBB.
#pragma once

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <cstdint>

#include "restride/executor.hpp"

namespace restride {

class TbbExecutor final : public Executor {
 public:
  int concurrency() const noexcept override { return tbb::this_task_arena::max_concurrency(); }

  void parallel_for(int64_t n, Task task, void* context) noexcept override {
    tbb::parallel_for(int64_t{0}, n, [=](int64_t index) { task(context, index); });
  }
};

}  // namespace restride
