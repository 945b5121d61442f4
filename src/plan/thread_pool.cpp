// ThreadPool: a list of calls under one mutex. A call of parallel_for lives on its caller's stack
// and hands out indices by an atomic counter; a thread that finds none left lets go of the call
// under the mutex.
//
//     waiting ──► call ──► call ──► call        each: next index, threads at work
//
// No work stealing and no queues per thread: tasks are ranges of units, few and long.
#include "restride/thread_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace restride {
namespace {

/// One call of parallel_for.
struct Call {
  const Executor::Task task;
  void* const context;
  const int64_t n;
  std::atomic<int64_t> next = 0;
  // Guarded by the mutex of the pool.
  int workers = 0;  ///< threads of the pool at work on it
  Call* after = nullptr;
  std::condition_variable done{};

  bool exhausted() const { return next.load(std::memory_order_relaxed) >= n; }

  void work() {
    for (;;) {
      const int64_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= n) return;
      task(context, index);
    }
  }
};

}  // namespace

class ThreadPool::State {
 public:
  void start(int threads) {
    threads_.reserve(static_cast<size_t>(threads));
    for (int i = 0; i < threads; ++i) {
      pthread_t thread;
      if (pthread_create(&thread, nullptr, &State::main, this) != 0) return;
      threads_.push_back(thread);
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
  }

  int concurrency() const { return static_cast<int>(threads_.size()) + 1; }

  void run(Call& call) {
    {
      const std::lock_guard lock(mutex_);
      call.after = waiting_;
      waiting_ = &call;
    }
    wake_.notify_all();
    call.work();
    std::unique_lock lock(mutex_);
    unlink(call);
    call.done.wait(lock, [&] { return call.workers == 0; });
  }

 private:
  static void* main(void* state) {
    static_cast<State*>(state)->serve();
    return nullptr;
  }

  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Call* call = nullptr;
      wake_.wait(lock, [&] { return stopping_ || (call = find()) != nullptr; });
      if (call == nullptr) return;
      ++call->workers;
      lock.unlock();
      call->work();
      lock.lock();
      // Under the mutex: the caller may end the call as soon as it sees that nobody works on it.
      if (--call->workers == 0) call->done.notify_one();
    }
  }

  /// A call with indices left, or null.
  Call* find() const {
    Call* call = waiting_;
    while (call != nullptr && call->exhausted()) call = call->after;
    return call;
  }

  void unlink(Call& call) {
    Call** place = &waiting_;
    while (*place != &call) place = &(*place)->after;
    *place = call.after;
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  Call* waiting_ = nullptr;  ///< newest first; guarded by mutex_
  bool stopping_ = false;    ///< guarded by mutex_
  std::vector<pthread_t> threads_;
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  state_->start(std::clamp(threads, 1, 1024) - 1);
}

ThreadPool::~ThreadPool() { state_->stop(); }

int ThreadPool::concurrency() const noexcept { return state_->concurrency(); }

void ThreadPool::parallel_for(int64_t n, Task task, void* context) noexcept {
  Call call{task, context, n};
  if (n > 1 && concurrency() > 1) return state_->run(call);
  call.work();
}

}  // namespace restride
