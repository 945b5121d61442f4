// A small thread pool for those who have none. The library itself starts no threads.
#pragma once

#include <cstdint>
#include <memory>

#include "restride/executor.hpp"

namespace restride {

/// Threads that wait for tasks. Safe from any thread, tasks included: the caller of parallel_for
/// works along, so nested calls always come to an end.
class ThreadPool final : public Executor {
 public:
  /// `threads` in all, the caller of parallel_for counted: starts `threads` - 1. Numbers outside
  /// of 1..1024 become the nearest in it. Where the system refuses a thread there are fewer.
  explicit ThreadPool(int threads);
  /// Precondition: no parallel_for is running. Joins the threads.
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int concurrency() const noexcept override;
  /// Allocates nothing.
  void parallel_for(int64_t n, Task task, void* context) noexcept override;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace restride
