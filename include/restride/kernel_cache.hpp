// KernelCache: plans and kernels by signature, compiled once, bounded, shared by any number of
// threads.
#pragma once

#include <cstdint>
#include <memory>

namespace restride {

/// Limits of a cache; the least recently used signatures go first. A kernel in use outlives its
/// eviction.
struct KernelCacheOptions {
  int64_t max_entries = 4096;         ///< signatures kept
  int64_t max_code_bytes = 64 << 20;  ///< generated code kept
};

struct KernelCacheStatistics {
  int64_t hits = 0;       ///< found by signature or by problem
  int64_t misses = 0;     ///< had to be planned and compiled, or waited for another thread that did
  int64_t compiles = 0;   ///< signatures planned and compiled, with success or without
  int64_t failures = 0;   ///< of them without; remembered, unless memory or code space was short
  int64_t evictions = 0;  ///< signatures forgotten to stay within the limits
  int64_t entries = 0;    ///< signatures held now
  int64_t code_bytes = 0;  ///< generated code held now
};

/// Safe from any thread. Concurrent look-ups do not block each other; simultaneous misses of one
/// signature compile once, and wait outside of locks.
class KernelCache {
 public:
  explicit KernelCache(const KernelCacheOptions& options = {});
  ~KernelCache();
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  KernelCacheStatistics statistics() const;
  /// Forgets everything; plans in use stay valid.
  void clear();

  /// The cache used where PlanOptions names none. Made at first use, never destroyed.
  static KernelCache& process_wide();

  class State;  ///< private to the library
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;  ///< also of those who compile in the background
};

}  // namespace restride
