// LaterKernels: better kernels of a signature, on their way while others serve.
//
//     KernelSet (interpreter) ── later ──► made in the background, published by one pointer
//
// What computes is the same Program, so results do not change when the kernels do. Who publishes is
// a function; this file knows neither planning nor backends.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

namespace restride {

struct KernelSet;

/// Safe from any thread.
class LaterKernels {
 public:
  /// Makes the kernels; null: there are none that are better.
  using Make = std::function<std::shared_ptr<const KernelSet>()>;

  explicit LaterKernels(Make make) : make_(std::move(make)) {}

  /// Makes and publishes them, once; whoever comes second waits.
  void finish() {
    std::call_once(once_, [this] {
      kernels_ = make_();
      make_ = nullptr;
      ready_.store(kernels_.get(), std::memory_order_release);
    });
  }

  /// Null until they are published. Lives as long as this.
  const KernelSet* ready() const { return ready_.load(std::memory_order_acquire); }

 private:
  std::once_flag once_;
  Make make_;
  std::shared_ptr<const KernelSet> kernels_;
  std::atomic<const KernelSet*> ready_ = nullptr;
};

}  // namespace restride
