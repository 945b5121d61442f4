// How a runtime lends its threads. The library starts none of its own accord.
#pragma once

#include <cstdint>

namespace restride {

/// Runs independent tasks, perhaps at the same time. Implementations must be safe to use from any
/// thread.
class Executor {
 public:
  /// A task: `index` in [0, n).
  using Task = void (*)(void* context, int64_t index);

  virtual ~Executor() = default;
  /// How many tasks can run at once, at least 1.
  virtual int concurrency() const noexcept = 0;
  /// Runs task(context, i) for every i in [0, n), returns when all are done.
  virtual void parallel_for(int64_t n, Task task, void* context) noexcept = 0;
};

}  // namespace restride
